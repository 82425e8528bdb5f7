import FerryWorld
import Synchronization

/// The machine's clocks, plus the time that a test has let pass; stopped, only that time.
final class TestClock: WorldClock {
  private let system: SystemClock = SystemClock()
  private let state = Mutex<State>(State())

  private struct State {
    var ahead: Duration = .zero
    var stopped: (now: Timestamp, uptime: Duration)?
  }

  var now: Timestamp {
    state.withLock { ($0.stopped?.now ?? system.now).advanced(by: $0.ahead) }
  }

  var uptime: Duration { state.withLock { ($0.stopped?.uptime ?? system.uptime) + $0.ahead } }

  func advance(by duration: Duration) { state.withLock { $0.ahead += duration } }

  /// From now on no time passes by itself.
  func stop() { state.withLock { $0.stopped = (system.now, system.uptime) } }
}
