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
  /// stored. The copy that submitted, and one that a wait gave, know theirs also when they are asked
  /// later, as long as no more than 5,000 others came after it.
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
  /// Waits until what was submitted of this object, and of what it owns, is answered and imported.
  ///
  /// ```swift
  /// try order.submitPending()
  /// switch try await order.replayOutcome(within: .seconds(30)) {
  /// case .accepted(let order): show(order)
  /// case .refused(_, let reasons): show(reasons)
  /// default: break
  /// }
  /// ```
  /// While somebody waits, the server is asked for the answer, soon at first and then less often, also
  /// where neither `synchronize` nor the background synchronization is on. It may be asked again after
  /// a restart, and of an object that was answered meanwhile; then `nothingPending` says where the
  /// answer is no longer known.
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
    let store = record.store
    // Watched first, so that no answer slips between looking and waiting.
    while true {
      let waiting = try store.submitted(Self.entity, object)
      guard !waiting.isEmpty else { return try rested(object) }
      let (ticket, answers) = store.answers.wait(for: waiting)
      guard try store.submitted(Self.entity, object) == waiting else {
        store.answers.giveBack(ticket)
        continue
      }
      // The session asks for answers while a ticket is out.
      store.bell.ring()
      let timer = Task {
        do { try await Task.sleep(for: limit) } catch { return }
        store.answers.giveBack(ticket)
      }
      var found: [OperationID: AnsweredOperation.Outcome] = [:]
      for await answer in answers {
        found[answer.id] = answer.outcome
        if found.count == waiting.count { break }
      }
      timer.cancel()
      store.answers.giveBack(ticket)
      guard !Task.isCancelled else {
        throw FerryError(
          .cancelled, "the wait for an answer was cancelled", hint: "Ask again.",
          entity: Self.entity.name)
      }
      guard found.count == waiting.count else { throw unanswered(limit) }
      return try outcome(Array(found.values), object, of: waiting)
    }
  }

  private func unanswered(_ limit: Duration) -> FerryError {
    record.store.isClosed
      ? Store.closed(record.store.path)
      : FerryError(
        .timedOut, "\(Self.entity.name) \(record.key) was not answered within \(limit)",
        hint: "It stays on its way; ask again, or look at the connection.",
        entity: Self.entity.name, isTransient: true)
  }

  /// Nothing is on its way any more.
  private func rested(_ object: Int64) throws(FerryError) -> ReplayOutcome<Self> {
    let now = try present(object)
    guard let now, now.isPending else {
      let known = record.submitted.compactMap(record.store.answers.outcome)
      if !known.isEmpty, known.count == record.submitted.count {
        // A refused change that waits no longer was taken back.
        return known.allSatisfy { $0 == .accepted } ? .accepted(now) : .cancelled(now)
      }
      // Gone, and this copy knows it as a create only: taken back, unless a key came for it.
      let isCreate = record.pending == .create || record.deleted && record.pending == .none
      guard now == nil, isCreate, try !record.store.wasGivenKey(Self.entity, object) else {
        return .nothingPending(now)
      }
      return .cancelled(nil)
    }
    if now.replayFailed { return .refused(now, try now.logRecords) }
    if try record.store.isUnknown(Self.entity, object) { return .unknown(now) }
    throw FerryError(
      .invalidChange, "\(Self.entity.name) \(now.record.key) is pending and was not submitted",
      hint: "Call submitPending first.", entity: Self.entity.name)
  }

  private func outcome(
    _ outcomes: [AnsweredOperation.Outcome], _ object: Int64, of submitted: Set<OperationID>
  ) throws(FerryError) -> ReplayOutcome<Self> {
    var now = try present(object)
    now?.record.submitted = submitted
    var reasons: [LogRecord] = []
    for case .refused(let records) in outcomes { reasons += records }
    let isRefused = outcomes.contains { if case .refused = $0 { true } else { false } }
    if isRefused { return .refused(now, reasons) }
    if outcomes.contains(.unknown) { return .unknown(now) }
    if outcomes.contains(.notTried) { return .notTried(now) }
    if outcomes.contains(.cancelled) { return .cancelled(now) }
    return .accepted(now)
  }

  private func present(_ object: Int64) throws(FerryError) -> Self? {
    try record.store.record(Self.entity, object: object).map(Self.init(record:))
  }
}

extension Store {
  /// Whether the business system has given the object a key of its own.
  fileprivate func wasGivenKey(_ entity: Entity, _ object: Int64) throws(FerryError) -> Bool {
    try holds("SELECT 1 FROM ferry_alias WHERE entity = ?1 AND object = ?2", entity, object)
  }

  /// Whether nobody knows what became of a change of the object, or of what it owns.
  fileprivate func isUnknown(_ entity: Entity, _ object: Int64) throws(FerryError) -> Bool {
    try holds(
      """
      SELECT 1 FROM ferry_operation WHERE state = 'unknown'
      AND ((entity = ?1 AND object = ?2) OR (root_entity = ?1 AND root_object = ?2))
      """, entity, object)
  }

  private func holds(
    _ question: String, _ entity: Entity, _ object: Int64
  ) throws(FerryError) -> Bool {
    try read { connection throws(FerryError) in
      try self.sql { () throws(SQLiteError) in
        try connection.value(question, .text(entity.name), .integer(object)) != nil
      }
    }
  }
}
