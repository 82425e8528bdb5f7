import FerryWorld

/// Sixteen bytes that name a session, a transaction or a request.
public struct TraceID: Sendable, Hashable {
  public let bytes: [UInt8]

  /// nil unless there are sixteen bytes, not all of them zero.
  public init?(bytes: [UInt8]) {
    guard bytes.count == 16, bytes.contains(where: { $0 != 0 }) else { return nil }
    self.bytes = bytes
  }

  /// Makes a new random id.
  public init(_ chance: any Chance) {
    var bytes = chance.bytes(16)
    // All zeros mean that there is none.
    bytes[15] |= 1
    self.bytes = bytes
  }

  /// nil unless there are 32 hexadecimal digits.
  public init?(hexadecimal text: String) {
    guard let bytes = traceBytes(text) else { return nil }
    self.init(bytes: bytes)
  }

  /// 32 digits in lower case.
  public var hexadecimal: String { traceHexadecimal(bytes) }
}

/// Two digits a byte. Each request needs some hundreds of them, so they are written in place.
func traceHexadecimal(_ bytes: [UInt8], isUppercase: Bool = false) -> String {
  let letters: UInt8 = isUppercase ? 55 : 87
  return String(unsafeUninitializedCapacity: 2 * bytes.count) { digits in
    for (place, byte) in bytes.enumerated() {
      let (high, low) = (byte >> 4, byte & 15)
      digits[2 * place] = high + (high < 10 ? 48 : letters)
      digits[2 * place + 1] = low + (low < 10 ? 48 : letters)
    }
    return 2 * bytes.count
  }
}

func traceBytes(_ text: String) -> [UInt8]? {
  let digits = Array(text.utf8)
  guard digits.count % 2 == 0 else { return nil }
  func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 48...57: digit - 48
    case 65...70: digit - 55
    case 97...102: digit - 87
    default: nil
    }
  }
  var bytes: [UInt8] = []
  for place in stride(from: 0, to: digits.count, by: 2) {
    guard let high = value(digits[place]), let low = value(digits[place + 1]) else { return nil }
    bytes.append(high << 4 | low)
  }
  return bytes
}

/// How much servers trace for a traced client.
public enum TraceLevel: Int, Sendable, CaseIterable {
  /// The client alone; no server traces.
  case clientOnly = 0
  /// Servers measure the distribution of response times.
  case low = 1
  /// Servers measure performance; the default.
  case medium = 2
  /// Servers trace functions.
  case high = 3

  /// The two bytes of a passport's trace flags.
  public var flags: [UInt8] {
    switch self {
    case .clientOnly, .low: [0x00, 0x00]
    case .medium: [0x89, 0x0D]
    case .high: [0x9F, 0x0D]
    }
  }
}
