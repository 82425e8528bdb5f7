import Ferry
import FerryModel
import FerrySQLite
import FerryTestTraits
import FerryWorld
import Testing

@testable import Ferry

/// A newer model that asks more of its objects than the one that they were saved under.
@Suite("A stricter model on an older database")
struct MigrationCheckTests {
  private var attributes: [Attribute] { Order.entity.attributes }

  private func attribute(
    _ name: String, _ type: AttributeType = .string, nullable: Bool = false,
    maxLength: Int? = nil, default usual: AttributeValue? = nil
  ) -> Attribute {
    Attribute(
      name: name, column: name, type: type, isNullable: nullable, maxLength: maxLength,
      defaultValue: usual)
  }

  private func newer(
    _ attributes: [Attribute], operations: Set<OperationKind> = [.create, .update, .delete]
  ) -> Package {
    let order = Entity(
      name: "Order", table: "orders", attributes: attributes, key: [0],
      keyOrigin: .businessSystem, relationships: [], operations: operations, partition: nil,
      group: "default")
    return Package(
      name: "Shop", version: "1.1", entities: [order, Line.entity],
      groups: [SynchronizationGroup(name: "default")])
  }

  /// The shop's attributes with the city as `city` has it.
  private func newer(city: Attribute) -> Package {
    var changed = attributes
    changed[2] = city
    return newer(changed)
  }

  private func open(
    _ shop: Stocked, _ model: Package, _ policy: MigrationPolicy = .keepPending
  ) throws -> Store {
    shop.device.store.close()
    return try Store(
      path: shop.device.path, model: model, world: .system(), durability: .application,
      migration: policy)
  }

  /// The error at opening, after which the device is as it was before.
  private func refusal(_ shop: Stocked, _ model: Package) throws -> FerryError? {
    let before = try (shop.device.dump(), shop.device.operations())
    let error = #expect(throws: FerryError.self) { _ = try open(shop, model) }
    #expect(error?.code == .incompatibleModel)
    try shop.device.restart()
    #expect(try shop.device.dump() == before.0)
    #expect(try shop.device.operations() == before.1)
    return error
  }

  private func operations(_ store: Store) throws -> [PendingOperation] {
    try store.read { connection throws(FerryError) in
      try store.sql { () throws(SQLiteError) in
        try OperationTable(store, connection).select("ORDER BY sequence", [])
      }
    }
  }

  private func orders(_ store: Store) throws -> [ObjectRecord] {
    let entity = try #require(store.model.entity(named: "Order"))
    return try Records(store).all(entity, "ORDER BY _id", [])
  }

  private func update(_ shop: Stocked, _ id: Int64, city: String?) throws {
    var order = try #require(try shop.device.order(id))
    order.city = city
    try order.update()
  }

  // Attributes that must have a value.

  @Test(
    "A new attribute that must have a value has the model's default, in every row and image",
    .reference("facts/5.16")
  )
  func filled() throws {
    let shop = try Stocked()
    try update(shop, 1, city: "Kiel")
    let store = try open(
      shop, newer(attributes + [attribute("level", .int, default: .integer(3))]))
    #expect(try orders(store).map { $0["level"] } == [.integer(3), .integer(3), .integer(3)])
    var record = try orders(store)[0]
    record.set(2, "Bonn" as String?)
    #expect(try PendingStore.save(try record.change(.update), in: store) != nil)
    #expect(try operations(store).map(\.changed) == [[2: .text("Bonn")]])
    _ = try PendingStore.cancel(record.entity, try #require(record.object), in: store)
    #expect(try orders(store)[0]["level"] == .integer(3), "the image has it too")
  }

  @Test(
    "A pending create gets the default of a new attribute, as a new object has it, and sends it")
  func filledInCreates() throws {
    let shop = try Stocked()
    var created = shop.device.newOrder("Jena")
    try created.create()
    let store = try open(
      shop,
      newer(
        attributes + [
          attribute("level", .int, default: .integer(3)),
          attribute("note", nullable: true, default: .text("new")),
        ]))
    let record = try #require(try orders(store).last)
    #expect(record["level"] == .integer(3) && record["note"] == .text("new"))
    #expect(try orders(store)[0]["note"] == .null, "of what was downloaded nobody knows it yet")
    #expect(
      try operations(store)[0].changed == [
        1: .text("ALFKI"), 2: .text("Jena"), 4: .integer(3), 5: .text("new"),
      ])
  }

  @Test("An attribute that must have a value from now on gets its default in pending creates alone")
  func requiredFromNowOn() throws {
    let shop = try Stocked()
    var created = shop.device.newOrder(nil)
    try created.create()
    let store = try open(shop, newer(city: attribute("city", default: .text("?"))))
    #expect(try orders(store).map { $0["city"] }.last == .text("?"))
    #expect(try operations(store)[0].changed == [1: .text("ALFKI"), 2: .text("?")])
  }

