/// Bytes written as hexadecimal digits, two for each.
package enum Hexadecimal {
  /// The digits are lower case where nothing else is said.
  package static func encode(_ bytes: some Sequence<UInt8>, isUppercase: Bool = false) -> String {
    String(decoding: digits(bytes, isUppercase: isUppercase), as: UTF8.self)
  }

  /// The same as bytes of ASCII.
  package static func digits(_ bytes: some Sequence<UInt8>, isUppercase: Bool = false) -> [UInt8] {
    let letters: UInt8 = isUppercase ? 55 : 87
    var digits: [UInt8] = []
    digits.reserveCapacity(2 * bytes.underestimatedCount)
    for byte in bytes {
      let (high, low) = (byte >> 4, byte & 15)
      digits.append(high + (high < 10 ? 48 : letters))
      digits.append(low + (low < 10 ? 48 : letters))
    }
    return digits
  }

  /// Reads digits of both cases; nil for an odd number of them, and for anything else.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? { decode(Array(text.utf8)) }

  /// The same for bytes of ASCII.
  package static func decode(_ digits: [UInt8]) -> [UInt8]? {
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    for place in stride(from: 0, to: digits.count, by: 2) {
      guard let high = value(digits[place]), let low = value(digits[place + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  /// The number of one digit of ASCII; nil for any other byte.
  package static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x41...0x46: digit - 0x37
    case 0x61...0x66: digit - 0x57
    default: nil
    }
  }
}
