import FerryJSON

/// A decimal number that keeps every digit as it was written.
///
/// Two are equal when they mean the same number: `1.50` and `1.5` are.
public struct EdmDecimal: Sendable, Hashable, CustomStringConvertible, ExpressibleByIntegerLiteral {
  /// The digits as they came, such as `-12.340` or `1E-7`; `INF`, `-INF` and `NaN` of V4.01 too.
  public let text: String

  /// Nil when the text is no decimal number.
  public init?(_ text: String) {
    if text == "INF" || text == "-INF" || text == "NaN" {
      self.text = text
      return
    }
    guard Self.parts(text) != nil else { return nil }
    self.text = text
  }

  /// The same from bytes: what is no number makes no string.
  init?(bytes: UnsafeBufferPointer<UInt8>) {
    var start = 0
    var end = bytes.count
    while start < end, bytes[start] <= 0x20 { start += 1 }
    while end > start, bytes[end - 1] <= 0x20 { end -= 1 }
    let text = UnsafeBufferPointer(rebasing: bytes[start..<end])
    var digits = 0
    var points = 0
    for index in 0..<text.count {
      let byte = text[index]
      if byte &- 0x30 < 10 {
        digits += 1
      } else if byte == UInt8(ascii: ".") {
        points += 1
      } else if index > 0 || (byte != UInt8(ascii: "-") && byte != UInt8(ascii: "+")) {
        // An exponent, or no number at all.
        self.init(String(decoding: text, as: UTF8.self))
        return
      }
    }
    guard digits > 0, points < 2 else {
      self.init(String(decoding: text, as: UTF8.self))
      return
    }
    self.init(checked: String(ascii: text))
  }

  private init(checked text: String) { self.text = text }

  public init(integerLiteral value: Int64) { text = String(value) }
  /// Exact for every 64-bit integer.
  public init(_ value: Int64) { text = String(value) }

  public var description: String { text }

  /// The number without an exponent; nil for INF and NaN, and where it would need more than
  /// `limit` characters.
  public func plainText(limit: Int = 10_000) -> String? {
    guard let parts = Self.parts(text) else { return nil }
    if parts.exponent == 0 { return text.hasPrefix("+") ? String(text.dropFirst()) : text }
    let digits = parts.whole + parts.fraction
    let (point, over) = parts.whole.count.addingReportingOverflow(parts.exponent)
    guard !over, point.magnitude <= limit, digits.count <= limit else { return nil }
    let sign = parts.negative ? "-" : ""
    if point <= 0 {
      return sign + "0." + String(repeating: "0", count: max(0, 0 - point)) + text(digits)
    }
    var whole = digits.prefix(point)
    whole += repeatElement(UInt8(ascii: "0"), count: max(0, point - digits.count))
    whole = whole.dropFirst(min(whole.prefix { $0 == UInt8(ascii: "0") }.count, point - 1))
    let fraction = digits.dropFirst(point)
    return sign + text(Array(whole)) + (fraction.isEmpty ? "" : "." + text(Array(fraction)))
  }

  public static func == (left: EdmDecimal, right: EdmDecimal) -> Bool {
    left.text == right.text || left.normal == right.normal
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(normal) }

  private func text(_ digits: [UInt8]) -> String { String(decoding: digits, as: UTF8.self) }

  /// Digits without zeros at either end, and the power of ten that they are multiplied with.
  private var normal: String {
    guard let parts = Self.parts(text) else { return text }
    var digits = parts.whole + parts.fraction
    var exponent = parts.exponent.subtractingReportingOverflow(parts.fraction.count).partialValue
    while digits.last == UInt8(ascii: "0") {
      digits.removeLast()
      exponent = exponent.addingReportingOverflow(1).partialValue
    }
    let significant = digits.drop { $0 == UInt8(ascii: "0") }
    if significant.isEmpty { return "0" }
    return (parts.negative ? "-" : "") + text(Array(significant)) + "E\(exponent)"
  }

  private struct Parts {
    var negative = false
    var whole: [UInt8] = []
    var fraction: [UInt8] = []
    var exponent = 0
  }

  private static func parts(_ text: String) -> Parts? {
    var parts = Parts()
    var rest = Array(text.utf8)[...]
    func digits() -> [UInt8] {
      let run = rest.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
      rest = rest.dropFirst(run.count)
      return Array(run)
    }
    if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
      parts.negative = sign == UInt8(ascii: "-")
      rest = rest.dropFirst()
    }
    parts.whole = digits()
    if rest.first == UInt8(ascii: ".") {
      rest = rest.dropFirst()
      parts.fraction = digits()
    }
    guard !parts.whole.isEmpty || !parts.fraction.isEmpty else { return nil }
    if let letter = rest.first, letter | 0x20 == UInt8(ascii: "e") {
      rest = rest.dropFirst()
      guard let exponent = Int(String(decoding: rest, as: UTF8.self)) else { return nil }
      parts.exponent = exponent
      rest = []
    }
    return rest.isEmpty ? parts : nil
  }
}
