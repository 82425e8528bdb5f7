import Ferry
import FerryModel
import FerrySQLite
import FerryTestTraits
import FerryWorld
import Testing

@testable import Ferry

@Suite("Change log of the device")
struct ChangeLogTests {
  private let shop: Filled
  private let database: FerryDatabase

  init() throws {
    shop = try Filled()
    database = FerryDatabase(
      shop.device.store, ConnectionProfile(server: "http://shop"), nil, SilentTransport(),
      .system())
    try database.enableChangeLog()
  }

  /// What was noted since the last look: object, what became of it, and the owner of its graph.
  private func noted() throws -> [String] {
    let log = try database.getChangeLogs()
    try database.deleteChangeLogs()
    return log.map { entry in
      let owner = entry.rootSurrogateKey.map(String.init) ?? "-"
      return "\(entry.entity) \(entry.surrogateKey) \(entry.operation.rawValue) "
        + "of \(entry.rootEntity) \(owner)"
    }
  }

  private func remark(_ id: String) throws -> Remark {
    Remark(
      record: try #require(
        try Records(shop.device.store).of(Remark.entity, key: ObjectKey([.text(id)]))))
  }

  @Test(
    "A changed part is noted with the owner of its graph, and the owner with it",
    .reference("facts/1.11"))
  func owner() throws {
    var deep = try remark("r1")
    deep.record.set(3, "soft")
    try deep.update()
    #expect(try noted() == ["Remark 1 U of Basket 1", "Basket 1 U of Basket 1"])
    var item = try #require(try shop.item(2))
    item.text = "quince"
    try item.update()
    #expect(try noted() == ["Item 2 U of Basket 1", "Basket 1 U of Basket 1"])
    var basket = try #require(try shop.basket(1))
    basket.name = "more fruit"
    try basket.update()
    #expect(try noted() == ["Basket 1 U of Basket 1"])
    var receipt = Receipt(record: shop.new(.integer(1), .text("2.5"), of: Receipt.entity))
    try receipt.create()
    #expect(try noted() == ["Receipt 1 U of Receipt 1"], "it refers to a basket and is no part")
    var part = try #require(try shop.item(1))
    try part.delete()
    #expect(
      try noted() == [
        "Remark 1 D of Basket 1", "Item 1 D of Basket 1", "Basket 1 U of Basket 1",
      ])
  }

  @Test("Of several owners each part names its own", .reference("facts/1.11"))
  func severalOwners() throws {
    var basket = shop.newBasket("new")
    try basket.create()
    var item = shop.newItem(of: basket.id, 1, "plum")
    try item.create()
    #expect(
      try noted() == ["Item 3 U of Basket 2", "Basket 2 U of Basket 2"],
      "the later entry of one object takes the place of the earlier")
    var lone = shop.newItem(of: 99, 1, "nobody's")
    try lone.create()
    #expect(try noted() == ["Item 4 U of Basket -"], "its owner is not on the device")
  }

  @Test("What comes by import is noted as what the app saves is", .reference("facts/1.11"))
  func imports() throws {
    let (device, shore) = (shop.device, shop.shore)
    shore.put(Item.entity, [.integer(1), .integer(2), .text("quince")])
    shore.put(Basket.entity, [.integer(5), .text("herbs")])
    try device.exchange(shore)
    #expect(
      try noted() == [
        "Item 2 U of Basket 1", "Basket 1 U of Basket 1", "Basket 2 U of Basket 2",
      ])
    shore.remove(Remark.entity, ObjectKey([.text("r1")]))
    try device.exchange(shore)
    #expect(try noted() == ["Remark 1 D of Basket 1", "Basket 1 U of Basket 1"])
    try device.exchange(shore)
    #expect(try noted() == [], "an exchange that brings nothing")
  }

  @Test(
    "An object that comes back is noted as there, and an owner again with each part",
    .reference("facts/1.11"))
  func again() throws {
    var item = try #require(try shop.item(2))
    try item.delete()
    #expect(try database.getChangeLogs().map(\.operation) == [.delete, .upsert])
    try item.cancelPending()
    let log = try database.getChangeLogs()
    #expect(log.map(\.entity) == ["Item", "Basket"] && log.map(\.operation) == [.upsert, .upsert])
    let last = try #require(log.last).number
    var another = shop.newItem(of: 1, 3, "plum")
    try another.create()
    #expect(
      try database.getChangeLogs(after: last).map(\.entity) == ["Item", "Basket"],
      "who goes on after the last number hears of the owner once more")
  }

  @Test(
    "A log that an older Ferry switched on is kept as this one keeps it", .reference("facts/1.11"))
  func older() throws {
    let store = shop.device.store
    try store.write { connection throws(FerryError) in
      try store.sql { () throws(SQLiteError) in
        try connection.execute("DROP TRIGGER \"ferry_log_Item_insert\"")
        try connection.execute(
          """
          CREATE TRIGGER "ferry_log_Item_insert" AFTER INSERT ON "Item" BEGIN
            INSERT OR REPLACE INTO ferry_change_log
              (entity, object, operation, root_entity, root_object)
            VALUES ('Item', new._id, 'U', 'Item', new._id);
          END
          """)
      }
    }
    try shop.device.restart()
    let device = shop.device
    var item = Item(
      record: try #require(
        try Records(device.store).of(Item.entity, key: ObjectKey([.integer(1), .integer(2)]))))
    try item.delete()
    try item.cancelPending()
    let rows = try device.store.read { connection throws(FerryError) in
      try device.store.sql { () throws(SQLiteError) in
        try connection.rows(
          "SELECT operation, root_entity FROM ferry_change_log WHERE entity = 'Item'")
      }
    }
    #expect(rows == [[.text("U"), .text("Basket")]])
  }
}
