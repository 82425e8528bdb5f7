/// Reads JSON text from bytes in one pass, without building a tree.
///
/// The caller walks the text: `enterObject`, `nextKey`, a value, and so on. Nothing is allocated
/// but the strings asked for. The text is checked as RFC 8259 asks: no trailing comma, no leading
/// zero, valid UTF-8, and no more than `depthLimit` open containers, so that no input can overflow
/// the stack. The bytes must outlive the scanner.
public struct JSONScanner {
  /// What stands at the position of a scanner.
  public enum Kind: Sendable, BitwiseCopyable {
    case object, array, string, number, boolean, null, end
  }

  public let bytes: UnsafeBufferPointer<UInt8>
  /// Offset in bytes of the next character to read.
  public private(set) var position: Int
  public let depthLimit: Int
  /// Whether something looked beyond the last byte: what was read, or failed, may read otherwise
  /// once more bytes are there. A reader of pieces tries again then.
  public private(set) var reachedEnd: Bool = false
  private var depth: Int = 0
  private var afterValue: Bool = false

  public init(_ bytes: UnsafeBufferPointer<UInt8>, from position: Int = 0, depthLimit: Int = 64) {
    self.bytes = bytes
    self.position = position
    self.depthLimit = depthLimit
  }

  /// The kind of the next value, without reading it.
  public mutating func peek() throws(JSONError) -> Kind {
    skipSpace()
    guard position < bytes.count else {
      reachedEnd = true
      return .end
    }
    switch bytes[position] {
    case UInt8(ascii: "{"): return .object
    case UInt8(ascii: "["): return .array
    case UInt8(ascii: "\""): return .string
    case UInt8(ascii: "t"), UInt8(ascii: "f"): return .boolean
    case UInt8(ascii: "n"): return .null
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
    default: throw failure("a value was expected")
    }
  }

  /// Takes `{`; then read members until there is none.
  public mutating func enterObject() throws(JSONError) {
    try expect(UInt8(ascii: "{"), "an object was expected")
    try deeper()
  }

  /// Takes `[`; then read elements until there is none.
  public mutating func enterArray() throws(JSONError) {
    try expect(UInt8(ascii: "["), "an array was expected")
    try deeper()
  }

  /// Moves to the next element of the array that was entered; false at its end.
  public mutating func nextElement() throws(JSONError) -> Bool {
    try advance(closing: UInt8(ascii: "]"))
  }

  /// The next key of the object that was entered; nil at its end.
  public mutating func nextKey() throws(JSONError) -> String? {
    guard try advance(closing: UInt8(ascii: "}")) else { return nil }
    let key = try string()
    try expect(UInt8(ascii: ":"), "a colon was expected after the key")
    afterValue = false
    return key
  }

  public mutating func null() throws(JSONError) { try word("null") }

  /// Takes `true` or `false`.
  public mutating func boolean() throws(JSONError) -> Bool {
    skipSpace()
    if position < bytes.count, bytes[position] == UInt8(ascii: "t") {
      try word("true")
      return true
    }
    try word("false")
    return false
  }

  /// An integer that fits 64 bits; a fraction or an exponent is refused.
  public mutating func integer() throws(JSONError) -> Int64 {
    skipSpace()
    let start = position
    let range = try numberRange()
    var index = range.lowerBound
    let negative = bytes[index] == UInt8(ascii: "-")
    if negative { index += 1 }
    var value: Int64 = 0
    while index < range.upperBound {
      let byte = bytes[index]
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else {
        position = start
        throw failure("an integer was expected")
      }
      let digit = Int64(byte - UInt8(ascii: "0"))
      let (product, over1) = value.multipliedReportingOverflow(by: 10)
      let (sum, over2) =
        negative
        ? product.subtractingReportingOverflow(digit)
        : product.addingReportingOverflow(digit)
      if over1 || over2 {
        position = start
        throw failure("the integer does not fit 64 bits")
      }
      value = sum
      index += 1
    }
    return value
  }

