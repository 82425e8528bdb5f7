/// A whole number of any size, kept exactly: to be stored, compared and shown. Whoever calculates
/// with it takes it into a type of the standard library first: `Int64(exactly:)`.
public struct BigInteger: Sendable, Hashable, Comparable, LosslessStringConvertible,
  ExpressibleByIntegerLiteral
{
  /// Decimal digits without leading zeros, a minus before those of a negative number.
  public let description: String

  /// Nil when the text is no whole number.
  public init?(_ description: String) {
    guard let digits = CanonicalNumber.integer(description) else { return nil }
    self.description = digits
  }

  public init(_ number: some BinaryInteger) { description = String(number) }

  public init(integerLiteral literal: StaticBigInt) {
    self.description = BigInteger.digits(of: literal)
  }

  public static func < (left: BigInteger, right: BigInteger) -> Bool {
    let (one, other) = (left.description.utf8, right.description.utf8)
    let isNegative = one.first == UInt8(ascii: "-")
    guard isNegative == (other.first == UInt8(ascii: "-")) else { return isNegative }
    let isLess =
      one.count == other.count ? one.lexicographicallyPrecedes(other) : one.count < other.count
    return isNegative ? !isLess && left != right : isLess
  }

  /// By division of the magnitude by a thousand million, digit by digit of that base.
  private static func digits(of literal: StaticBigInt) -> String {
    guard literal.signum() != 0 else { return "0" }
    let isNegative = literal.signum() < 0
    var words: [UInt32] = []
    var carry = isNegative
    for index in 0..<(literal.bitWidth / 32 + 1) {
      let word = UInt64(literal[index * 32 / UInt.bitWidth])
      var half = UInt32(truncatingIfNeeded: word >> UInt64(index * 32 % UInt.bitWidth))
      // Two's complement, undone.
      if isNegative { half = ~half }
      if carry { (half, carry) = half.addingReportingOverflow(1) }
      words.append(half)
    }
    var text = ""
    while words.contains(where: { $0 != 0 }) {
      var rest: UInt64 = 0
      for index in words.indices.reversed() {
        let part = rest << 32 | UInt64(words[index])
        words[index] = UInt32(part / 1_000_000_000)
        rest = part % 1_000_000_000
      }
      let nine = String(rest)
      let isLast = !words.contains { $0 != 0 }
      text = (isLast ? nine : Digits.padded(Int(rest), 9)) + text
    }
    return (isNegative ? "-" : "") + text
  }
}

extension FixedWidthInteger {
  /// Nil when the number does not fit.
  public init?(exactly number: BigInteger) { self.init(number.description) }
}
