import FerryModel
import FerryWire
import Synchronization

/// How one operation ended, as those hear who wait for it.
package struct AnsweredOperation: Sendable, Equatable {
  package enum Outcome: Sendable, Equatable {
    case accepted
    case refused([FerryWire.LogRecord])
    case notTried
    case unknown
    /// The app took it back.
    case cancelled
    /// It had not left the device, and is sent as a part of this one: it ends as that does.
    case joined(OperationID)
  }

  package let id: OperationID
  package let outcome: Outcome

  package init(id: OperationID, outcome: Outcome) {
    self.id = id
    self.outcome = outcome
  }
}

/// Where answers are put up for those who wait for them, once the database shows them.
package final class AnswerBoard: Sendable {
  private struct State {
    var tickets: [Int: Ticket] = [:]
    var next = 0
    var isClosed = false
    /// What came lately, and before that.
    var recent: [OperationID: AnsweredOperation.Outcome] = [:]
    var older: [OperationID: AnsweredOperation.Outcome] = [:]
    /// What each of those that were joined is a part of, until that is accepted.
    var wholes: [OperationID: OperationID] = [:]

    /// An answer, and the same one for what is a part of its operation.
    mutating func spread(_ answer: AnsweredOperation) -> [AnsweredOperation] {
      if case .joined(let whole) = answer.outcome {
        for (part, known) in wholes where known == answer.id { wholes[part] = whole }
        if wholes.count >= AnswerBoard.memory { wholes = [:] }
        wholes[answer.id] = whole
        return []
      }
      let parts = wholes.filter { $0.value == answer.id }.map(\.key)
      // Anything else may be followed by another word: that it was done after all, or submitted again.
      if answer.outcome == .accepted { for part in parts { wholes[part] = nil } }
      return [answer] + parts.map { AnsweredOperation(id: $0, outcome: answer.outcome) }
    }

    mutating func remember(_ answer: AnsweredOperation) {
      switch recent[answer.id] ?? older[answer.id] {
      case .accepted: return
      // Taken back on its way; what is heard of it later counts only where it was done.
      case .cancelled where answer.outcome != .accepted: return
      default: break
      }
      if recent.count >= AnswerBoard.memory { (older, recent) = (recent, [:]) }
      recent[answer.id] = answer.outcome
    }
  }

  /// At least so many answers are known to who asks later; twice as many at most.
  package static let memory = 5_000

  private struct Ticket {
    let ids: Set<OperationID>
    let continuation: AsyncStream<AnsweredOperation>.Continuation
  }

  private let state = Mutex(State())

  init() {}

  /// The answers to these operations from now on, as they come; it ends when the database is closed
  /// or the ticket given back.
  package func wait(
    for ids: Set<OperationID>
  ) -> (ticket: Int, answers: AsyncStream<AnsweredOperation>) {
    let (answers, continuation) = AsyncStream.makeStream(of: AnsweredOperation.self)
    let ticket = state.withLock { state in
      state.next += 1
      state.tickets[state.next] = Ticket(ids: ids, continuation: continuation)
      if state.isClosed { continuation.finish() }
      return state.next
    }
    return (ticket, answers)
  }

  /// How many wait.
  package var waiting: Int { state.withLock { $0.tickets.count } }

  /// What is waited for.
  var awaited: [OperationID] { state.withLock { $0.tickets.values.flatMap(\.ids) } }

  package func giveBack(_ ticket: Int) {
    state.withLock { $0.tickets.removeValue(forKey: ticket) }?.continuation.finish()
  }

  package func post(_ answered: [AnsweredOperation]) {
    guard !answered.isEmpty else { return }
    let (told, tickets) = state.withLock { state in
      let told = answered.flatMap { state.spread($0) }
      for answer in told { state.remember(answer) }
      return (told, Array(state.tickets.values))
    }
    for ticket in tickets {
      for answer in told where ticket.ids.contains(answer.id) {
        ticket.continuation.yield(answer)
      }
    }
  }

  /// The operation that this one is sent with: mostly itself.
  func whole(of id: OperationID) -> OperationID { state.withLock { $0.wholes[id] ?? id } }

  /// How an operation ended, where this process has heard it lately.
  func outcome(of id: OperationID) -> AnsweredOperation.Outcome? {
    state.withLock { $0.recent[id] ?? $0.older[id] }
  }

  func close() {
    let tickets = state.withLock { state in
      state.isClosed = true
      return state.tickets.values.map(\.continuation)
    }
    for continuation in tickets { continuation.finish() }
  }
}
