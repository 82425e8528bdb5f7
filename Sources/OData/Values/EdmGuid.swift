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
    var text = text
    guard let value = text.withUTF8({ EdmGuid(bytes: $0) }) else { return nil }
    self = value
  }

  init?(bytes: UnsafeBufferPointer<UInt8>) {
    guard bytes.count == 36, bytes[8] == 0x2D, bytes[13] == 0x2D, bytes[18] == 0x2D,
      bytes[23] == 0x2D
    else { return nil }
    var fault: UInt8 = 0
    func number(_ range: Range<Int>, _ start: UInt64 = 0) -> UInt64 {
      var value = start
      for place in range {
        let byte = bytes[place]
        let digit = byte &- 0x30
        let letter = (byte | 0x20) &- 0x61
        fault |= digit < 10 || letter < 6 ? 0 : 1
        value = value << 4 | UInt64(digit < 10 ? digit : (letter &+ 10) & 15)
      }
      return value
    }
    let high = number(14..<18, number(9..<13, number(0..<8)))
    let low = number(24..<36, number(19..<23))
    guard fault == 0 else { return nil }
    self.init(high: high, low: low)
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
