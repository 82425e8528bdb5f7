import FerryJSON
import FerryModel

/// The Swift type of a complex type of the model: a generated struct with its parts.
public protocol ComplexValue: AttributeElement, Hashable {
  init(parts: ComplexParts)
  var parts: ComplexParts { get }
}

extension ComplexValue {
  public static var isStructured: Bool { true }
  public var value: AttributeValue { .text(parts.text) }
  public static var attributeDefault: Self { Self(parts: ComplexParts()) }
  public init?(attributeValue: AttributeValue) {
    guard case .text(let text) = attributeValue else { return nil }
    self.init(parts: ComplexParts(text: text))
  }
}

/// The parts of a complex value by name, for conversion to and from the stored JSON.
public struct ComplexParts: Sendable {
  private var json: [String: [UInt8]] = [:]
  private var read: [String: AttributeValue] = [:]

  public init() {}

  fileprivate init(text: String) {
    guard let node = try? JSONNode.parse(Array(text.utf8)), let members = node.object else {
      return
    }
    for member in members { read[member.key] = StructuredText.value(of: member.value) }
  }

  /// Reads a part; a missing part is null.
  public func get<Part: AttributeConvertible>(_ name: String) -> Part {
    Part(value: read[name] ?? .null)
  }

  /// Sets a part; nil leaves it out.
  public mutating func set<Part: AttributeConvertible>(_ name: String, _ part: Part) {
    let value = part.value
    read[name] = value
    json[name] = value.isNull ? nil : StructuredText.json(value, isStructured: Part.isStructured)
  }

  fileprivate var text: String {
    var writer = JSONWriter()
    writer.beginObject()
    for (name, bytes) in json.sorted(by: { $0.key < $1.key }) {
      writer.key(name)
      writer.raw(bytes)
    }
    writer.endObject()
    return writer.text
  }
}

/// Values inside lists and complex values, as JSON.
enum StructuredText {
  static func json(_ value: AttributeValue, isStructured: Bool) -> [UInt8] {
    if isStructured, case .text(let json) = value { return Array(json.utf8) }
    var writer = JSONWriter()
    writer.value(value)
    return writer.bytes
  }

  static func value(of node: JSONNode) -> AttributeValue {
    switch node.content {
    case .null: .null
    case .boolean(let flag): .boolean(flag)
    case .number(let text):
      Int64(text).map(AttributeValue.integer) ?? Double(text).map(AttributeValue.double)
        ?? .text(text)
    case .string(let text): .text(text)
    case .array, .object: .text(CanonicalJSON.text(of: node))
    }
  }

  static func list(_ text: String) -> [AttributeValue] {
    guard let node = try? JSONNode.parse(Array(text.utf8)) else { return [] }
    return (node.array ?? []).map(value)
  }
}
