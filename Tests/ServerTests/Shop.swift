import FerryModel

/// A small shop: products for everyone, orders for their employee, lines through their order, notes
/// through a line's unique code.
enum Shop {
  static let product = entity(
    "Product", [("id", .int, false), ("name", .string, true)], key: [0])
  static let order = entity(
    "Order",
    [("id", .int, false), ("employee", .int, true), ("ship", .string, true)], key: [0],
    partition: .columns([PartitionColumn(attribute: "employee", source: .claim("employee"))]))
  static let line = entity(
    "Line",
    [
      ("order", .int, false), ("number", .int, false), ("code", .string, true),
      ("text", .string, true),
    ],
    key: [0, 1],
    relationships: [
      Relationship(name: "order", target: "Order", attributes: ["order"], targetAttributes: ["id"])
    ], partition: .through(relationship: "order"))
  static let note = entity(
    "Note", [("id", .int, false), ("line", .string, true)], key: [0],
    relationships: [
      Relationship(name: "line", target: "Line", attributes: ["line"], targetAttributes: ["code"])
    ], partition: .through(relationship: "line"))
  static let audit = entity(
    "Audit", [("id", .int, false), ("what", .string, true)], key: [0], operations: [.create])
  static let all: [Entity] = [product, order, line, note, audit]
  static let package = Package(
    name: "shop", version: "1.0", entities: all, groups: [SynchronizationGroup(name: "sales")])

  static func entity(
    _ name: String, _ attributes: [(String, AttributeType, Bool)], key: [Int],
    relationships: [Relationship] = [],
    operations: Set<OperationKind> = [.create, .update, .delete],
    partition: PartitionRule? = nil, group: String = "sales", allowsBlindWrites: Bool = true
  ) -> Entity {
    Entity(
      name: name, table: name,
      attributes: attributes.map {
        Attribute(name: $0.0, column: $0.0, type: $0.1, isNullable: $0.2)
      }, key: key, keyOrigin: .app, relationships: relationships, operations: operations,
      partition: partition, group: group, allowsBlindWrites: allowsBlindWrites)
  }

  static func order(_ id: Int64, _ employee: Int64?, _ ship: String) -> [AttributeValue] {
    [.integer(id), employee.map(AttributeValue.integer) ?? .null, .text(ship)]
  }

  static func line(_ order: Int64, _ number: Int64, _ text: String = "") -> [AttributeValue] {
    [.integer(order), .integer(number), .text("\(order)-\(number)"), .text(text)]
  }
}
