import FerryOData

/// Finds the lines of boundaries in bytes that come in pieces of any size.
///
/// A line is one only if nothing but blanks follows the boundary, or the two hyphens after it: a
/// boundary that begins another one is no danger. The line end before it belongs to it. The result
/// does not depend on how the bytes were cut. Lines may end with CR LF or LF alone.
struct BoundaryScan {
  /// A line of one of the boundaries.
  struct Delimiter: Equatable {
    /// Which boundary: 0 is the outermost.
    let level: Int
    let isClose: Bool
  }

  enum Found: Equatable {
    case delimiter(Delimiter)
    /// A line without its end; only where lines were asked for.
    case line([UInt8])
    /// The bytes that are there were used up.
    case more
  }

  /// Blanks after a boundary; a line with more of them is no line of a boundary.
  static let paddingLimit = 256

  /// The boundaries that are open, with their two hyphens, the outermost first.
  private var boundaries: [[UInt8]] = []
  private var buffer: [UInt8] = []
  private var position = 0
  private var isAtLineStart = true
  /// The line end that was read and belongs to the content unless a boundary follows.
  private var heldEnd: [UInt8] = []
  private var isLast = false
  /// How long the end of the last line was.
  private(set) var lineEndBytes = 0
  private var count = PlaceCount()

  init(_ boundaries: [String]) {
    for boundary in boundaries { open(boundary) }
  }

  /// How many boundaries are open.
  var depth: Int { boundaries.count }

  mutating func open(_ boundary: String) { boundaries.append(Array("--\(boundary)".utf8)) }
  mutating func close() { boundaries.removeLast() }

  mutating func push(_ bytes: [UInt8], isLast: Bool) {
    if position > 0 {
      count.drop(position, of: buffer)
      buffer.removeSubrange(..<position)
      position = 0
    }
    buffer += bytes
    self.isLast = isLast
  }

  /// Line and column where the scan stands.
  mutating func place() -> (line: Int, column: Int) { count.place(position, in: buffer) }

  /// Reads on in a body: what belongs to it is appended to `content`.
  mutating func body(into content: inout [UInt8]) -> Found {
    while true {
      if isAtLineStart {
        switch match() {
        case .more: return .more
        case .delimiter(let delimiter):
          heldEnd = []
          return .delimiter(delimiter)
        case .none:
          content += heldEnd
          heldEnd = []
          isAtLineStart = false
        }
      }
      guard let end = lineEnd(before: buffer.count) else {
        var stop = buffer.count
        // The end of a line may be coming.
        if !isLast, stop > position, buffer[stop - 1] == 0x0D { stop -= 1 }
        content += buffer[position..<stop]
        position = stop
        return .more
      }
      let hasReturn = end > position && buffer[end - 1] == 0x0D
      content += buffer[position..<(hasReturn ? end - 1 : end)]
      heldEnd = hasReturn ? [0x0D, 0x0A] : [0x0A]
      lineEndBytes = heldEnd.count
      position = end + 1
      isAtLineStart = true
    }
  }

  /// Reads one line of a head. A line longer than `limit` is given back cut, one byte too long.
  mutating func nextLine(limit: Int) -> Found {
    if isAtLineStart {
      switch match() {
      case .more: return .more
      case .delimiter(let delimiter):
        heldEnd = []
        return .delimiter(delimiter)
      case .none: break
      }
    }
    guard let end = lineEnd(before: min(buffer.count, position + limit + 2)) else {
      let rest = buffer[position...]
      if rest.count > limit + 1 { return .line(Array(rest.prefix(limit + 1))) }
      guard isLast, !rest.isEmpty else { return .more }
      position = buffer.count
      isAtLineStart = false
      lineEndBytes = 0
      return .line(Array(rest))
    }
    let hasReturn = end > position && buffer[end - 1] == 0x0D
    let text = Array(buffer[position..<(hasReturn ? end - 1 : end)])
    heldEnd = []
    lineEndBytes = hasReturn ? 2 : 1
    position = end + 1
    isAtLineStart = true
    return .line(text)
  }

  private func lineEnd(before limit: Int) -> Int? {
    var index = position
    while index < limit {
      if buffer[index] == 0x0A { return index }
      index += 1
    }
    return nil
  }

  /// Goes past lines of no meaning: preamble and epilogue.
  mutating func skip() -> Found {
    var ignored: [UInt8] = []
    defer { heldEnd = [] }
    return body(into: &ignored)
  }

  private enum Match { case none, more, delimiter(Delimiter) }

  /// Looks for a line of a boundary at the position, the innermost boundary first.
  private mutating func match() -> Match {
    if position == buffer.count { return .more }
    for level in boundaries.indices.reversed() {
      switch match(boundaries[level], level) {
      case .none: continue
      case .more: return .more
      case .delimiter(let delimiter): return .delimiter(delimiter)
      }
    }
    return .none
  }

  private mutating func match(_ boundary: [UInt8], _ level: Int) -> Match {
    var index = position
    for byte in boundary {
      guard index < buffer.count else { return isLast ? .none : .more }
      guard buffer[index] == byte else { return .none }
      index += 1
    }
    var isClose = false
    if index < buffer.count, buffer[index] == 0x2D {
      guard index + 1 < buffer.count else { return isLast ? .none : .more }
      guard buffer[index + 1] == 0x2D else { return .none }
      isClose = true
      index += 2
    }
    let limit = index + Self.paddingLimit
    while index < buffer.count, buffer[index] == 0x20 || buffer[index] == 0x09 {
      index += 1
      if index > limit { return .none }
    }
    if index < buffer.count, buffer[index] == 0x0D {
      index += 1
      if index < buffer.count, buffer[index] != 0x0A { return .none }
    }
    if index < buffer.count {
      guard buffer[index] == 0x0A else { return .none }
      index += 1
    } else if !isLast {
      return .more
    }
    position = index
    return .delimiter(Delimiter(level: level, isClose: isClose))
  }
}
