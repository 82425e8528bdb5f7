import FerryModel
import FerryServer

/// What every store of a server must do: numbers, snapshots, pages, floors, answers, claims, sessions,
/// contents, loads and upkeep, and what a crash between two verbs leaves.
package enum StoreSuite {
  static let item: Entity = Entity(
    name: "Item", table: "Items",
    attributes: [
      Attribute(name: "id", column: "ID", type: .long, isNullable: false),
      Attribute(name: "text", column: "Text", type: .string, isNullable: true),
    ], key: [0], keyOrigin: .app, relationships: [], operations: Set(OperationKind.allCases),
    partition: nil, group: "all")
  static let part: Entity = Entity(
    name: "Part", table: "Parts",
    attributes: [
      Attribute(name: "id", column: "ID", type: .long, isNullable: false),
      Attribute(name: "item", column: "Item", type: .long, isNullable: true),
    ], key: [0], keyOrigin: .app, relationships: [], operations: [], partition: nil, group: "all")

  package static let package: Package = Package(
    name: "suite", version: "1.0", entities: [item, part],
    groups: [SynchronizationGroup(name: "all")])

  package static let cases: [StoreCase] =
    numbers + pages + operations + desk + sessions + connections + contents + loads + upkeep

  static let ada: Owner = Owner(device: "phone", user: "ada")
  static let ben: Owner = Owner(device: "tablet", user: "ben")

  static func place(_ value: String) -> Place {
    Place(group: "all", rule: "claim:depot", values: "\"\(value)\"")
  }

  static func name(_ key: Int64) -> RowName { RowName(0, ObjectKey([.integer(key)])) }

  /// Any hash does; large ones, so that sums go round.
  static func hash(_ body: [UInt8]) -> Int64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in body { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return Int64(bitPattern: hash)
  }
}
