/// The keys that the parts of a model file may have, for the reader, its hints and the schema.
public struct ModelKey: Sendable, Hashable {
  public let name: String
  public let isRequired: Bool

  init(_ name: String, required: Bool = false) {
    self.name = name
    isRequired = required
  }

  public static let package: [ModelKey] = [
    ModelKey("$schema"), ModelKey("source"), ModelKey("name", required: true),
    ModelKey("version", required: true), ModelKey("groups"), ModelKey("entities", required: true),
  ]

  public static let entity: [ModelKey] = [
    ModelKey("name", required: true), ModelKey("table"), ModelKey("group"),
    ModelKey("attributes", required: true), ModelKey("key", required: true), ModelKey("keyOrigin"),
    ModelKey("unique"), ModelKey("relationships"), ModelKey("operations"), ModelKey("partition"),
  ]

  public static let attribute: [ModelKey] = [
    ModelKey("name", required: true), ModelKey("column"), ModelKey("type", required: true),
    ModelKey("nullable"), ModelKey("maxLength"), ModelKey("stored"), ModelKey("fullText"),
  ]

  public static let relationship: [ModelKey] = [
    ModelKey("name", required: true), ModelKey("target", required: true),
    ModelKey("attributes", required: true), ModelKey("targetAttributes"), ModelKey("inverse"),
  ]

  public static let partition: [ModelKey] = [ModelKey("columns"), ModelKey("through")]
}
