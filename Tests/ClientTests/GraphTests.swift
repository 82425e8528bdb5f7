import Ferry
import FerryModel
import FerrySQLite
import FerryTestTraits
import FerryWire
import Testing

@testable import Ferry

@Suite("Composite graphs and what leads from object to object")
struct GraphTests {
  @Test("Submitting any part of a composite graph submits all of it, as one")
  func submitted() throws {
    let shop = try Filled()
    var basket = shop.newBasket("new")
    try basket.create()
    var item = shop.newItem(of: basket.id, 1, "plum")
    try item.create()
    var remark = Remark(
      record: shop.new(
        .text("r2"), .integer(basket.id), .integer(1), .text("soft"), of: Remark.entity))
    try remark.create()
    var other = try #require(try shop.item(2))
    other.text = "quince"
    try other.update()
    try remark.submitPending()
    #expect(try shop.sent() == ["Basket create 1/3", "Item create 2/3", "Remark create 3/3"])
    #expect(try shop.item(2)?.replayPending == 0, "the other basket is another graph")
  }

  @Test("The key that the business system gives reaches the whole graph and all that refers to it")
  func keys() throws {
    let shop = try Filled()
    var basket = shop.newBasket("new")
    try basket.create()
    let temporary = basket.id
    var item = shop.newItem(of: temporary, 1, "plum")
    try item.create()
    var remark = Remark(
      record: shop.new(
        .text("r2"), .integer(temporary), .integer(1), .text("soft"), of: Remark.entity))
    try remark.create()
    var receipt = Receipt(
      record: shop.new(.integer(temporary), .text("2.5"), of: Receipt.entity))
    try receipt.create()
    try basket.submitPending()
    try shop.device.exchange(shop.shore)
    let create = try #require(shop.shore.stored.values.first { $0.entity == "Basket" })
    #expect(
      create.key == nil && create.changed[0] == .integer(temporary),
      "the others of the chain know it by its temporary key")
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
    #expect(try shop.names(Basket.entity) == ["1 N", "7 N"])
    #expect(try shop.names(Item.entity) == ["1,1 N", "1,2 N", "7,1 N"])
    #expect(try shop.names(Remark.entity) == ["\"r1\" N", "\"r2\" N"])
    #expect(
      try Records(shop.device.store).all(Remark.entity, "ORDER BY _id", [])[1]["basketID"]
        == .integer(7)
    )
    #expect(try shop.names(Receipt.entity) == ["7 C"], "not part of the graph: it waits, rekeyed")
    try receipt.refresh()
    #expect(receipt.record["basketID"] == .integer(7))
  }

  @Test("Deleting an object deletes its parts, and cancelling that brings all of them back")
  func cascade() throws {
    let shop = try Filled()
    var basket = try #require(try shop.basket(1))
    try basket.delete()
    #expect(try shop.names(Item.entity) == [] && shop.names(Remark.entity) == [])
    #expect(try shop.device.operations().count == 4)
    try basket.cancelPending()
    #expect(try shop.names(Basket.entity) == ["1 N"])
    #expect(try shop.names(Item.entity) == ["1,1 N", "1,2 N"])
    #expect(try shop.names(Remark.entity) == ["\"r1\" N"] && shop.device.operations().isEmpty)
  }

  @Test("Decision 0018, 3: who edits an owner whose delete was refused keeps its parts, too")
  func keptAfterRefusal() throws {
    let shop = try Filled()
    var basket = try #require(try shop.basket(1))
    try basket.delete()
    try basket.submitPending()
    try shop.device.exchange(shop.shore)
    #expect(shop.shore.stored.count > 1)
    for id in shop.shore.stored.keys { shop.shore.refuse(id) }
    try shop.device.exchange(shop.shore)
    basket = try #require(try shop.basket(1))
    basket.name = "fig"
    try basket.update()
    let left = try shop.device.operations()
    #expect(left.map(\.entity) == ["Basket"] && left.map(\.kind) == [.update])
    #expect(try shop.item(1)?.isPending == false && shop.item(1)?.isDeleted == false)
  }

  @Test("Creating a graph and deleting it leaves nothing to send")
  func createdAndDeleted() throws {
    let shop = try Filled()
    var basket = shop.newBasket("new")
    try basket.create()
    var item = shop.newItem(of: basket.id, 1, "plum")
    try item.create()
    try basket.delete()
    #expect(try shop.device.operations().isEmpty && basket.isDeleted && !basket.isPending)
    #expect(try shop.names(Item.entity) == ["1,1 N", "1,2 N"])
  }

  @Test(
    "An owner is pending with its parts, and says that it is only for them", .reference("facts/1.3")
  )
  func parentLetter() throws {
    let shop = try Filled()
    var item = try #require(try shop.item(1))
    item.text = "quince"
    try item.update()
    let basket = try #require(try shop.basket(1))
    #expect(basket.isPending && basket.pendingChange == .parent && !basket.isUpdated)
    let own = try PendingObjects(shop.device.store).all(
      Basket.entity, nil, .all, skip: 0, take: nil)
    #expect(own.isEmpty)
    var owner = basket
    try owner.submitPending()
    #expect(try shop.item(1)?.replayPending != 0, "submitting the owner submits what it owns")
    try owner.cancelPending()
    #expect(try shop.item(1)?.text == "apple" && !owner.isPending)
  }

  @Test(
    "Every owner above a pending part says so, in its row and to a filter", .reference("facts/1.3"))
  func middleOwner() throws {
    let shop = try Filled()
    var remark = try #require(
      try Records(shop.device.store).of(Remark.entity, key: ObjectKey([.text("r1")]))
    )
    let letters = {
      try [shop.basket(1)?.record, shop.item(1)?.record, shop.item(2)?.record].map {
        $0?.pending.rawValue
      }
    }
    let filtered = { (entity: Entity, filter: EntityFilter) in
      try RowQuery(from: entity.name).entityFilter(filter).objects(
        of: entity, in: shop.device.store
      ) {
        $0
      }
      .count
    }
    remark.values[3] = .text("sweet")
    remark = try #require(try PendingStore.save(try remark.change(.update), in: shop.device.store))
    #expect(try letters() == ["P", "P", "N"])
    #expect(try filtered(Basket.entity, .pending) == 1 && filtered(Basket.entity, .notPending) == 0)
    #expect(try filtered(Item.entity, .pending) == 1 && filtered(Item.entity, .notPending) == 1)
    #expect(try filtered(Item.entity, .updated) == 0)
    _ = try PendingStore.cancel(Remark.entity, try #require(remark.object), in: shop.device.store)
    #expect(try letters() == ["N", "N", "N"])
    _ = try PendingStore.save(try remark.change(.delete), in: shop.device.store)
    #expect(try letters() == ["P", "P", "N"], "a delete that is pending below it")
    try shop.device.store.cleanAllData()
    try shop.device.exchange(shop.shore)
    #expect(try letters() == ["N", "N", "N"])
  }

  @Test("An attribute that the model does not have is an error of the import that names it")
  func unknownAttribute() throws {
    let order = Entity(
      name: "Order", table: "orders",
      attributes: Order.entity.attributes + [
        Attribute(name: "colour", column: "colour", type: .string, isNullable: true)
      ], key: [0], keyOrigin: .businessSystem, relationships: [], operations: [], partition: nil,
      group: "default")
    let shore = Shore(
      Package(
        name: "Shop", version: "1.0", entities: [order, Line.entity],
        groups: [SynchronizationGroup(name: "default")]))
    let device = try Device().loggedIn()
    shore.put(order, [.integer(9), .text("ALFKI"), .null, .null, .text("red")])
    let error = #expect(throws: FerryError.self) { try device.exchange(shore) }
    #expect(error?.entity == "Order" && error?.attribute == "colour")
    #expect(
      error?.hint
        == "The server uses another model; update the app or the server, and synchronize again."
    )
    #expect(try device.orders().isEmpty)
  }
}
