import FerryConnector
import FerryMemoryConnector
import Synchronization

/// What a simulated test lets the business system do wrong: each once.
final class SimulatedBusiness: Sendable {
  private struct State {
    var refuses = false
    var breaks: MemoryFault?
  }

  private let state = Mutex(State())

  init(_ server: TestServer) {
    server.rules.add { [self] _ in refusal() }
    server.business.setFault { [self] call in fault(at: call) }
  }

  func refuseNext() { state.withLock { $0.refuses = true } }

  func breakNext(isPerformed: Bool) {
    state.withLock { $0.breaks = isPerformed ? .timeoutAfterCommit : .timeoutBeforeCommit }
  }

  func stop() { state.withLock { $0 = State() } }

  private func refusal() -> Refusal? {
    let refuses = state.withLock { state in
      defer { state.refuses = false }
      return state.refuses
    }
    return refuses ? Refusal(code: 409, message: "The simulated test refuses this.") : nil
  }

  private func fault(at call: MemoryCall) -> MemoryFault? {
    guard call == .perform else { return nil }
    return state.withLock { state in
      defer { state.breaks = nil }
      return state.breaks
    }
  }
}
