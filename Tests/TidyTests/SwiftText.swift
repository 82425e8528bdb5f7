/// A Swift file taken apart: code, comments and literals, each at its own place.
///
/// The three views have the lines and columns of the text; what belongs to another view is blank.
/// Quotes stay in the code view, and an interpolation is one `~` in the literal view.
struct SwiftText {
  let lines: [String]
  let code: [String]
  let comments: [String]
  let literals: [String]

  init(_ text: String) {
    var cutter = Cutter(text)
    cutter.cutCode(insideInterpolation: false)
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    code = SwiftText.lines(cutter.code)
    comments = SwiftText.lines(cutter.comments)
    literals = SwiftText.lines(cutter.literals)
  }

  private static func lines(_ bytes: [UInt8]) -> [String] {
    bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
  }
}

/// Walks the bytes once and gives each to one view.
private struct Cutter {
  /// What may begin or end a comment, a literal or an interpolation.
  private static let signs: [Bool] = (0...UInt8.max).map { "/#\"()".utf8.contains($0) }

  private let bytes: [UInt8]
  private var index = 0
  var code: [UInt8]
  var comments: [UInt8]
  var literals: [UInt8]

  init(_ text: String) {
    bytes = Array(text.utf8)
    let blank = bytes.map { $0 == UInt8(ascii: "\n") ? $0 : UInt8(ascii: " ") }
    code = blank
    comments = blank
    literals = blank
  }

  mutating func cutCode(insideInterpolation: Bool) {
    var depth = 0
    while index < bytes.count {
      // Most bytes begin nothing.
      if !Cutter.signs[Int(bytes[index])] {
        code[index] = bytes[index]
        index += 1
      } else if starts("//") {
        cutLineComment()
      } else if starts("/*") {
        cutBlockComment()
      } else if let hashes = literalHashes() {
        cutLiteral(hashes: hashes)
      } else {
        if insideInterpolation {
          if starts(")") && depth == 0 { return }
          if starts("(") { depth += 1 }
          if starts(")") { depth -= 1 }
        }
        code[index] = bytes[index]
        index += 1
      }
    }
  }

  private mutating func cutLineComment() {
    while index < bytes.count, bytes[index] != UInt8(ascii: "\n") {
      comments[index] = bytes[index]
      index += 1
    }
  }

  private mutating func cutBlockComment() {
    var depth = 0
    while index < bytes.count {
      let step: Int
      if starts("/*") {
        depth += 1
        step = 2
      } else if starts("*/") {
        depth -= 1
        step = 2
      } else {
        step = 1
      }
      for place in index..<min(index + step, bytes.count) { comments[place] = bytes[place] }
      index += step
      if depth == 0 { return }
    }
  }

  /// How many `#` stand before the quote that begins here; nil when no literal begins here.
  private func literalHashes() -> Int? {
    var end = index
    while end < bytes.count, bytes[end] == UInt8(ascii: "#") { end += 1 }
    return end < bytes.count && bytes[end] == UInt8(ascii: "\"") ? end - index : nil
  }

  private mutating func cutLiteral(hashes: Int) {
    index += hashes
    let quotes = starts("\"\"\"") ? 3 : 1
    let pounds = String(repeating: "#", count: hashes)
    let ending = String(repeating: "\"", count: quotes) + pounds
    mark()
    index += quotes
    while index < bytes.count {
      let byte = bytes[index]
      if byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte != UInt8(ascii: "\n") {
        literals[index] = byte
        index += 1
      } else if starts(ending) {
        mark()
        index += ending.utf8.count
        return
      } else if quotes == 1 && starts("\n") {
        return
      } else if starts("\\" + pounds + "(") {
        literals[index] = UInt8(ascii: "~")
        index += hashes + 2
        cutCode(insideInterpolation: true)
        index += 1
      } else {
        let step = starts("\\" + pounds) ? hashes + 2 : 1
        for place in index..<min(index + step, bytes.count) { literals[place] = bytes[place] }
        index += step
      }
    }
  }

  private mutating func mark() {
    code[index] = UInt8(ascii: "\"")
    literals[index] = UInt8(ascii: "\"")
  }

  private func starts(_ text: String) -> Bool {
    var place = index
    for byte in text.utf8 {
      guard place < bytes.count, bytes[place] == byte else { return false }
      place += 1
    }
    return true
  }
}
