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
  /// It was taken back while it was on its way; nil also for a create that is gone from the device
  /// and of which no answer is known.
  case cancelled(Object?)
  /// Nothing of the object waits any more, and how it was answered is not known here: it shows what
  /// the business system has, and is nil where it is gone.
  ///
  /// So it is for a copy that has submitted nothing, and after a restart of the app: answers are not
  /// stored. A `Submission`, the copy that submitted, and one that a wait gave know theirs also when
  /// they are asked later, as long as no more than 5,000 others came after it.
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
  /// It may be asked again after a restart, and of an object that was answered meanwhile; then
  /// `nothingPending` says where the answer is no longer known.
  ///
  /// `timedOut` when the answer has not come in time; the change stays on its way. `invalidChange`
  /// when something is pending and was not submitted. `closed` when the database is closed.
  public func replayOutcome(
    within limit: Duration = .seconds(60)
  ) async throws(FerryError) -> ReplayOutcome<Self> {
    guard let object = record.object else {
      throw FerryError(
        .invalidChange, "a new \(Self.entity.name) has no answer to wait for",
        hint: "Call create and submitPending first.", entity: Self.entity.name)
    }
    let waiting = try record.store.submitted(Self.entity, object)
    guard waiting.isEmpty else {
      return try await Submission(record.store, object, waiting).outcome(within: limit)
    }
    return try rested(object)
  }

  /// Nothing is on its way any more.
  private func rested(_ object: Int64) throws(FerryError) -> ReplayOutcome<Self> {
    let now = try record.store.record(Self.entity, object: object).map(Self.init(record:))
    guard let now, now.isPending else {
      let known = try record.store.ends(of: record.submitted)
      if !record.submitted.isEmpty, known.outcomes.count == record.submitted.count {
        // A refused change that waits no longer was taken back.
        return known.outcomes.values.allSatisfy { $0 == .accepted }
          ? .accepted(now) : .cancelled(now)
      }
      // Gone, and this copy knows it as a create only: taken back, unless a key came for it.
      let isCreate = record.pending == .create || record.deleted && record.pending == .none
      guard now == nil, isCreate,
        try !asked(of: object, { ends throws(FerryError) in try ends.wasGivenKey() })
      else { return .nothingPending(now) }
      return .cancelled(nil)
    }
    if now.replayFailed { return .refused(now, try now.logRecords) }
    if try asked(of: object, { ends throws(FerryError) in try ends.isUnknown() }) {
      return .unknown(now)
    }
    throw FerryError(
      .invalidChange, "\(Self.entity.name) \(now.record.key) is pending and was not submitted",
      hint: "Call submitPending first.", entity: Self.entity.name)
  }

  private func asked(
    of object: Int64, _ question: (KnownEnds) throws(FerryError) -> Bool
  ) throws(FerryError) -> Bool {
    try record.store.withSnapshot { transaction throws(FerryError) in
      try question(KnownEnds(transaction: transaction, entity: Self.entity, object: object))
    }
  }
}

/// What the tables know of how changes of one object ended.
private struct KnownEnds {
  let transaction: Transaction
  let entity: Entity
  let object: Int64

  /// Whether the business system has given the object a key of its own.
  func wasGivenKey() throws(FerryError) -> Bool {
    try holds("SELECT 1 FROM ferry_alias WHERE entity = ?1 AND object = ?2")
  }

  /// Whether nobody knows what became of a change of the object, or of what it owns.
  func isUnknown() throws(FerryError) -> Bool {
    try holds(
      """
      SELECT 1 FROM ferry_operation WHERE state = 'unknown'
      AND ((entity = ?1 AND object = ?2) OR (root_entity = ?1 AND root_object = ?2))
      """)
  }

  private func holds(_ question: String) throws(FerryError) -> Bool {
    try transaction.value(question, .text(entity.name), .integer(object)) != nil
  }
}
