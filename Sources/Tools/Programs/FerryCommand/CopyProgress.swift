import FerryWorld
import Foundation

/// How far a long piece of work is, on standard error: standard output may go elsewhere.
///
/// A terminal shows one line that changes. Elsewhere it is whole lines, at most one in ten seconds,
/// so that a log stays short; work that ends sooner prints none there.
final class CopyProgress {
  private let what: String
  private let isTerminal: Bool
  private let clock: any WorldClock
  private let write: (String) -> Void
  private var last: Duration

  /// Between two lines that are not on a terminal.
  static let calm: Duration = .seconds(10)

  init(
    _ what: String, isTerminal: Bool = isatty(STDERR_FILENO) == 1,
    clock: any WorldClock = SystemClock(),
    write: @escaping (String) -> Void = CopyProgress.onStandardError
  ) {
    self.what = what
    self.isTerminal = isTerminal
    self.clock = clock
    self.write = write
    last = clock.uptime
  }

  func tell(_ done: Int, of total: Int) {
    guard total > 0 else { return }
    tell("\(what) \(done * 100 / total) %", isEnd: done >= total)
  }

  /// The same with a text of its own.
  func tell(_ text: String, isEnd: Bool) {
    guard !isTerminal else { return write("\r\(text)\(isEnd ? "\n" : "")") }
    let moment = clock.uptime
    guard moment - last >= CopyProgress.calm else { return }
    last = moment
    write("\(text)\n")
  }

  private static func onStandardError(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }
}
