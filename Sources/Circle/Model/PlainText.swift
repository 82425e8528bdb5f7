import FerryJSON
import FerryText

extension AttributeValue {
  /// The value as people write it in settings and claims: no quotes, bytes in Base64; null is empty.
  public var plainText: String {
    switch self {
    case .null: ""
    case .boolean(let flag): flag ? "true" : "false"
    case .integer(let number): String(number)
    case .double(let number): number.description
    case .text(let text): text
    case .bytes(let bytes): Base64.encode(bytes)
    }
  }
}

extension AttributeType {
  /// Reads `AttributeValue.plainText` of this type; nil when the text is no value of it.
  public func value(plainText text: String) -> AttributeValue? {
    switch self {
    case .boolean: text == "true" ? .boolean(true) : text == "false" ? .boolean(false) : nil
    case .byte, .short, .int, .long: Int64(text).flatMap { canonical(.integer($0)) }
    case .float, .double: Double(text).map { .double($0) }
    case .binary: Base64.decode(text).map { .bytes($0) }
    default: canonical(.text(text))
    }
  }
}
