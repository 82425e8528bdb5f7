import FerryModel
import FerrySQLite
import FerryWorld
import Testing

@testable import Ferry

/// An app was updated, and one of its processes still runs as it was. Shows sync/P1 for two at once.
@Suite("A newer model on a database that is open with the older one")
struct ModelGuardTests {
  private func newer(_ more: [Attribute] = []) -> Package {
    let shop = Order.entity
    let order = Entity(
      name: shop.name, table: shop.table, attributes: shop.attributes + more, key: shop.key,
      keyOrigin: shop.keyOrigin, relationships: shop.relationships, operations: shop.operations,
      partition: shop.partition, group: shop.group)
    return Package(
      name: "Shop", version: "1.1", entities: [order, Line.entity],
      groups: [SynchronizationGroup(name: "default")])
  }

  private func open(_ shop: Stocked, _ model: Package) throws -> Store {
    try Store(path: shop.device.path, model: model, world: .system(), durability: .application)
  }

  @Test(
    "The older one is told at its next read or save, and nothing of that is saved",
    arguments: [
      [], [Attribute(name: "note", column: "note", type: .string, isNullable: true)],
    ])
  func told(_ more: [Attribute]) throws {
    let shop = try Stocked()
    var order = try #require(try shop.device.order(1))
    order.city = "Kiel"
    try order.update()
    order.city = "Ulm"
    let newer = try open(shop, newer(more))
    for attempt in [{ try order.update() }, { _ = try shop.device.order(2) }] {
      let error = #expect(throws: FerryError.self) { try attempt() }
      #expect(error?.code == .incompatibleModel)
      #expect(error?.message.contains("another process migrated the database") == true)
      #expect(error?.hint.contains("Close it") == true)
    }
    #expect(throws: FerryError.self) { _ = try shop.device.request() }
    let left = try newer.read { connection throws(FerryError) in
      try newer.sql { () throws(SQLiteError) in
        try OperationTable(newer, connection).select("ORDER BY sequence", [])
      }
    }
    #expect(left.map(\.changed) == [[2: .text("Kiel")]])
  }

  @Test("Tables of a newer Ferry are left alone; another index is no other model")
  func tables() throws {
    let shop = try Stocked()
    var order = try #require(try shop.device.order(1))
    let other = try Connection(path: shop.device.path)
    try other.execute("CREATE INDEX anybody ON ferry_page (partition)")
    order.city = "Kiel"
    try order.update()
    try other.execute("DROP INDEX anybody; PRAGMA user_version = \(Schema.version + 1)")
    order.city = "Ulm"
    let error = #expect(throws: FerryError.self) { try order.update() }
    #expect(error?.code == .incompatibleModel)
  }

  @Test("Opened a second time with the same model, both go on")
  func same() throws {
    let shop = try Stocked()
    var order = try #require(try shop.device.order(1))
    let second = try open(shop, shop.device.store.model)
    order.city = "Kiel"
    try order.update()
    let cities = try Records(second).all(Order.entity, "ORDER BY _id", []).map { $0.values[2] }
    #expect(cities.first == .text("Kiel"))
  }
}
