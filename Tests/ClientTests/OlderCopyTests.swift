import Ferry
import FerryModel
import FerryTestTraits
import FerryWire
import Testing

@testable import Ferry

/// Copies in the app's hands that were made before the business system gave an object its key.
@Suite("Copies that are older than a key")
struct OlderCopyTests {
  private let shop: Filled

  init() throws { shop = try Filled() }

  private func new(_ values: AttributeValue?..., of entity: Entity) throws -> ObjectRecord {
    var record = ObjectRecord(entity, store: shop.device.store)
    for (position, value) in values.enumerated() { record.values[position] = value ?? .null }
    return try #require(try PendingStore.save(try record.change(.create), in: shop.device.store))
  }

  private func delete(_ record: ObjectRecord) throws {
    _ = try PendingStore.save(try record.change(.delete), in: shop.device.store)
  }

  /// A basket, an item of it and a remark on that, from before the basket got the key 7.
  private func copies() throws -> (basket: ObjectRecord, item: ObjectRecord, remark: ObjectRecord) {
    let basket = try new(nil, .text("new"), of: Basket.entity)
    let item = try new(basket.values[0], .integer(1), .text("plum"), of: Item.entity)
    let remark = try new(
      .text("r2"), basket.values[0], .integer(1), .text("soft"), of: Remark.entity)
    _ = try Outbox(shop.device.store).submit(Basket.entity, try #require(basket.object))
    try shop.device.exchange(shop.shore)
    for operation in shop.shore.stored.values.sorted(by: { $0.position < $1.position }) {
      switch operation.entity {
      case "Basket": shop.shore.accept(operation.id, newKey: ObjectKey([.integer(7)]))
      case "Item":
        shop.shore.accept(
          operation.id, newKey: ObjectKey([.integer(7), .integer(1)]), changing: [0: .integer(7)])
      default: shop.shore.accept(operation.id, changing: [1: .integer(7)])
      }
    }
    try shop.device.exchange(shop.shore)
    try #require(try shop.device.operations().isEmpty)
    return (basket, item, remark)
  }

  @Test(
    "A new object that refers to one by its temporary key refers to it by its key",
    .reference("sync/P11"))
  func create() throws {
    let old = try copies()
    let item = try new(old.basket.values[0], .integer(2), .text("fig"), of: Item.entity)
    #expect(item.key == ObjectKey([.integer(7), .integer(2)]))
    let operation = try #require(try shop.device.operations().first)
    #expect(operation.key == item.key && operation.changed[0] == .integer(7))
    #expect(operation.root == LocalObject("Basket", try #require(old.basket.object)))
    // One that was made since had never another key; the temporary one is its owner's.
    let remark = try new(
      .text("r3"), old.basket.values[0], .integer(2), .text("ripe"), of: Remark.entity)
    #expect(remark.values[1] == .integer(7))
    #expect(try shop.device.operations()[1].root == operation.root)
    let receipt = try new(old.basket.values[0], .text("2"), of: Receipt.entity)
    #expect(receipt.key == ObjectKey([.integer(7)]))
    #expect(try shop.device.operations().last?.key == receipt.key)
    #expect(throws: FerryError.self, "its key is that of another") {
      _ = try new(old.basket.values[0], .integer(1), nil, of: Item.entity)
    }
  }

  @Test("A delete is based on the key that the object it refers to has")
  func deleted() throws {
    let old = try copies()
    try delete(old.remark)
    #expect(
      try shop.device.operations().map(\.base) == [
        [0: .text("r2"), 1: .integer(7), 2: .integer(1), 3: .text("soft")]
      ])
  }

  @Test("So is a change of the reference, and a reference by the key it has is no change")
  func update() throws {
    let old = try copies()
    var copy = old.remark
    copy.values[1] = .integer(7)
    var saved = try #require(try PendingStore.save(try copy.change(.update), in: shop.device.store))
    #expect(try shop.device.operations().isEmpty && saved.pending == .none)
    copy = old.remark
    copy.values[1] = .integer(1)
    saved = try #require(try PendingStore.save(try copy.change(.update), in: shop.device.store))
    #expect(try shop.device.operations().map(\.changed) == [[1: .integer(1)]])
    #expect(try shop.device.operations().map(\.base) == [[1: .integer(7)]])
    // Back to the object, by the key that the app knew it by.
    saved.values[1] = old.basket.values[0]
    saved = try #require(try PendingStore.save(try saved.change(.update), in: shop.device.store))
    #expect(saved.values[1] == .integer(7))
  }

  @Test("A part whose key has its owner's is changed and deleted from such a copy")
  func part() throws {
    var item = try copies().item
    item.values[2] = .text("fig")
    item = try #require(try PendingStore.save(try item.change(.update), in: shop.device.store))
    #expect(item.key == ObjectKey([.integer(7), .integer(1)]))
    try delete(item)
    let base = try shop.device.operations().first { $0.entity == "Item" }?.base
    #expect(base == [0: .integer(7), 1: .integer(1), 2: .text("plum")])
  }
}
