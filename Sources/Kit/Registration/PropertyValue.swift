/// A value of a property of an application connection.
public enum PropertyValue: Sendable, Hashable {
  case text(String)
  case integer(Int64)
  case boolean(Bool)

  /// What a property can hold.
  public enum Kind: String, Sendable, CaseIterable {
    case text, integer, boolean
    /// A moment, as text in ISO 8601; only the server sets one.
    case moment
  }

  /// The value as text, such as `true` and `42`.
  public var text: String {
    switch self {
    case .text(let text): text
    case .integer(let number): String(number)
    case .boolean(let flag): flag ? "true" : "false"
    }
  }

  /// The value that a text is of this kind; nil where it is none.
  public init?(_ text: String, _ kind: Kind) {
    switch kind {
    case .text, .moment: self = .text(text)
    case .integer:
      // The type of the reference has 32 bits.
      guard let number = Int32(text) else { return nil }
      self = .integer(Int64(number))
    case .boolean:
      switch text {
      case "true", "1": self = .boolean(true)
      case "false", "0": self = .boolean(false)
      default: return nil
      }
    }
  }
}

extension PropertyValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral
{
  public init(stringLiteral text: String) { self = .text(text) }
  public init(booleanLiteral flag: Bool) { self = .boolean(flag) }
  public init(integerLiteral number: Int64) { self = .integer(number) }
}
