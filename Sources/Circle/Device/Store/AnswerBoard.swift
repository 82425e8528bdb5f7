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

  /// What it was a change of.
  package struct Place: Sendable, Equatable {
    package let object: LocalObject
    /// The top of the composite graph that the object is in; itself where it is in none.
    package let root: LocalObject

    package init(object: LocalObject, root: LocalObject) {
      (self.object, self.root) = (object, root)
    }
  }

  package let id: OperationID
  package let outcome: Outcome
  /// Nil where only the id is known.
  package let place: Place?

  package init(id: OperationID, outcome: Outcome, place: Place? = nil) {
    self.id = id
    self.outcome = outcome
    self.place = place
  }
}

/// Where answers are put up for those who wait for them, once the database shows them. How an
/// operation ended earlier is in the `OutcomeTable`.
package final class AnswerBoard: Sendable {
  private struct State {
    var tickets: [Int: Ticket] = [:]
    var next = 0
    var isClosed = false
  }

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
    for ticket in state.withLock({ Array($0.tickets.values) }) {
      for answer in answered where ticket.ids.contains(answer.id) {
        ticket.continuation.yield(answer)
      }
    }
  }

  func close() {
    let tickets = state.withLock { state in
      state.isClosed = true
      return state.tickets.values.map(\.continuation)
    }
    for continuation in tickets { continuation.finish() }
  }
}
