/// The types of the reference's models (facts/1.3), each with one canonical form of its values.
public enum AttributeType: String, Sendable, Hashable, CaseIterable {
  case boolean
  /// 8, 16, 32 and 64 bits, signed.
  case byte, short, int, long
  /// An integer of any size; canonical: decimal digits, no leading zero.
  case integer
  /// A decimal fraction of at most 38 digits; canonical: no exponent, no superfluous zero.
  case decimal
  case float, double
  case string
  /// `2013-01-31`.
  case date
  /// `23:59:59`, with up to nine digits of a fraction and no superfluous zero.
  case time
  /// `2013-01-31T23:59:59`, a local date and time, with a fraction like `time`.
  case dateTime
  case binary
  /// Several values of one type; canonical: a JSON list without blanks.
  case list
  /// A value of a complex type of the model; canonical: a JSON object without blanks, its members
  /// by name.
  case complex
  /// A text, or bytes, of any size, kept apart from the row; the row has its `BigReference`.
  case bigString, bigBinary

  /// Whether the row holds a reference and not the value itself.
  public var isBig: Bool { self == .bigString || self == .bigBinary }

  /// Whether the model must say what it is of.
  public var hasElements: Bool { self == .list || self == .complex }

  /// The value in this type's canonical form, or nil when it is not a value of this type.
  ///
  /// Takes what business systems give: 0 and 1 for booleans, a blank for the T of a dateTime,
  /// numbers as text. `.null` is canonical for every type; whether it is allowed is the
  /// attribute's matter.
  public func canonical(_ value: AttributeValue) -> AttributeValue? {
    switch (self, value) {
    case (_, .null): return .null
    case (.boolean, .boolean): return value
    case (.boolean, .integer(0)): return .boolean(false)
    case (.boolean, .integer(1)): return .boolean(true)
    case (.byte, .integer(let number)): return Int8(exactly: number) == nil ? nil : value
    case (.short, .integer(let number)): return Int16(exactly: number) == nil ? nil : value
    case (.int, .integer(let number)): return Int32(exactly: number) == nil ? nil : value
    case (.long, .integer): return value
    case (.integer, .integer(let number)): return .text(String(number))
    case (.integer, .text(let text)): return CanonicalNumber.integer(text).map(AttributeValue.text)
    case (.decimal, .integer(let number)): return .text(String(number))
    case (.decimal, .double(let number)):
      return CanonicalNumber.decimal(number).map(AttributeValue.text)
    case (.decimal, .text(let text)): return CanonicalNumber.decimal(text).map(AttributeValue.text)
    case (.float, .integer(let number)), (.double, .integer(let number)):
      return Double(exactly: number).map(AttributeValue.double)
    case (.float, .double), (.double, .double): return value
    case (.string, .text): return value
    case (.string, .integer(let number)): return .text(String(number))
    case (.string, .double(let number)): return .text(number.description)
    case (.date, .text(let text)): return LocalDate(text).map { .text($0.description) }
    case (.time, .text(let text)): return LocalTime(text).map { .text($0.description) }
    case (.dateTime, .text(let text)): return LocalDateTime(text).map { .text($0.description) }
    case (.binary, .bytes): return value
    case (.list, .text(let text)): return CanonicalJSON.list(text).map(AttributeValue.text)
    case (.complex, .text(let text)): return CanonicalJSON.object(text).map(AttributeValue.text)
    case (.bigString, .text(let text)), (.bigBinary, .text(let text)):
      return BigReference(text) == nil ? nil : value
    default: return nil
    }
  }
}

enum CanonicalNumber {
  static func integer(_ text: String) -> String? {
    guard let (negative, whole, fraction) = parts(text), fraction.isEmpty else { return nil }
    return (negative && whole != "0" ? "-" : "") + whole
  }

  static func decimal(_ text: String) -> String? {
    guard let (negative, whole, fraction) = parts(text) else { return nil }
    let digits = (whole == "0" ? 0 : whole.utf8.count) + fraction.utf8.count
    guard digits <= 38 else { return nil }
    let number = fraction.isEmpty ? whole : "\(whole).\(fraction)"
    return negative && number != "0" ? "-" + number : number
  }

  /// The shortest digits that read back as the same double.
  static func decimal(_ number: Double) -> String? {
    guard number.isFinite else { return nil }
    return decimal(number.description)
  }

  /// None for a negative count.
  private static func zeros(_ count: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(ascii: "0"), count: max(0, count))
  }

  /// Exponents beyond it are refused: no number that is kept needs them.
  private static let exponents = -400...400

  /// Sign, digits before and after the point without superfluous zeros; an exponent is resolved.
  private static func parts(_ text: String) -> (Bool, String, String)? {
    var rest = Array(text.utf8)[...]
    let negative = rest.first == UInt8(ascii: "-")
    if negative || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
    var exponent = 0
    if let mark = rest.firstIndex(where: { $0 | 0x20 == UInt8(ascii: "e") }) {
      let digits = String(decoding: rest[(mark + 1)...], as: UTF8.self)
      guard let value = Int(digits), exponents.contains(value) else { return nil }
      exponent = value
      rest = rest[..<mark]
    }
    let pieces = rest.split(
      separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
    let fractionDigits = pieces.count > 1 ? pieces[1] : []
    let digits = pieces[0] + fractionDigits
    guard !digits.isEmpty, digits.allSatisfy({ (48...57).contains($0) }) else { return nil }
    // Where the point goes among the digits; before the first and behind the last are zeros.
    let point = pieces[0].count + exponent
    let whole = digits.prefix(max(0, point)) + zeros(point - digits.count)
    var fraction = zeros(0 - point) + digits.dropFirst(max(0, point))
    while fraction.last == UInt8(ascii: "0") { fraction.removeLast() }
    let significant = whole.drop { $0 == UInt8(ascii: "0") }
    return (
      negative, significant.isEmpty ? "0" : String(decoding: significant, as: UTF8.self),
      String(decoding: fraction, as: UTF8.self)
    )
  }
}
