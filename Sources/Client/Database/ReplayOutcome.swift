import FerryModel
import FerrySQLite
import FerryWire

/// How the business system answered what was submitted of an object. The object is as the database
/// shows it after the import that brought the answer.
public enum ReplayOutcome<Object: BusinessObject>: Sendable {
  /// With the values that the business system made of it; nil after an accepted delete, and when the
  /// object is no longer among this user's data.
  case accepted(Object?)
  /// The business system said no, for these reasons. The change is still pending: correct it and
  /// submit again, or cancel.
  case refused(Object?, [LogRecord])
  /// Nobody knows whether it was done; the server asks, or somebody decides.
  case unknown(Object?)
  /// Something before it was refused. The change waits to be submitted again.
  case notTried(Object?)
  /// It was taken back, before it was sent or on its way.
  case cancelled(Object?)
  /// Nothing of the object waits, and in the last 30 days no change of it ended: it shows what the
  /// business system has, and is nil where it is gone.
  case nothingPending(Object?)

  /// The object, whatever came of it.
  public var object: Object? {
    switch self {
    case .accepted(let object), .refused(let object, _), .unknown(let object),
      .notTried(let object), .cancelled(let object), .nothingPending(let object):
      object
    }
  }
}

extension BusinessObject {
  /// Waits until all that is on its way of this object, and of what it owns, is answered and imported.
  ///
  /// ```swift
  /// try order.submitPending()
  /// switch try await order.replayOutcome(within: .seconds(30)) {
  /// case .accepted(let order): show(order)
  /// case .refused(_, let reasons): show(reasons)
  /// default: break
  /// }
  /// ```
  /// It is the `outcome` of a `Submission` of everything that is on its way of the object, whoever
  /// submitted that: refused where one of the changes was. Who has submitted twice and wants to know
  /// what became of the first keeps what `submitPending` returned.
  ///
  /// It may be asked again later, after a restart and in another process too: where nothing is on its
  /// way it says how the last change ended. Outcomes are kept for 30 days.
  ///
  /// `timedOut` when the answer has not come in time; the change stays on its way. `notSubmitted`
  /// when something is pending and was not submitted. `closed` when the database is closed.
  public func replayOutcome(
    within limit: Duration = .seconds(60)
  ) async throws(FerryError) -> ReplayOutcome<Self> {
    guard let object = record.object else {
      throw FerryError(
        .objectNotSaved, "a new \(Self.entity.name) has no answer to wait for",
        hint: "Call create and submitPending first.", entity: Self.entity.name)
    }
    let own = LocalObject(Self.entity.name, object)
    let (waiting, last) = try record.store.withSnapshot { transaction throws(FerryError) in
      let submitted = SubmittedOperations(transaction)
      return (Set(try submitted.of(own).map(\.id)), try submitted.last(of: own))
    }
    guard waiting.isEmpty else {
      return try await Submission(record.store, object, waiting).outcome(within: limit)
    }
    let now = try record.store.record(Self.entity, object: object).map(Self.init(record:))
    guard let now, now.isPending else {
      switch last {
      case .accepted: return .accepted(now)
      case nil: return .nothingPending(now)
      // A refused change that waits no longer was taken back.
      default: return .cancelled(now)
      }
    }
    if now.replayFailed { return .refused(now, try now.logRecords) }
    if last == .unknown { return .unknown(now) }
    throw FerryError(
      .notSubmitted, "\(Self.entity.name) \(now.record.key) is pending and was not submitted",
      hint: "Call submitPending first.", entity: Self.entity.name)
  }
}
