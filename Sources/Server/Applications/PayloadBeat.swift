import FerryWorld
import Synchronization

/// When a channel last said something.
final class PayloadBeat: Sendable {
  private let clock: any WorldClock
  private let last: Mutex<Timestamp>

  init(_ clock: any WorldClock) {
    self.clock = clock
    last = Mutex(clock.moment)
  }

  func said() { last.withLock { $0 = clock.moment } }

  /// Whether it has been silent for the time of a beat; it says something now then.
  func isDue() -> Bool {
    let now = clock.moment
    return last.withLock { last in
      guard last.advanced(by: PayloadWaiters.beat) <= now else { return false }
      last = now
      return true
    }
  }
}
