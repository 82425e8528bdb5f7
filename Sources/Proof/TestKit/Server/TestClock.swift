import FerryWorld
import Synchronization

/// The machine's clocks, plus the time that a test has let pass.
final class TestClock: WorldClock {
  private let system: SystemClock = SystemClock()
  private let ahead = Mutex<Duration>(.zero)

  var now: Timestamp { system.now.advanced(by: ahead.withLock { $0 }) }
  var uptime: Duration { system.uptime + ahead.withLock { $0 } }

  func advance(by duration: Duration) { ahead.withLock { $0 += duration } }
}
