import Foundation

/// Numbered steps in plain sentences, and one bar for what takes a while.
package final class Narrator {
  private let isTerminal = isatty(STDOUT_FILENO) == 1
  private var steps = 0

  package init() {}

  package func title(_ text: String) {
    write("\(text)\n\(String(repeating: "=", count: text.count))\n")
  }

  package func step(_ text: String) {
    steps += 1
    write("\n\(steps). \(text)\n")
  }

  /// One or more lines that belong to the step.
  package func say(_ text: String) {
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      write("   \(line)\n")
    }
  }

  /// Draws over itself on a terminal and is silent elsewhere; `endProgress` says the last word.
  package func progress(_ name: String, _ done: Int, of all: Int) {
    guard isTerminal, all > 0 else { return }
    let width = 40
    let full = min(width, done * width / all)
    let bar = String(repeating: "#", count: full) + String(repeating: ".", count: width - full)
    write("\r   \(name) [\(bar)] \(min(100, done * 100 / all)) %  \(done) of \(all) rows")
  }

  package func endProgress(_ text: String) {
    // Clears the line of the bar.
    if isTerminal { write("\r\u{1B}[K") }
    say(text)
  }

  package func complain(_ text: String) {
    FileHandle.standardError.write(Data("\(text)\n".utf8))
  }

  private func write(_ text: String) {
    FileHandle.standardOutput.write(Data(text.utf8))
  }
}

extension Duration {
  /// `0.123 s`.
  package var shown: String {
    let milliseconds = components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    let rest = String(milliseconds % 1_000)
    return "\(milliseconds / 1_000).\(String(repeating: "0", count: 3 - rest.count))\(rest) s"
  }
}
