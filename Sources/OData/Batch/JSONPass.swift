import FerryJSON
import FerryOData

/// Goes past one JSON value by pieces of any size and checks it on the way, keeping nothing of it.
struct JSONPass {
  private enum State {
    case value, firstElement, firstKey, key, colon, after
    case string, escape, hexadecimal(Int)
    /// Bytes of a character of UTF-8 that must follow, and what the next may be.
    case character(Int, UInt8, UInt8)
    case minus, zero, whole, point, fraction, exponent, exponentSign, exponentDigits
    case word([UInt8])
    case done
  }

  private var state = State.value
  /// The open containers: true for objects.
  private var stack: [Bool] = []
  private var isKey = false
  private let depthLimit: Int

  init(depthLimit: Int) { self.depthLimit = depthLimit }

  /// Whether the value is complete.
  var isDone: Bool { if case .done = state { true } else { false } }

  /// Takes bytes from `start` on, which begin with the value and no white space, and gives the
  /// place behind the last one that belongs to it.
  mutating func take(_ bytes: [UInt8], from start: Int) throws(JSONError) -> Int {
    var index = start
    while index < bytes.count, !isDone {
      if case .string = state {
        index = Self.plain(bytes, from: index)
        guard index < bytes.count else { return index }
      }
      do throws(Problem) {
        if try take(bytes[index]) { index += 1 }
      } catch {
        throw JSONError(offset: index, problem: error.text)
      }
    }
    return index
  }

  /// Says that nothing follows: a number may end there.
  mutating func finish() -> Bool {
    switch state {
    case .zero, .whole, .fraction, .exponentDigits:
      guard stack.isEmpty else { return false }
      state = .done
      return true
    default: return isDone
    }
  }

  private struct Problem: Error {
    let text: String
    init(_ text: String) { self.text = text }
  }

  private static func plain(_ bytes: [UInt8], from start: Int) -> Int {
    var index = start
    while index < bytes.count {
      let byte = bytes[index]
      if byte < 0x20 || byte >= 0x80 || byte == 0x22 || byte == 0x5C { return index }
      index += 1
    }
    return index
  }

  /// False when the byte ended a number and is still to be taken.
  private mutating func take(_ byte: UInt8) throws(Problem) -> Bool {
    switch state {
    case .string, .escape, .hexadecimal, .character: try inString(byte)
    case .minus, .zero, .whole, .point, .fraction, .exponent, .exponentSign, .exponentDigits:
      return try inNumber(byte)
    case .word(let rest):
      guard rest.first == byte else { throw Problem("a value was expected") }
      state = .word(Array(rest.dropFirst()))
      if rest.count == 1 { endValue() }
    case .done: return false
    case .value, .firstElement, .firstKey, .key, .colon, .after:
      if byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { return true }
      try between(byte)
    }
    return true
  }

  private mutating func between(_ byte: UInt8) throws(Problem) {
    switch (state, byte) {
    case (.firstElement, UInt8(ascii: "]")), (.firstKey, UInt8(ascii: "}")): close()
    case (.firstKey, UInt8(ascii: "\"")), (.key, UInt8(ascii: "\"")):
      isKey = true
      state = .string
    case (.firstKey, _), (.key, _): throw Problem("a key was expected")
    case (.colon, UInt8(ascii: ":")): state = .value
    case (.colon, _): throw Problem("a colon was expected after the key")
    case (.after, UInt8(ascii: ",")): state = stack.last == true ? .key : .value
    case (.after, UInt8(ascii: "}")) where stack.last == true: close()
    case (.after, UInt8(ascii: "]")) where stack.last == false: close()
    case (.after, _): throw Problem("a comma was expected")
    default: try begin(byte)
    }
  }

  private mutating func begin(_ byte: UInt8) throws(Problem) {
    switch byte {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      guard stack.count < depthLimit else {
        throw Problem("more than \(depthLimit) levels are nested")
      }
      stack.append(byte == UInt8(ascii: "{"))
      state = byte == UInt8(ascii: "{") ? .firstKey : .firstElement
    case UInt8(ascii: "\""):
      isKey = false
      state = .string
    case UInt8(ascii: "-"): state = .minus
    case UInt8(ascii: "0"): state = .zero
    case UInt8(ascii: "1")...UInt8(ascii: "9"): state = .whole
    case UInt8(ascii: "t"): state = .word(Array("rue".utf8))
    case UInt8(ascii: "f"): state = .word(Array("alse".utf8))
    case UInt8(ascii: "n"): state = .word(Array("ull".utf8))
    default: throw Problem("a value was expected")
    }
  }

  private mutating func close() {
    stack.removeLast()
    endValue()
  }

  private mutating func endValue() { state = stack.isEmpty ? .done : .after }

  private mutating func inString(_ byte: UInt8) throws(Problem) {
    switch state {
    case .string:
      switch byte {
      case 0x22: if isKey { state = .colon } else { endValue() }
      case 0x5C: state = .escape
      case ..<0x20: throw Problem("a control character is in a string")
      case 0xC2...0xDF: state = .character(1, 0x80, 0xBF)
      case 0xE0: state = .character(2, 0xA0, 0xBF)
      case 0xED: state = .character(2, 0x80, 0x9F)
      case 0xE1...0xEF: state = .character(2, 0x80, 0xBF)
      case 0xF0: state = .character(3, 0x90, 0xBF)
      case 0xF1...0xF3: state = .character(3, 0x80, 0xBF)
      case 0xF4: state = .character(3, 0x80, 0x8F)
      case 0x80...: throw Problem("the string is not valid UTF-8")
      default: break
      }
    case .escape:
      switch byte {
      case UInt8(ascii: "u"): state = .hexadecimal(4)
      case 0x22, 0x5C, 0x2F, UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
        UInt8(ascii: "r"), UInt8(ascii: "t"):
        state = .string
      default: throw Problem("an escape that JSON does not have")
      }
    case .hexadecimal(let left):
      guard JSONText.digit(byte) != nil else {
        throw Problem("four hexadecimal digits were expected")
      }
      state = left == 1 ? .string : .hexadecimal(left - 1)
    case .character(let left, let lower, let upper):
      guard byte >= lower, byte <= upper else { throw Problem("the string is not valid UTF-8") }
      state = left == 1 ? .string : .character(left - 1, 0x80, 0xBF)
    default: break
    }
  }

  private mutating func inNumber(_ byte: UInt8) throws(Problem) -> Bool {
    let isDigit = byte >= 0x30 && byte <= 0x39
    switch state {
    case .minus:
      guard isDigit else { throw Problem("a number was expected") }
      state = byte == 0x30 ? .zero : .whole
      return true
    case .zero where isDigit: throw Problem("a number begins with a zero")
    case .whole where isDigit, .fraction where isDigit, .exponentDigits where isDigit: return true
    case .zero where byte == 0x2E, .whole where byte == 0x2E:
      state = .point
      return true
    case .zero where byte | 0x20 == 0x65, .whole where byte | 0x20 == 0x65,
      .fraction where byte | 0x20 == 0x65:
      state = .exponent
      return true
    case .point:
      guard isDigit else { throw Problem("a digit was expected after the point") }
      state = .fraction
      return true
    case .exponent where byte == 0x2B || byte == 0x2D:
      state = .exponentSign
      return true
    case .exponent, .exponentSign:
      guard isDigit else { throw Problem("a digit was expected in the exponent") }
      state = .exponentDigits
      return true
    default:
      endValue()
      return false
    }
  }
}
