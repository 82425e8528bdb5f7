import FerryOData
import Synchronization

/// The patterns that an evaluator has met, compiled: a filter asks the same one of every entry.
final class PatternCache: Sendable {
  private struct State {
    var patterns: [String: TextPattern] = [:]
    var compiled = 0
  }

  private let state = Mutex(State())
  /// A pattern may also come from the entries; then each is another.
  private static let limit = 16

  /// How many were compiled so far.
  var compiled: Int { state.withLock { $0.compiled } }

  func pattern(_ text: String) throws(AddressFault) -> TextPattern {
    try state.withLock { state throws(AddressFault) in
      if let known = state.patterns[text] { return known }
      let made = try TextPattern(text)
      state.compiled += 1
      if state.patterns.count == PatternCache.limit { state.patterns = [:] }
      state.patterns[text] = made
      return made
    }
  }
}
