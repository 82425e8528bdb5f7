/// The value of one attribute, in the forms that SQLite and JSON both can hold without loss.
///
/// Decimals, unbounded integers, dates and times are `.text` in their canonical form
/// (`AttributeType.canonical`).
public enum Value: Sendable, Hashable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case double(Double)
  case text(String)
  case bytes([UInt8])

  public var isNull: Bool { self == .null }

  /// For messages to people: text in quotes, bytes as their count.
  public var shown: String {
    switch self {
    case .null: "null"
    case .boolean(let value): value ? "true" : "false"
    case .integer(let value): String(value)
    case .double(let value): value.description
    case .text(let value): "\"\(value)\""
    case .bytes(let value): "\(value.count) bytes"
    }
  }
}
