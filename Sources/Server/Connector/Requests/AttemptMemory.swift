import FerryModel
import FerryWorld
import Synchronization

/// What is remembered of a service without transactions: operations that may have been performed, and
/// whether it heeds conditions. All connectors to one service share it.
package final class AttemptMemory: Sendable {
  /// What is remembered of an operation that may have been performed.
  package struct Attempt: Sendable, Equatable {
    /// When its first answer was lost, as far as this process knows.
    package fileprivate(set) var since: Timestamp
    /// No request of it can arrive behind this moment.
    package var until: Timestamp
    /// The service refused it while an earlier request could still arrive.
    package var isHeld = false
    /// The service does not know the request by its number any more, or as another one.
    package var isForgotten = false
  }

  private struct State {
    /// By the name of a set.
    var proofs: [String: Bool] = [:]
    var attempts: [OperationID: Attempt] = [:]
    var begun: Timestamp
    var isUnreachable = false
  }

  package let clock: any WorldClock
  /// How long after a lost answer its request may still arrive.
  package let late: Duration
  private let state: Mutex<State>

  package init(_ clock: any WorldClock, late: Duration) {
    self.clock = clock
    self.late = late
    state = Mutex(State(begun: clock.moment))
  }

  package var isUnreachable: Bool { state.withLock { $0.isUnreachable } }
  package func noteReached(_ isReached: Bool) { state.withLock { $0.isUnreachable = !isReached } }

  /// Whether writes on a condition hold there; nil as long as nobody has seen it.
  package func proof(of set: String) -> Bool? { state.withLock { $0.proofs[set] } }
  package func prove(_ set: String, _ holds: Bool) { state.withLock { $0.proofs[set] = holds } }

  /// Requests of an earlier process may arrive until some time after this one has begun.
  package func beginLead() { state.withLock { $0.begun = clock.moment } }

  package func attempt(_ id: OperationID) -> Attempt? { state.withLock { $0.attempts[id] } }

  /// An answer was lost, or an earlier one is not known.
  package func noteLost(_ id: OperationID, isHeld: Bool) {
    let now = clock.moment
    state.withLock { state in
      var attempt = state.attempts[id] ?? Attempt(since: now, until: now.advanced(by: late))
      if isHeld {
        attempt.isHeld = true
      } else {
        attempt.until = now.advanced(by: late)
        attempt.isHeld = false
      }
      state.attempts[id] = attempt
    }
  }

  /// An operation that another process sent.
  package func noteRecalled(_ operation: ConnectorOperation) {
    let (now, moment) = (clock.now, clock.moment)
    state.withLock { state in
      guard state.attempts[operation.id] == nil else { return }
      var attempt = Attempt(since: state.begun, until: state.begun.advanced(by: late))
      if let sentAt = operation.sentAt, sentAt <= now {
        let age: Duration = .milliseconds(now.milliseconds - sentAt.milliseconds)
        attempt.since = min(state.begun, moment.advanced(by: .zero - age))
      } else {
        // Nobody knows how old its number is.
        attempt.isForgotten = true
      }
      state.attempts[operation.id] = attempt
    }
  }

  /// Its number proves nothing any more.
  package func noteForgotten(_ id: OperationID) {
    state.withLock { $0.attempts[id]?.isForgotten = true }
  }

  /// What was noted since counts no more: it is as it was before.
  package func restore(_ attempt: Attempt?, of id: OperationID) {
    state.withLock { $0.attempts[id] = attempt }
  }

  package func forget(_ id: OperationID) { state.withLock { $0.attempts[id] = nil } }
}
