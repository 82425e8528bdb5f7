import Ferry
import FerryModel
import FerryReference
import FerryWire
import Testing

@testable import Ferry

@Suite("What holds a temporary key that was replaced", .timeLimit(.minutes(60)))
struct FormerKeyTests {
  private let depot: Depot
  private var database: FerryDatabase { depot.database }

  /// Two baskets with an item each, of which the business system accepts the first as 7.
  private struct Copies {
    let basket: Basket
    let item: Item
    let remark: ObjectRecord
    let receipt: ObjectRecord
    let other: Basket
  }

  init() throws {
    depot = try Depot(model: Baskets.package) { shore, operation in
      switch operation.entity {
      case "Basket": shore.accept(operation.id, newKey: ObjectKey([.integer(7)]))
      case "Item":
        shore.accept(
          operation.id, newKey: ObjectKey([.integer(7), .integer(1)]), changing: [0: .integer(7)])
      case "Remark": shore.accept(operation.id, changing: [1: .integer(7)])
      default: shore.accept(operation.id)
      }
    }
  }

  private func new(_ values: AttributeValue?..., of entity: Entity) throws -> ObjectRecord {
    var record = ObjectRecord(entity, in: database)
    for (position, value) in values.enumerated() { record.values[position] = value ?? .null }
    return try #require(try PendingStore.save(try record.change(.create), in: database.store))
  }

  private func copies() throws -> Copies {
    let basket = try new(nil, .text("new"), of: Basket.entity)
    let key = basket.values[0]
    let item = try new(key, .integer(1), .text("plum"), of: Item.entity)
    let remark = try new(.text("r"), key, .integer(1), .text("soft"), of: Remark.entity)
    let receipt = try new(key, .text("2.5"), of: Receipt.entity)
    let other = try new(nil, .text("other"), of: Basket.entity)
    _ = try new(other.values[0], .integer(1), .text("fig"), of: Item.entity)
    return Copies(
      basket: Basket(record: basket), item: Item(record: item), remark: remark, receipt: receipt,
      other: Basket(record: other))
  }

  private func submit(_ copies: Copies) async throws {
    try await database.start()
    var basket = copies.basket
    try basket.submitPending()
    for _ in 0..<3 { try await database.synchronize() }
    try #require(
      try Records(database.store).of(Basket.entity, key: ObjectKey([.integer(7)])) != nil)
  }

  @Test("leads to its owners and its parts, and is found, by the key that replaced it")
  func relationships() async throws {
    let old = try copies()
    try await submit(old)
    #expect(try old.basket.items().map(\.text) == ["plum"])
    let owner: Basket? = try await old.item.record.related("basket")
    #expect(owner?.id == 7)
    let remarks: [Remark] = try await old.item.record.referring(by: "item")
    #expect(remarks.map(\.record.key) == [ObjectKey([.text("r")])])
    let item: Item? = try await old.remark.related("item")
    #expect(item?.record.key == ObjectKey([.integer(7), .integer(1)]))
    let paid: Basket? = try await old.receipt.related("basket")
    #expect(paid?.id == 7)
    #expect(try old.other.items().map(\.text) == ["fig"])
    // A part that was made since never had another key itself.
    _ = try new(.integer(7), .integer(2), .text("pear"), of: Item.entity)
    let key = ObjectKey([old.basket.record.values[0], .integer(2)])
    #expect(try Records(database.store).of(Item.entity, key: key)?["text"] == .text("pear"))
  }

  @Test("passes and fails the tests that the key which replaced it does")
  func tests() async throws {
    let old = try copies()
    try await submit(old)
    let (key, other) = (old.basket.id, old.other.id)
    func items(_ tests: any QueryTest...) throws -> [String?] {
      try Item.findWithQuery(
        RowQuery(from: "Item").where(CompositeTest(.and, tests)).orderBy(.ascending("text")),
        in: database
      ).map(\.text)
    }
    #expect(try items(AttributeTest("basketID", .equal, key)) == ["plum"])
    #expect(try items(AttributeTest("basketID", .notEqual, key)) == ["fig"])
    #expect(try items(AttributeTest("basketID", .in, [key, other])) == ["fig", "plum"])
    #expect(try items(AttributeTest("basketID", .in, [key, 1])) == ["plum"])
    #expect(try items(AttributeTest("basketID", .notIn, [key])) == ["fig"])
    #expect(
      try items(AttributeTest("basketID", .equal, key), AttributeTest("number", .equal, 1)) == [
        "plum"
      ])
    let id = AttributeOf<Basket, Int64>("id", 0)
    let path = Basket.Attributes.items
    let baskets = try Basket.findAll(where: id == key, prefetching: [path], in: database)
    #expect(try baskets.map(\.id) == [7] && baskets.first?.items().map(\.text) == ["plum"])
    #expect(try Basket.findAll(where: id != key, in: database).map(\.name) == ["other"])
    #expect(try Item.count(where: Item.Attributes.basket.exists(id == key), in: database) == 1)
    let remarks = RowQuery(from: "Remark").where(AttributeTest("basketID", .equal, key))
    #expect(try Remark.findWithQuery(remarks, in: database).count == 1)
    // A delete that is pending hides the object, and its parts still have its key.
    let receipts = RowQuery(from: "Receipt").where(AttributeTest("basketID", .equal, key))
    let basket = try #require(baskets.first)
    try await basket.delete()
    #expect(try database.executeQuery(receipts).count == 1)
  }

  @Test(
    "stays in a live query that was opened with it, running or new, when its create is accepted"
  )
  func live() async throws {
    let old = try copies()
    let id = AttributeOf<Item, Int64>("basketID", 0)
    let items = Item.live(where: id == old.basket.id, in: database)
    let running = items.makeAsyncIterator()
    #expect(try await running.next()?.map(\.text) == ["plum"])
    let listed = Item.live(where: id.isIn([old.basket.id]), in: database).makeAsyncIterator()
    #expect(try await listed.next()?.count == 1)
    try await submit(old)
    for iterator in [running, listed] {
      #expect(try await iterator.next()?.map(\.basketID) == [7])
    }
    _ = try new(.integer(7), .integer(2), .text("pear"), of: Item.entity)
    for iterator in [running, listed, items.makeAsyncIterator()] {
      #expect(try await iterator.next()?.map(\.text) == ["plum", "pear"])
    }
  }
}
