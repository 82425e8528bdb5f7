/// A word or one sign of code.
struct Token: Equatable {
  let text: String
  /// Counted from 1.
  let line: Int
  /// No blank between this token and the one before it.
  let touchesPrevious: Bool

  var isWord: Bool { text.utf8.first.map(Token.isWordByte) ?? false }

  static func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
      true
    default:
      false
    }
  }

  /// All tokens of lines, in order.
  static func all(in lines: [String]) -> [Token] {
    var tokens: [Token] = []
    for (number, line) in lines.enumerated() {
      let bytes = Array(line.utf8)
      var index = 0
      var touches = false
      while index < bytes.count {
        let start = index
        if isWordByte(bytes[index]) {
          while index < bytes.count, isWordByte(bytes[index]) { index += 1 }
        } else {
          index += 1
        }
        if bytes[start] == UInt8(ascii: " ") || bytes[start] == UInt8(ascii: "\t") {
          touches = false
          continue
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        tokens.append(Token(text: text, line: number + 1, touchesPrevious: touches))
        touches = true
      }
    }
    return tokens
  }
}

extension [Token] {
  /// The text at a place, or nothing outside the list.
  func text(_ index: Int) -> String { indices.contains(index) ? self[index].text : "" }

  /// Whether these texts stand one after the other from `index` on.
  func match(_ index: Int, _ texts: String...) -> Bool {
    texts.enumerated().allSatisfy { text(index + $0.offset) == $0.element }
  }
}
