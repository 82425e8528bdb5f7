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
    ModelKey("types"), ModelKey("parameters"), ModelKey("roles"),
  ]

  public static let entity: [ModelKey] = [
    ModelKey("name", required: true), ModelKey("table"), ModelKey("group"),
    ModelKey("attributes", required: true), ModelKey("key", required: true), ModelKey("keyOrigin"),
    ModelKey("unique"), ModelKey("relationships"), ModelKey("operations"), ModelKey("partition"),
    ModelKey("roles"), ModelKey("clientOnly"), ModelKey("performs"), ModelKey("queries"),
    ModelKey("blindWrites"), ModelKey("documentation"), ModelKey("connection"), ModelKey("window"),
  ]

  public static let attribute: [ModelKey] = [
    ModelKey("name", required: true), ModelKey("column"), ModelKey("type", required: true),
    ModelKey("nullable"), ModelKey("maxLength"), ModelKey("stored"), ModelKey("fullText"),
    ModelKey("of"), ModelKey("default"), ModelKey("clientOnly"),
    ModelKey("precision"), ModelKey("scale"), ModelKey("values"), ModelKey("documentation"),
  ]

  /// Of a part of a complex type: it stands in no column of its own.
  public static let part: [ModelKey] = [
    ModelKey("name", required: true), ModelKey("type", required: true), ModelKey("nullable"),
    ModelKey("maxLength"), ModelKey("of"), ModelKey("precision"), ModelKey("scale"),
    ModelKey("documentation"),
  ]

  public static let relationship: [ModelKey] = [
    ModelKey("name", required: true), ModelKey("target", required: true),
    ModelKey("attributes", required: true), ModelKey("targetAttributes"), ModelKey("inverse"),
    ModelKey("composite"), ModelKey("anyTarget"),
  ]

  public static let complexType: [ModelKey] = [
    ModelKey("name", required: true), ModelKey("attributes", required: true),
  ]

  public static let query: [ModelKey] = [
    ModelKey("name", required: true), ModelKey("parameters"), ModelKey("where"),
    ModelKey("orderBy"), ModelKey("single"),
  ]

  public static let parameter: [ModelKey] = [
    ModelKey("name", required: true), ModelKey("type", required: true), ModelKey("nullable"),
  ]

  public static let packageParameter: [ModelKey] = [
    ModelKey("name", required: true), ModelKey("type", required: true), ModelKey("kind"),
    ModelKey("default"), ModelKey("from"),
  ]

  public static let roles: [ModelKey] = Permission.allCases.map { ModelKey($0.rawValue) }

  public static let partition: [ModelKey] = [ModelKey("columns"), ModelKey("through")]

  public static let window: [ModelKey] = [
    ModelKey("column", required: true), ModelKey("from", required: true),
    ModelKey("to", required: true), ModelKey("at"), ModelKey("zone"),
  ]
}