  @Test(
    "Where there is no default the rows can be changed all the same; only what the app sets counts")
  func editable() throws {
    let shop = try Stocked()
    let store = try open(shop, newer(attributes + [attribute("note")]))
    var record = try orders(store)[0]
    record.set(2, "Bonn" as String?)
    let saved = try PendingStore.save(try record.change(.update), in: store)
    #expect(try operations(store).map(\.changed) == [[2: .text("Bonn")]])
    record = try #require(saved)
    record.set(4, "x")
    record = try #require(try PendingStore.save(try record.change(.update), in: store))
    record.values[4] = .null
    let error = #expect(throws: FerryError.self) { _ = try record.change(.update) }
    #expect(error?.entity == "Order" && error?.attribute == "note")
    let created = ObjectRecord(record.entity, store: store)
    #expect(throws: FerryError.self) { _ = try created.change(.create) }
  }

  @Test("A downloaded value that is too long by now stands in the way of no other change")
  func longRow() throws {
    let shop = try Stocked()
    let store = try open(shop, newer(city: attribute("city", nullable: true, maxLength: 3)))
    var record = try orders(store)[0]
    record.set(3, "9" as String?)
    record.values[3] = .text("9")
    #expect(try PendingStore.save(try record.change(.update), in: store) != nil)
    record = try orders(store)[1]
    record.set(2, "Kiel" as String?)
    let error = #expect(throws: FerryError.self) { _ = try record.change(.update) }
    #expect(error?.hint == "Shorten it to 3 characters and save again.")
  }

  // Pending changes that the newer model would not take.

  @Test("A pending change that is too long by now is named with its key, and nothing is changed")
  func tooLong() throws {
    let shop = try Stocked()
    try update(shop, 1, city: "Kiel")
    try update(shop, 2, city: "Ulm")
    let model = newer(city: attribute("city", nullable: true, maxLength: 3))
    let error = try refusal(shop, model)
    #expect(
      error?.message.contains("1 × Order.city, where 4 characters are more than 3 (key 1)") == true,
      "\(error as Any)")
    #expect(error?.entity == "Order" && error?.attribute == "city")
    #expect(error?.hint.contains("correct, submit or cancel") == true)
    let store = try open(shop, model, .discardUnmigratable)
    #expect(
      try orders(store).map { $0["city"]?.shown }
        == ["Bremen", "Ulm", "Bremen"].map { AttributeValue.text($0).shown })
    #expect(try operations(store).map(\.key.text) == ["2"])
  }

  @Test("A pending change that empties what must have a value by now is named with its key")
  func emptied() throws {
    let shop = try Stocked()
    for id in 1...3 as ClosedRange<Int64> { try update(shop, id, city: nil) }
    var created = shop.device.newOrder("Jena")
    try created.create()
    let error = try refusal(shop, newer(city: attribute("city", default: .text("?"))))
    #expect(
      error?.message.contains("3 × Order.city, which must have a value now (keys 1, 2, 3)") == true,
      "\(error as Any)")
  }

  @Test("A pending create without what must have a value by now, and has no default, is named")
  func incomplete() throws {
    let shop = try Stocked()
    for city in ["Jena", "Ulm", "Bonn", "Kiel"] {
      var created = shop.device.newOrder(city)
      try created.create()
    }
    let keys = try shop.device.operations().map(\.key.text).prefix(3)
    let model = newer(attributes + [attribute("note")])
    let error = try refusal(shop, model)
    #expect(
      error?.message.contains(
        "4 × Order.note, which must have a value now "
          + "(keys \(keys.joined(separator: ", ")) and 1 more)") == true, "\(error as Any)")
    let store = try open(shop, model, .discardUnmigratable)
    #expect(try orders(store).count == 3)
    #expect(try operations(store).isEmpty)
  }

  @Test("A pending delete that the newer model does not allow is named with its key")
  func operationGone() throws {
    let shop = try Stocked()
    var order = try #require(try shop.device.order(2))
    try order.delete()
    try update(shop, 1, city: "Kiel")
    let model = newer(attributes, operations: [.create, .update])
    let error = try refusal(shop, model)
    #expect(
      error?.message.contains("1 × Order, of which the model allows no delete now (key 2)") == true,
      "\(error as Any)")
    let store = try open(shop, model, .discardUnmigratable)
    #expect(try orders(store).count == 3)
    #expect(try operations(store).map(\.kind) == [.update])
  }

  @Test(
    "What is on its way to the server stays so, whatever the newer model asks: its answer counts")
  func inFlight() throws {
    let shop = try Stocked()
    try update(shop, 1, city: "Kiel")
    var created = shop.device.newOrder("Jena")
    try created.create()
    try Outbox(shop.device.store).submitAll(Order.entity)
    _ = try shop.device.request()
    let before = try shop.device.operations()
    var stricter = attributes
    stricter[2] = attribute("city", nullable: true, maxLength: 3)
    let store = try open(shop, newer(stricter + [attribute("note")], operations: []))
    #expect(try operations(store).map(\.id) == before.map(\.id))
    #expect(try operations(store).map(\.state) == [.submitted, .submitted])
  }
}
