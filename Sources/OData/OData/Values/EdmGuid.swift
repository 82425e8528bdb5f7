/// A 128-bit identifier.
public struct EdmGuid: Sendable, Hashable, CustomStringConvertible {
  /// The first 16 hexadecimal digits.
  public let high: UInt64
  /// The last 16 hexadecimal digits.
  public let low: UInt64

  /// The halves in the order of the text.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Reads `12345678-aaaa-bbbb-cccc-ddddeeeeffff` in either case.
  public init?(_ text: String) {
    var text = text
    guard let value = text.withUTF8({ EdmGuid(bytes: $0) }) else { return nil }
    self = value
  }

  init?(bytes: UnsafeBufferPointer<UInt8>) {
    guard bytes.count == 36, bytes[8] == 0x2D, bytes[13] == 0x2D, bytes[18] == 0x2D,
      bytes[23] == 0x2D
    else { return nil }
    /// The eight digits that begin at two places, four at each.
    func eight(_ first: Int, _ second: Int) -> UInt64 {
      var word: UInt64 = 0
      for place in first..<(first + 4) { word = word << 8 | UInt64(bytes[place]) }
      for place in second..<(second + 4) { word = word << 8 | UInt64(bytes[place]) }
      return word
    }
    guard let one = Self.number(eight(0, 4)), let two = Self.number(eight(9, 14)),
      let three = Self.number(eight(19, 24)), let four = Self.number(eight(28, 32))
    else { return nil }
    self.init(high: one << 32 | two, low: three << 32 | four)
  }

  /// The number that eight hexadecimal digits write, all of them at once: which of them are letters
  /// is as good as random, and a branch on it would be guessed wrong half of the time.
  private static func number(_ digits: UInt64) -> UInt64? {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let high = ones &* 0x80
    // What is added to a byte under 128 brings its first bit where the byte is not below a limit.
    func isAtLeast(_ limit: UInt8, _ word: UInt64) -> UInt64 {
      word &+ ones &* UInt64(0x80 - limit)
    }
    let lower = digits | ones &* 0x20
    let isDigit = isAtLeast(0x30, digits) & ~isAtLeast(0x3A, digits)
    let isLetter = isAtLeast(0x61, lower) & ~isAtLeast(0x67, lower)
    guard digits & high == 0, (isDigit | isLetter) & high == high else { return nil }
    var value = (digits & (ones &* 0x0F)) &+ ((digits >> 6) & ones) &* 9
    value = (value | value >> 4) & 0x00FF_00FF_00FF_00FF
    value = (value | value >> 8) & 0x0000_FFFF_0000_FFFF
    return (value | value >> 16) & 0xFFFF_FFFF
  }

  public var description: String {
    func hex(_ value: UInt64, _ shift: UInt64, _ count: Int) -> String {
      let mask: UInt64 = (1 << (UInt64(count) * 4)) - 1
      let text = String((value >> shift) & mask, radix: 16)
      return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
    return "\(hex(high, 32, 8))-\(hex(high, 16, 4))-\(hex(high, 0, 4))-"
      + "\(hex(low, 48, 4))-\(hex(low, 0, 12))"
  }
}
