import Synchronization

/// Wakes those who follow the status of a database: after each commit, and when the state of the
/// session changes.
final class StatusBoard: CommitListener {
  private struct State {
    var signals: [Int: LiveSignal] = [:]
    var last = 0
    var isEnded = false
  }

  private let state = Mutex(State())

  func add() -> (number: Int, signal: LiveSignal) {
    let signal = LiveSignal(isRung: true)
    let number = state.withLock { state in
      state.last += 1
      state.signals[state.last] = signal
      if state.isEnded { signal.end() }
      return state.last
    }
    return (number, signal)
  }

  func remove(_ number: Int) {
    state.withLock { state in _ = state.signals.removeValue(forKey: number) }
  }

  func ring() {
    for signal in state.withLock({ Array($0.signals.values) }) { signal.ring(RowChanges()) }
  }

  func afterCommit(_ commit: Commit) { ring() }

  /// The database is closed: every loop ends.
  func end() {
    let signals = state.withLock { state in
      state.isEnded = true
      return Array(state.signals.values)
    }
    for signal in signals { signal.end() }
  }
}
