/// A 128-bit identifier.
public struct EdmGuid: Sendable, Hashable, CustomStringConvertible {
  public let high: UInt64
  public let low: UInt64

  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Reads `12345678-aaaa-bbbb-cccc-ddddeeeeffff` in either case.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count == 36 else { return nil }
    var halves: (UInt64, UInt64) = (0, 0)
    var digits = 0
    for (index, byte) in bytes.enumerated() {
      if index == 8 || index == 13 || index == 18 || index == 23 {
        guard byte == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let digit = hexadecimalDigit(byte) else { return nil }
      if digits < 16 {
        halves.0 = halves.0 << 4 | UInt64(digit)
      } else {
        halves.1 = halves.1 << 4 | UInt64(digit)
      }
      digits += 1
    }
    (high, low) = halves
  }

  public var description: String {
    func hex(_ value: UInt64, _ shift: UInt64, _ count: Int) -> String {
      let mask: UInt64 = (1 << (UInt64(count) * 4)) - 1
      let text = String((value >> shift) & mask, radix: 16)
      return String(repeating: "0", count: count - text.utf8.count) + text
    }
    return "\(hex(high, 32, 8))-\(hex(high, 16, 4))-\(hex(high, 0, 4))-"
      + "\(hex(low, 48, 4))-\(hex(low, 0, 12))"
  }
}

func hexadecimalDigit(_ byte: UInt8) -> UInt8? {
  switch byte {
  case 0x30...0x39: byte - 0x30
  case 0x41...0x46: byte - 0x37
  case 0x61...0x66: byte - 0x57
  default: nil
  }
}
