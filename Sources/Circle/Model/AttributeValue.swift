/// The value of one attribute, in the forms that SQLite and JSON both can hold without loss.
///
/// Decimals, unbounded integers, dates and times are `.text` in their canonical form
/// (`AttributeType.canonical`). Values are the same where a database would say so: texts byte for
/// byte, where Swift's `String` takes two Unicode forms of one text for the same; NaN is itself.
public enum AttributeValue: Sendable {
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

extension AttributeValue: Hashable {
  public static func == (one: AttributeValue, other: AttributeValue) -> Bool {
    switch (one, other) {
    case (.null, .null): true
    case (.boolean(let one), .boolean(let other)): one == other
    case (.integer(let one), .integer(let other)): one == other
    case (.double(let one), .double(let other)): one == other || one.isNaN && other.isNaN
    case (.text(let one), .text(let other)): one.hasBytes(of: other)
    case (.bytes(let one), .bytes(let other)): one == other
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .boolean(let value): hasher.combine(value)
    case .integer(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value.isNaN ? .nan : value)
    case .text(let value): value.hashBytes(into: &hasher)
    case .bytes(let value): hasher.combine(value)
    }
  }
}

extension String {
  /// Whether both are the same bytes. `==` takes "e" with a combining acute accent for "é".
  package func hasBytes(of other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    // Where the bytes lie side by side the loop over them is a short one.
    let isSame: Bool?? = utf8.withContiguousStorageIfAvailable { own in
      other.utf8.withContiguousStorageIfAvailable { own.elementsEqual($0) }
    }
    return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
  }

  /// As `hasBytes(of:)` tells texts apart.
  func hashBytes(into hasher: inout Hasher) {
    let isDone: Void? = utf8.withContiguousStorageIfAvailable {
      hasher.combine(bytes: UnsafeRawBufferPointer($0))
    }
    if isDone == nil { Array(utf8).withUnsafeBytes { hasher.combine(bytes: $0) } }
  }
}
