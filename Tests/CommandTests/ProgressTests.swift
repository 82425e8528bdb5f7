import FerryWorld
import Synchronization
import Testing

@testable import FerryCommand

/// Time that stands still until it is moved.
private final class HandClock: WorldClock {
  private let time = Mutex<Duration>(.zero)

  var now: Timestamp { moment }
  var uptime: Duration { time.withLock { $0 } }
  func move(by duration: Duration) { time.withLock { $0 += duration } }
}

/// How far long work is, for people and for files.
struct ProgressTests {
  @Test("Without a terminal progress is whole lines, at most one in ten seconds")
  func calm() {
    let clock = HandClock()
    var written: [String] = []
    let progress = CopyProgress(
      "copied", isTerminal: false, clock: clock, write: { written.append($0) })
    for percent in 0...100 {
      progress.tell(percent, of: 100)
      clock.move(by: .milliseconds(900))
    }
    // 90 seconds of work.
    #expect(
      written == [12, 24, 36, 48, 60, 72, 84, 96].map { "copied \($0) %\n" }, "\(written)")
  }

  @Test("Work that ends at once prints nothing without a terminal")
  func short() {
    var written: [String] = []
    let progress = CopyProgress(
      "copied", isTerminal: false, clock: HandClock(), write: { written.append($0) })
    for percent in 0...100 { progress.tell(percent, of: 100) }
    #expect(written.isEmpty)
  }

  @Test("A terminal has one line that changes")
  func terminal() {
    var written: [String] = []
    let progress = CopyProgress("copied", isTerminal: true, write: { written.append($0) })
    progress.tell(1, of: 2)
    progress.tell(2, of: 2)
    #expect(written == ["\rcopied 50 %", "\rcopied 100 %\n"])
  }
}
