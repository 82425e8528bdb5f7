import Ferry
import FerryModel
import FerryWire

@testable import Ferry

/// A package with a composite graph: baskets own items, items own remarks.
enum Baskets {
  static let package = Package(
    name: "Baskets", version: "1.0",
    entities: [Basket.entity, Item.entity, Remark.entity, Receipt.entity],
    groups: [SynchronizationGroup(name: "default")])
}

struct Basket: BusinessObject {
  static let entity = Entity(
    name: "Basket", table: "baskets",
    attributes: [
      Attribute(name: "id", column: "id", type: .long, isNullable: false),
      Attribute(name: "name", column: "name", type: .string, isNullable: false, maxLength: 20),
    ], key: [0], keyOrigin: .businessSystem, relationships: [],
    operations: [.create, .update, .delete], partition: nil, group: "default", ownsChildren: true)
  var record: ObjectRecord

  enum Attributes {
    static let items = RelationshipOf<Basket, Item>("items", inverseOf: "basket")
    static let receipt = RelationshipOf<Basket, Receipt>("receipt", inverseOf: "basket")
  }

  var id: Int64 { record.get(0) }
  var name: String {
    get { record.get(1) }
    set { record.set(1, newValue) }
  }
  func items() throws(FerryError) -> [Item] { try record.referring(by: "basket") }
}

struct Item: BusinessObject {
  static let entity = Entity(
    name: "Item", table: "items",
    attributes: [
      Attribute(name: "basketID", column: "basket", type: .long, isNullable: false),
      Attribute(name: "number", column: "number", type: .long, isNullable: false),
      Attribute(name: "text", column: "text", type: .string, isNullable: true),
    ], key: [0, 1], keyOrigin: .app,
    relationships: [
      Relationship(
        name: "basket", target: "Basket", attributes: ["basketID"], targetAttributes: ["id"],
        inverse: "items", isComposite: true)
    ], operations: [.create, .update, .delete], partition: nil, group: "default",
    ownsChildren: true)
  var record: ObjectRecord

  enum Attributes {
    static let basket = RelationshipOf<Item, Basket>("basket")
    static let remarks = RelationshipOf<Item, Remark>("remarks", inverseOf: "item")
  }

  var basketID: Int64 { record.get(0) }
  var number: Int64 { record.get(1) }
  var text: String? {
    get { record.get(2) }
    set { record.set(2, newValue) }
  }
}

struct Remark: BusinessObject {
  static let entity = Entity(
    name: "Remark", table: "remarks",
    attributes: [
      Attribute(name: "id", column: "id", type: .string, isNullable: false),
      Attribute(name: "basketID", column: "basket", type: .long, isNullable: false),
      Attribute(name: "number", column: "number", type: .long, isNullable: false),
      Attribute(name: "text", column: "text", type: .string, isNullable: true),
    ], key: [0], keyOrigin: .app,
    relationships: [
      Relationship(
        name: "item", target: "Item", attributes: ["basketID", "number"],
        targetAttributes: ["basketID", "number"], inverse: "remarks", isComposite: true)
    ], operations: [.create, .update, .delete], partition: nil, group: "default")
  var record: ObjectRecord
}

/// One for each basket at most: one to one.
struct Receipt: BusinessObject {
  static let entity = Entity(
    name: "Receipt", table: "receipts",
    attributes: [
      Attribute(name: "basketID", column: "basket", type: .long, isNullable: false),
      Attribute(name: "total", column: "total", type: .decimal, isNullable: true),
    ], key: [0], keyOrigin: .app,
    relationships: [
      Relationship(
        name: "basket", target: "Basket", attributes: ["basketID"], targetAttributes: ["id"],
        inverse: "receipt")
    ], operations: [.create, .update, .delete], partition: nil, group: "default")
  var record: ObjectRecord
}

/// A device with a basket of two items, one of which has a remark.
struct Filled {
  let shore = Shore(Baskets.package)
  let device: Device

  init() throws {
    device = try Device(Baskets.package).loggedIn()
    shore.put(Basket.entity, [.integer(1), .text("fruit")])
    shore.put(Item.entity, [.integer(1), .integer(1), .text("apple")])
    shore.put(Item.entity, [.integer(1), .integer(2), .text("pear")])
    shore.put(Remark.entity, [.text("r1"), .integer(1), .integer(1), .text("ripe")])
    try device.exchange(shore)
    device.handler.forget()
  }

  func new(_ values: AttributeValue?..., of entity: Entity) -> ObjectRecord {
    var record = ObjectRecord(entity, store: device.store)
    for (position, value) in values.enumerated() { record.values[position] = value ?? .null }
    return record
  }

  func newBasket(_ name: String) -> Basket {
    Basket(record: new(nil, .text(name), of: Basket.entity))
  }

  func newItem(of basket: Int64, _ number: Int64, _ text: String) -> Item {
    Item(
      record: new(.integer(basket), .integer(number), .text(text), of: Item.entity))
  }

  func basket(_ id: Int64) throws -> Basket? {
    try Records(device.store).of(Basket.entity, key: ObjectKey([.integer(id)])).map(
      Basket.init(record:))
  }

  func item(_ number: Int64) throws -> Item? {
    try Records(device.store).of(Item.entity, key: ObjectKey([.integer(1), .integer(number)]))
      .map(Item.init(record:))
  }

  func names(_ entity: Entity) throws -> [String] {
    try Records(device.store).all(entity, "ORDER BY _id", []).map {
      "\($0.key) \($0.pending.rawValue)\($0.failed ? "!" : "")"
    }
  }

  /// What arrived at the shore, in the order of its places: kind and entity of each.
  func sent() throws -> [String] {
    try device.exchange(shore)
    return shore.received.compactMap { try? Operation($0, in: Baskets.package) }
      .sorted { ($0.chain.text, $0.position) < ($1.chain.text, $1.position) }.map {
        "\($0.entity) \($0.kind.rawValue) \($0.position + 1)/\($0.count)"
      }
  }
}
