import Synchronization

/// The newest lines of the server's own log, kept in memory for operators. Safe on every thread.
///
/// The log itself goes to standard error as before; what is older than the lines kept here is only there.
package final class ServerLines: Sendable {
  /// One line, a JSON object, and its number since the start.
  package struct Line: Sendable, Equatable {
    package let number: Int64
    package let json: [UInt8]
  }

  private struct State {
    var lines: [Line] = []
    /// Index of the oldest line.
    var oldest = 0
    var bytes = 0
    var next: Int64 = 1
  }

  private let state = Mutex(State())
  private let most: Int
  private let mostBytes: Int

  /// Keeps so many lines, and so many bytes of them.
  package init(most: Int = 10_000, mostBytes: Int = 8 << 20) {
    self.most = most
    self.mostBytes = mostBytes
  }

  /// `json`: one object, without the end of the line.
  package func keep(_ json: [UInt8]) {
    guard json.count <= mostBytes else { return }
    state.withLock { state in
      state.lines.append(Line(number: state.next, json: json))
      state.next += 1
      state.bytes += json.count
      while state.lines.count - state.oldest > most || state.bytes > mostBytes {
        state.bytes -= state.lines[state.oldest].json.count
        state.lines[state.oldest] = Line(number: 0, json: [])
        state.oldest += 1
      }
      // The empty places in front go once they are as many as the lines.
      if state.oldest > most {
        state.lines.removeFirst(state.oldest)
        state.oldest = 0
      }
    }
  }

  /// The newest first.
  package var newest: [Line] {
    state.withLock { state in Array(state.lines[state.oldest...].reversed()) }
  }
}
