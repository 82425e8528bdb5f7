import FerryModel
import FerryWire

extension Submission {
  /// Waits until the submitted change is answered and imported; returns at once if it already is.
  ///
  /// The object of the outcome has the business system's values, with the app's later changes that
  /// were not submitted on top. The outcome is `cancelled` if the app cancelled the change, also by
  /// a delete that cancelled a create before it was sent. If the change was performed nevertheless,
  /// a later call returns `accepted`. A refusal stays a refusal when the change is cancelled
  /// afterwards. `nothingPending` if nothing was pending, all data was deleted, or the change ended
  /// more than 30 days ago.
  ///
  /// While somebody waits, the server is asked for the answer, often at first and then less often.
  /// This needs neither `synchronize` nor the background synchronization.
  ///
  /// `timedOut` when the answer has not come in time, and `cancelled` where the task is cancelled; the
  /// change stays on its way, and it may be asked again. `notSubmitted` where it was submitted in a
  /// transaction that was undone. `closed` when the database is closed.
  public func outcome(
    within limit: Duration = .seconds(60)
  ) async throws(FerryError) -> ReplayOutcome<Object> {
    try checkTransaction()
    // Waited for first, so that no answer slips between looking and waiting.
    let (ticket, answers) = store.answers.wait(for: operations)
    defer { store.answers.giveBack(ticket) }
    var ends = try known()
    // It may have been undone while that waited for it.
    try checkTransaction()
    if !ends.open.isEmpty {
      // The session asks for answers while a ticket is out.
      store.bell.ring()
      let timer = Task { [store] in
        do { try await Task.sleep(for: limit) } catch { return }
        store.answers.giveBack(ticket)
      }
      defer { timer.cancel() }
      for await answer in answers {
        ends.outcomes[answer.id] = answer.outcome
        ends.open.remove(answer.id)
        if ends.open.isEmpty { break }
      }
      // Another process of the app may have received the answer: its outcome is in the database.
      if !ends.open.isEmpty, !Task.isCancelled, !store.isClosed {
        ends = try known()
      }
      guard ends.open.isEmpty else { throw try unanswered(limit) }
    }
    return try outcome(ends)
  }

  private func known() throws(FerryError) -> OperationEnds {
    try store.withSnapshot { transaction throws(FerryError) in
      try SubmittedOperations(transaction).ends(of: operations)
    }
  }

  private func checkTransaction() throws(FerryError) {
    guard transaction?.isUndone == true else { return }
    throw FerryError(
      .notSubmitted,
      "the transaction in which the \(Object.entity.name) was submitted was undone",
      hint: "Nothing was submitted: save and submit it again.", entity: Object.entity.name)
  }

  private func unanswered(_ limit: Duration) throws(FerryError) -> FerryError {
    guard !Task.isCancelled else {
      return FerryError(
        .cancelled, "the wait for an answer was cancelled", hint: "Call outcome again.",
        entity: Object.entity.name)
    }
    guard !store.isClosed else { return Store.closed(store.path) }
    let key = try present().map { " \($0.record.key)" } ?? ""
    return FerryError(
      .timedOut, "\(Object.entity.name)\(key) was not answered within \(limit)",
      hint: "The change stays on its way; call outcome again, or check the connection.",
      entity: Object.entity.name, isTransient: true)
  }

  private func outcome(_ ends: OperationEnds) throws(FerryError) -> ReplayOutcome<Object> {
    let now = try present()
    guard !operations.isEmpty else { return isTakenBack ? .cancelled(now) : .nothingPending(now) }
    let outcomes = ends.outcomes.values
    var reasons: [LogRecord] = []
    for case .refused(let records) in outcomes { reasons += records }
    let isRefused = outcomes.contains { if case .refused = $0 { true } else { false } }
    if isRefused { return .refused(now, reasons) }
    if outcomes.contains(.unknown) { return .unknown(now) }
    if outcomes.contains(.notTried) { return .notTried(now) }
    if outcomes.contains(.cancelled) { return .cancelled(now) }
    return outcomes.count == operations.count ? .accepted(now) : .nothingPending(now)
  }

  private func present() throws(FerryError) -> Object? {
    try Records(store).of(Object.entity, object: object).map(Object.init(record:))
  }
}
