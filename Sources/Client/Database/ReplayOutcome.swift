import FerryModel
import FerrySQLite
import FerryWire

/// The business system's answer to the submitted changes of an object. The object has the state
/// after the import of the answer.
public enum ReplayOutcome<Object: BusinessObject>: Sendable {
  /// Accepted, with the values that the business system made of it. The object is nil after an
  /// accepted delete, and if it is no longer among this user's data.
  case accepted(Object?)
  /// The business system refused it, for these reasons. The change is still pending: correct it and
  /// submit it again, or cancel it.
  case refused(Object?, [LogRecord])
  /// It is unknown whether it was performed; the server finds out, or a person decides.
  case unknown(Object?)
  /// An earlier change was refused, so this one was not tried. It waits to be submitted again.
  case notTried(Object?)
  /// The app cancelled it, before it was sent or while it was on its way.
  case cancelled(Object?)
  /// Nothing of the object is pending, and no change of it ended in the last 30 days. The object is
  /// as the business system has it, or nil if it was deleted.
  case nothingPending(Object?)

  /// The object, for every outcome.
  public var object: Object? {
    switch self {
    case .accepted(let object), .refused(let object, _), .unknown(let object),
      .notTried(let object), .cancelled(let object), .nothingPending(let object):
      object
    }
  }
}

extension BusinessObject {
  /// Waits until everything that is on its way of this object and its parts is answered and
  /// imported.
  /// ```swift
  /// try order.submitPending()
  /// switch try await order.replayOutcome(within: .seconds(30)) {
  /// case .accepted(let order): show(order)
  /// case .refused(_, let reasons): show(reasons)
  /// default: break
  /// }
  /// ```
  ///
  /// It is the `outcome` of everything that is on its way of the object, whoever submitted it:
  /// refused if one of the changes was refused. To learn the outcome of one of two submits, keep
  /// the value that `submitPending` returned.
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
    let now = try Records(record.store).of(Self.entity, object: object).map(Self.init(record:))
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
