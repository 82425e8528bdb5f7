import FerryWorld
import Synchronization

/// Answers for a service that is away, so that no caller waits for it in vain. Pure, but for its lock.
///
/// After some failures in a row nobody is passed on for a few seconds. Then one request is passed on:
/// if the service answers it, all others follow.
final class ServiceBreaker: Sendable {
  /// One failure may be that of a single connection.
  static let failures: Int = 5
  static let pause: Duration = .seconds(5)

  private struct State {
    var failures = 0
    var end: Timestamp?
    /// A request is on its way that shows whether the service is there again.
    var isTrying = false
  }

  private let state = Mutex(State())

  /// Nil: pass on, and call `note` with the outcome. Else the seconds until somebody may.
  func secondsToWait(_ now: Timestamp) -> Int64? {
    state.withLock { state in
      guard let end = state.end else { return nil }
      guard now >= end, !state.isTrying else {
        return max(1, (end.milliseconds - now.milliseconds + 999) / 1_000)
      }
      state.isTrying = true
      return nil
    }
  }

  /// `isAway`: no connection came about, or no answer in its time. Nil: the request ended before
  /// anybody could know.
  func note(isAway: Bool?, _ now: Timestamp) {
    state.withLock { state in
      state.isTrying = false
      guard let isAway else { return }
      guard isAway else {
        state = State()
        return
      }
      state.failures += 1
      if state.failures >= ServiceBreaker.failures {
        state.end = now.advanced(by: ServiceBreaker.pause)
      }
    }
  }
}
