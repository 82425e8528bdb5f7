import FerryModel

/// A table of a number and a name, for tests of what becomes of its rows.
enum ItemTable {
  static let entity = Entity(
    name: "Item", table: "item",
    attributes: [
      Attribute(name: "id", column: "id", type: .long, isNullable: false),
      Attribute(name: "name", column: "name", type: .string, isNullable: true),
    ], key: [0], keyOrigin: .app, relationships: [], operations: Set(OperationKind.allCases),
    partition: nil, group: "all")

  static let package = Package(
    name: "items", version: "1.0", entities: [entity], groups: [SynchronizationGroup(name: "all")])
}
