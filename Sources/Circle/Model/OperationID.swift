/// 128 random bits, born with the local change.
public struct OperationID: Sendable, Hashable, CustomStringConvertible {
  /// 32 lower-case hexadecimal digits.
  public let text: String

  /// Nil unless the text is 32 lower-case hexadecimal digits.
  public init?(_ text: String) {
    let isDigit = { (byte: UInt8) in (48...57).contains(byte) || (97...102).contains(byte) }
    guard text.utf8.count == 32, text.utf8.allSatisfy(isDigit) else { return nil }
    self.text = text
  }

  public var description: String { text }
}
