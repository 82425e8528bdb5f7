import FerryOData
import FerryText

/// Arrays and objects as V4 writes them into aliases and comparisons; their values may be
/// expressions.
extension AddressParser {
  func json() throws(AddressFault) -> ODataExpression {
    try enter()
    let isObject = byte == UInt8(ascii: "{")
    position += 1
    blanks()
    var items: [ODataExpression] = []
    var members: [ODataNamedValue] = []
    var highest = 0
    let close: Unicode.Scalar = isObject ? "}" : "]"
    if !take(close) {
      repeat {
        blanks()
        if isObject {
          guard byte == UInt8(ascii: "\"") else {
            throw failure("\(found) where a name in double quotes was expected")
          }
          let name = try jsonString()
          blanks()
          try expect(":", "a colon")
          blanks()
          members.append(ODataNamedValue(name, try jsonValue()))
        } else {
          items.append(try jsonValue())
        }
        highest = max(highest, height)
        blanks()
      } while take(",")
      try expect(close, "a comma or \(close)")
    }
    leave()
    try grow(highest)
    return isObject ? .object(members) : .array(items)
  }

  private func jsonValue() throws(AddressFault) -> ODataExpression {
    guard byte == UInt8(ascii: "\"") else { return try expression() }
    try count()
    height = 1
    return .literal(.string(try jsonString()))
  }

  private func jsonString() throws(AddressFault) -> String {
    let start = position
    position += 1
    var bytes: [UInt8] = []
    var scalars = ""
    func flush() -> String { String(decoding: bytes, as: UTF8.self) }
    while let byte {
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return scalars + flush()
      case UInt8(ascii: "\\"):
        scalars += flush()
        bytes = []
        scalars.unicodeScalars.append(try escaped())
      case 0..<0x20: throw failure("a control character in a string", at: position - 1)
      default: bytes.append(byte)
      }
    }
    throw failure("the double quote is not closed", at: start)
  }

  private func escaped() throws(AddressFault) -> Unicode.Scalar {
    let place = position
    guard let letter = byte else { throw failure("the end behind a backslash") }
    position += 1
    switch letter {
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"):
      return Unicode.Scalar(letter)
    case UInt8(ascii: "u"):
      let high = try unit()
      guard high & 0xFC00 == 0xD800 else {
        guard let scalar = Unicode.Scalar(high) else {
          throw failure("half of a surrogate pair", at: place)
        }
        return scalar
      }
      guard take("\\"), take("u") else { throw failure("half of a surrogate pair", at: place) }
      let low = try unit()
      guard low & 0xFC00 == 0xDC00,
        let scalar = Unicode.Scalar(0x10000 + (high & 0x3FF) << 10 + (low & 0x3FF))
      else { throw failure("half of a surrogate pair", at: place) }
      return scalar
    default: throw failure("\\\(Unicode.Scalar(letter)) is not an escape of JSON", at: place)
    }
  }

  private func unit() throws(AddressFault) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = byte.flatMap({ Hexadecimal.value($0) }) else {
        throw failure("\(found) where a hexadecimal digit was expected")
      }
      value = value << 4 | UInt32(digit)
      position += 1
    }
    return value
  }
}