  /// Takes a number, with fraction or exponent or without.
  public mutating func double() throws(JSONError) -> Double {
    let text = try numberText()
    guard let value = Double(text), value.isFinite else { throw failure("the number is too large") }
    return value
  }

  /// The number as it was written, for types that must keep every digit.
  public mutating func numberText() throws(JSONError) -> String {
    let range = try numberRange()
    return String(decoding: bytes[range], as: UTF8.self)
  }

  /// Takes a text with its escapes resolved.
  public mutating func string() throws(JSONError) -> String {
    try expect(UInt8(ascii: "\""), "a string was expected")
    let start = position
    position = JSONBytes(bytes).special(position)
    if position < bytes.count {
      let byte = bytes[position]
      if byte == UInt8(ascii: "\"") {
        let slice = UnsafeBufferPointer(rebasing: bytes[start..<position])
        guard let text = String(validating: slice, as: UTF8.self) else {
          position = start
          throw failure("the string is not valid UTF-8")
        }
        position += 1
        afterValue = true
        return text
      }
      if byte == UInt8(ascii: "\\") { return try escapedString(from: start) }
      throw failure("a control character is in a string")
    }
    throw ended("the string does not end")
  }

  /// Reads a string without making one: the range of its text between the quotes, and whether
  /// escapes stand in it. The text is not checked as UTF-8 here.
  public mutating func stringRange() throws(JSONError) -> (text: Range<Int>, hasEscapes: Bool) {
    try expect(UInt8(ascii: "\""), "a string was expected")
    let start = position
    let text = JSONBytes(bytes)
    var hasEscapes = false
    position = text.special(position)
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "\""):
        position += 1
        afterValue = true
        return (start..<position - 1, hasEscapes)
      case UInt8(ascii: "\\"):
        hasEscapes = true
        position = text.special(position + 2)
      default: throw failure("a control character is in a string")
      }
    }
    position = bytes.count
    throw ended("the string does not end")
  }

  /// Reads a number without making one: the range of its text.
  public mutating func numberTextRange() throws(JSONError) -> Range<Int> { try numberRange() }

  /// Reads the colon after a key that was read with `stringRange`.
  public mutating func colon() throws(JSONError) {
    try expect(UInt8(ascii: ":"), "a colon was expected after the key")
    afterValue = false
  }

  /// Moves to the next member of the object that was entered; false at its end.
  public mutating func nextMember() throws(JSONError) -> Bool {
    try advance(closing: UInt8(ascii: "}"))
  }

  /// Skips one value of any kind and returns where its text stands.
  @discardableResult
  public mutating func skipValue() throws(JSONError) -> Range<Int> {
    skipSpace()
    let start = position
    switch try peek() {
    case .object:
      try enterObject()
      while try nextKey() != nil { try skipValue() }
    case .array:
      try enterArray()
      while try nextElement() { try skipValue() }
    case .string:
      let (text, hasEscapes) = try stringRange()
      if hasEscapes || !isASCII(text) {
        position = text.lowerBound - 1
        _ = try string()
      }
    case .number: _ = try numberRange()
    case .boolean: _ = try boolean()
    case .null: try null()
    case .end: throw failure("the text ends where a value was expected")
    }
    return start..<position
  }

  /// Checks that nothing but white space is left.
  public mutating func finish() throws(JSONError) {
    skipSpace()
    guard position == bytes.count else { throw failure("text follows the end of the value") }
  }

  /// An error at the place where the scanner stands.
  public func failure(_ problem: String, _ subject: [String] = []) -> JSONError {
    JSONError(offset: position, problem: problem, subject: subject)
  }

  private mutating func ended(_ problem: String) -> JSONError {
    reachedEnd = true
    return failure(problem)
  }

  private mutating func skipSpace() {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x0A, 0x0D, 0x09: position += 1
      default: return
      }
    }
  }

  private mutating func deeper() throws(JSONError) {
    depth += 1
    guard depth <= depthLimit else { throw failure("more than \(depthLimit) levels are nested") }
    afterValue = false
  }

  private mutating func expect(_ byte: UInt8, _ problem: String) throws(JSONError) {
    skipSpace()
    guard position < bytes.count else { throw ended(problem) }
    guard bytes[position] == byte else { throw failure(problem) }
    position += 1
  }

  private mutating func advance(closing: UInt8) throws(JSONError) -> Bool {
    skipSpace()
    guard position < bytes.count else { throw ended("the text ends inside a container") }
    if bytes[position] == closing {
      position += 1
      depth -= 1
      afterValue = true
      return false
    }
    if afterValue {
      try expect(UInt8(ascii: ","), "a comma was expected")
      skipSpace()
      if position < bytes.count, bytes[position] == closing { throw failure("a comma too many") }
    }
    afterValue = false
    return true
  }

  private mutating func word(_ word: StaticString) throws(JSONError) {
    skipSpace()
    let count = word.utf8CodeUnitCount
    guard position + count <= bytes.count else { throw ended("\(word) was expected") }
    for index in 0..<count where bytes[position + index] != word.utf8Start[index] {
      throw failure("\(word) was expected")
    }
    position += count
    afterValue = true
  }

  private mutating func numberRange() throws(JSONError) -> Range<Int> {
    skipSpace()
    let start = position
    if position < bytes.count, bytes[position] == UInt8(ascii: "-") { position += 1 }
    let whole = digits()
    if position == bytes.count { reachedEnd = true }
    guard whole > 0 else { throw failure("a number was expected") }
    if whole > 1, bytes[position - whole] == UInt8(ascii: "0") {
      throw failure("a number begins with a zero")
    }
    if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
      position += 1
      let fraction = digits()
      if position == bytes.count { reachedEnd = true }
      guard fraction > 0 else { throw failure("a digit was expected after the point") }
    }
    if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
      position += 1
      if position < bytes.count,
        bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-")
      {
        position += 1
      }
      let exponent = digits()
      if position == bytes.count { reachedEnd = true }
      guard exponent > 0 else { throw failure("a digit was expected in the exponent") }
    }
    afterValue = true
    if position == bytes.count { reachedEnd = true }
    return start..<position
  }

  private mutating func digits() -> Int {
    let start = position
    while position < bytes.count, bytes[position] >= UInt8(ascii: "0"),
      bytes[position] <= UInt8(ascii: "9")
    {
      position += 1
    }
    return position - start
  }

  private mutating func escapedString(from start: Int) throws(JSONError) -> String {
    var text: [UInt8] = Array(bytes[start..<position])
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let string = String(validating: text, as: UTF8.self) else {
          throw failure("the string is not valid UTF-8")
        }
        afterValue = true
        return string
      case UInt8(ascii: "\\"): try escape(into: &text)
      case ..<0x20: throw failure("a control character is in a string")
      default: text.append(byte)
      }
    }
    throw ended("the string does not end")
  }

  private mutating func escape(into text: inout [UInt8]) throws(JSONError) {
    guard position < bytes.count else { throw ended("the string does not end") }
    let byte = bytes[position]
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"):
      var code = try hexadecimal()
      if code & 0xFC00 == 0xD800 {
        if position + 1 >= bytes.count { reachedEnd = true }
        guard position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
          bytes[position + 1] == UInt8(ascii: "u")
        else { throw failure("half of a surrogate pair is alone") }
        position += 2
        let low = try hexadecimal()
        guard low & 0xFC00 == 0xDC00 else { throw failure("half of a surrogate pair is alone") }
        code = 0x10000 + ((code & 0x3FF) << 10) + (low & 0x3FF)
      }
      guard let scalar = Unicode.Scalar(code) else {
        throw failure("half of a surrogate pair is alone")
      }
      text.append(contentsOf: String(Character(scalar)).utf8)
    default: throw failure("an escape that JSON does not have")
    }
  }

  private mutating func hexadecimal() throws(JSONError) -> UInt32 {
    guard position + 4 <= bytes.count else { throw ended("the string does not end") }
    var code: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = Character(Unicode.Scalar(bytes[position])).hexDigitValue else {
        throw failure("four hexadecimal digits were expected")
      }
      code = (code << 4) + UInt32(digit)
      position += 1
    }
    return code
  }
}
