import FerryOData

/// A decimal as sign, digits and a power of ten; exact.
struct DecimalNumber {
  var isNegative: Bool
  /// Without zeros at either end; empty for nothing.
  var digits: [UInt8]
  var exponent: Int

  /// Nil for INF and NaN, and beyond exponents that mean anything.
  init?(_ decimal: EdmDecimal) {
    let text = Array(decimal.text.utf8)
    var place = 0
    isNegative = text.first == UInt8(ascii: "-")
    if isNegative || text.first == UInt8(ascii: "+") { place = 1 }
    digits = []
    exponent = 0
    var isFraction = false
    while place < text.count, text[place] | 0x20 != UInt8(ascii: "e") {
      let byte = text[place]
      place += 1
      if byte == UInt8(ascii: ".") {
        isFraction = true
        continue
      }
      guard byte >= 0x30, byte <= 0x39 else { return nil }
      digits.append(byte - 0x30)
      if isFraction { exponent -= 1 }
    }
    if place < text.count {
      guard let power = Int(String(decoding: text[(place + 1)...], as: UTF8.self)),
        power.magnitude < 1_000_000
      else { return nil }
      exponent += power
    }
    normalize()
  }

  init(_ value: Int64) {
    isNegative = value < 0
    digits = String(value.magnitude).utf8.map { $0 - 0x30 }
    exponent = 0
    normalize()
  }

  init(_ value: Int128, exponent: Int) {
    isNegative = value < 0
    digits = String(value.magnitude).utf8.map { $0 - 0x30 }
    self.exponent = exponent
    normalize()
  }

  private mutating func normalize() {
    while digits.last == 0 {
      digits.removeLast()
      exponent += 1
    }
    digits = Array(digits.drop { $0 == 0 })
    if digits.isEmpty { (isNegative, exponent) = (false, 0) }
  }

  var value: EdmDecimal {
    let text = digits.isEmpty ? "0" : digits.map { String($0) }.joined()
    let power = exponent == 0 ? "" : "E\(exponent)"
    let whole = EdmDecimal((isNegative ? "-" : "") + text + power)
    return whole?.plainText(limit: 100).flatMap { EdmDecimal($0) } ?? whole ?? 0
  }

  /// Negative, zero or positive, as the left is less, equal or greater.
  static func compare(_ left: DecimalNumber, _ right: DecimalNumber) -> Int {
    if left.isNegative != right.isNegative { return left.isNegative ? -1 : 1 }
    let sign = left.isNegative ? -1 : 1
    if left.digits.isEmpty || right.digits.isEmpty {
      return sign * ((left.digits.isEmpty ? 0 : 1) - (right.digits.isEmpty ? 0 : 1))
    }
    let high = (left.digits.count + left.exponent) - (right.digits.count + right.exponent)
    if high != 0 { return sign * high.signum() }
    for index in 0..<max(left.digits.count, right.digits.count) {
      let a = index < left.digits.count ? left.digits[index] : 0
      let b = index < right.digits.count ? right.digits[index] : 0
      if a != b { return a < b ? -sign : sign }
    }
    return 0
  }

  /// The digits as a whole number of this power of ten; nil where it does not fit.
  private func mantissa(at power: Int) -> Int128? {
    var value: Int128 = 0
    guard digits.count + (exponent - power) <= 38 else { return digits.isEmpty ? 0 : nil }
    for digit in digits {
      let (product, over) = value.multipliedReportingOverflow(by: 10)
      let (sum, over2) = product.addingReportingOverflow(Int128(digit))
      if over || over2 { return nil }
      value = sum
    }
    for _ in 0..<max(0, exponent - power) {
      let (product, over) = value.multipliedReportingOverflow(by: 10)
      if over { return nil }
      value = product
    }
    return isNegative ? -value : value
  }

  /// Nil where the result has more than 38 digits, or for a division by zero.
  static func compute(
    _ operation: ODataArithmetic, _ left: DecimalNumber, _ right: DecimalNumber
  ) -> DecimalNumber? {
    switch operation {
    case .add, .subtract, .modulo:
      let power = min(left.exponent, right.exponent)
      guard let a = left.mantissa(at: power), let b = right.mantissa(at: power) else { return nil }
      if operation == .modulo {
        return b == 0 ? nil : DecimalNumber(a % b, exponent: power)
      }
      let (sum, over) =
        operation == .add ? a.addingReportingOverflow(b) : a.subtractingReportingOverflow(b)
      return over ? nil : DecimalNumber(sum, exponent: power)
    case .multiply:
      guard let a = left.mantissa(at: left.exponent), let b = right.mantissa(at: right.exponent)
      else { return nil }
      let (product, over) = a.multipliedReportingOverflow(by: b)
      return over ? nil : DecimalNumber(product, exponent: left.exponent + right.exponent)
    case .divide, .divideBy:
      guard var a = left.mantissa(at: left.exponent), let b = right.mantissa(at: right.exponent),
        b != 0
      else { return nil }
      var power = left.exponent - right.exponent
      // As many digits as fit; what is left is rounded.
      while a.magnitude < 1_000_000_000_000_000_000_000_000_000_000_000_000, a != 0 {
        a *= 10
        power -= 1
      }
      let (quotient, rest) = a.quotientAndRemainder(dividingBy: b)
      let isUp = rest.magnitude >= b.magnitude - rest.magnitude
      let away: Int128 = (a < 0) == (b < 0) ? 1 : -1
      return DecimalNumber(isUp ? quotient + away : quotient, exponent: power)
    }
  }

  /// To a whole number: nearest with halves away from zero, down, or up.
  func rounded(_ function: ODataFunction) -> DecimalNumber {
    guard exponent < 0 else { return self }
    let whole = max(0, digits.count + exponent)
    var kept = self
    kept.digits = Array(digits.prefix(whole))
    kept.exponent = 0
    let isHalf = digits.count + exponent >= 0 && digits[whole] >= 5
    let isAway: Bool
    switch function {
    case .floor: isAway = isNegative
    case .ceiling: isAway = !isNegative
    default: isAway = isHalf
    }
    if isAway {
      var place = kept.digits.count - 1
      while place >= 0, kept.digits[place] == 9 {
        kept.digits[place] = 0
        place -= 1
      }
      if place >= 0 { kept.digits[place] += 1 } else { kept.digits.insert(1, at: 0) }
    }
    kept.normalize()
    return kept
  }
}
