import FerryJSON

/// The business key of an object in canonical text: its values as JSON, joined by commas.
///
/// `10248`, `"ALFKI"`, `10248,11`. Equal keys have equal texts, so the text is what stores and
/// messages compare: byte for byte, as `AttributeValue`s are.
public struct ObjectKey: Sendable, CustomStringConvertible {
  public let text: String

  /// `values` in the order of the entity's key, each canonical for its type.
  public init(_ values: [AttributeValue]) {
    var writer = JSONWriter(reserving: 32)
    for value in values { writer.value(value) }
    text = writer.text
  }

  /// Takes a text that a `ObjectKey` gave before.
  public init(text: String) { self.text = text }

  public var description: String { text }

  /// The values, or nil when the text is not a key of this entity.
  public func values(of entity: Entity) -> [AttributeValue]? {
    let types = entity.key.map { entity.attributes[$0].type }
    return try? RowCoder.decode(Array("[\(text)]".utf8), types: types)
  }
}

extension ObjectKey: Hashable {
  public static func == (one: ObjectKey, other: ObjectKey) -> Bool {
    one.text.hasBytes(of: other.text)
  }
  public func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}

extension ObjectKey: Comparable {
  /// By the bytes of the texts, so that only equal keys are neither before nor behind each other.
  public static func < (one: ObjectKey, other: ObjectKey) -> Bool {
    one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
  }
}
