import FerryText
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
    guard let bytes = Hexadecimal.decode(text) else { return nil }
    self.init(bytes: bytes)
  }

  /// 32 digits in lower case.
  public var hexadecimal: String { Hexadecimal.encode(bytes) }
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
