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
  /// Another change was refused, so this one was not tried: an earlier one of the object, or one of
  /// the same transaction. It is sent again with that one, or when that one is cancelled.
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
  /// when something is pending and was not submitted, and for a copy that was changed and not saved.
  /// `closed` when the database is closed.
  public func replayOutcome(
    within limit: Duration = .seconds(60)
  ) async throws(FerryError) -> ReplayOutcome<Self> {
    guard let object = record.object else {
      throw FerryError(
        .objectNotSaved, "a new \(Self.entity.name) has no answer to wait for",
        hint: "Call create and submitPending first.", entity: Self.entity.name)
    }
    guard !isDirty else {
      throw FerryError(
        .notSubmitted, "this copy of \(Self.entity.name) \(record.key) was changed and not saved",
        hint: "Call save first, or ask the object that was saved.", entity: Self.entity.name)
    }
    let own = LocalObject(Self.entity.name, object)
    let store = try record.store
    let (waiting, last) = try store.withSnapshot { transaction throws(FerryError) in
      let submitted = SubmittedOperations(transaction)
      return (Set(try submitted.of(own).map(\.id)), try submitted.last(of: own))
    }
    guard waiting.isEmpty else {
      return try await Submission(store, object, waiting).outcome(within: limit)
    }
    // A pending delete has no row.
    let found = try PendingObjects(store).record(Self.entity, object).map(Self.init(record:))
    let now = found.flatMap { $0.isDeleted ? nil : $0 }
    guard let found, found.isPending else {
      switch last {
      case .accepted: return .accepted(now)
      case nil: return .nothingPending(now)
      // A refused change that waits no longer was taken back.
      default: return .cancelled(now)
      }
    }
    if found.replayFailed { return .refused(now, try found.logRecords) }
    if last == .unknown { return .unknown(now) }
    if try Refusal.instead(of: own, in: store) != nil { return .notTried(now) }
    throw FerryError(
      .notSubmitted, "\(Self.entity.name) \(found.record.key) is pending and was not submitted",
      hint: "Call submit first.", entity: Self.entity.name)
  }
}
