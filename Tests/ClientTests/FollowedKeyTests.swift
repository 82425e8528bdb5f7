import Ferry
import FerryModel
import FerryWire
import Testing

@testable import Ferry

/// Orders whose keys the business system gives, lines with the order in their keys, and tags that
/// refer to lines.
@Suite("Keys that follow another one")
struct FollowedKeyTests {
  private static func entity(
    _ name: String, _ attributes: [String], key: [Int], _ origin: KeyOrigin = .app,
    _ relationships: [Relationship] = []
  ) -> Entity {
    Entity(
      name: name, table: name,
      attributes: attributes.enumerated().map {
        Attribute(name: $1, column: $1, type: .long, isNullable: !key.contains($0))
      }, key: key, keyOrigin: origin, relationships: relationships,
      operations: [.create, .update, .delete], partition: nil, group: "default")
  }

  private static let order = entity("Order", ["id", "size"], key: [0], .businessSystem)
  private static let line = entity(
    "Line", ["orderID", "number", "size"], key: [0, 1], .app,
    [
      Relationship(
        name: "order", target: "Order", attributes: ["orderID"], targetAttributes: ["id"])
    ])
  private static let tag = entity(
    "Tag", ["id", "orderID", "number"], key: [0], .app,
    [
      Relationship(
        name: "line", target: "Line", attributes: ["orderID", "number"],
        targetAttributes: ["orderID", "number"])
    ])

  private let device: Device
  private let shore: Shore

  init() throws {
    let model = Package(
      name: "Shop", version: "1.0", entities: [Self.order, Self.line, Self.tag],
      groups: [SynchronizationGroup(name: "default")])
    (device, shore) = (try Device(model).loggedIn(), Shore(model))
  }

  private func make(_ entity: Entity, _ values: [AttributeValue]) throws -> ObjectRecord {
    var record = ObjectRecord(entity, store: device.store)
    for (position, value) in values.enumerated() { record.values[position] = value }
    return try #require(try PendingStore.save(try record.change(.create), in: device.store))
  }

  @Test("Decision 0118: a line whose delete waits gets its order's key, and its tag follows")
  func deletedLine() throws {
    var line: ObjectRecord?
    try device.store.transaction { () throws(FerryError) in
      do {
        let order = try make(Self.order, [.null, .integer(1)])
        line = try make(Self.line, [order.values[0], .integer(1)])
        _ = try make(Self.tag, [.integer(7), order.values[0], .integer(1)])
      } catch { Issue.record(error) }
    }
    try Outbox(device.store).submitAll([Self.order, Self.line, Self.tag])
    try device.exchange(shore)
    let sent = try shore.received.map { try Operation($0, in: shore.model) }
    #expect(sent.count == 3)
    for operation in sent { shore.answer(operation.id, .unknown) }
    try device.exchange(shore)
    _ = try PendingStore.save(try #require(line).change(.delete), in: device.store)
    // What was heard is confirmed before the decision.
    try device.exchange(shore)
    let order = try #require(sent.first { $0.entity == "Order" })
    shore.accept(order.id, newKey: ObjectKey([.integer(8)]))
    try device.exchange(shore)
    let followed = ObjectKey([.integer(8), .integer(1)])
    #expect(
      try device.operations().filter { $0.entity == "Line" }.map(\.key) == [followed, followed])
    let shown = try Records(device.store).of(Self.tag, key: ObjectKey([.integer(7)]))
    #expect(shown?.values[1] == .integer(8), "it refers to the line by its key")
    for operation in sent where operation.entity != "Order" { shore.accept(operation.id) }
    try device.exchange(shore)
    try Outbox(device.store).submitAll([Self.line])
    try device.exchange(shore)
    let delete = try Operation(#require(shore.received.last), in: shore.model)
    #expect(delete.kind == .delete && delete.key == followed)
  }

  @Test("an order is cancelled on its way: the tag of its waiting line is cancelled with it")
  func cancelledLine() throws {
    let order = try make(Self.order, [.null, .integer(1)])
    try Outbox(device.store).submitAll([Self.order])
    try device.exchange(shore)
    _ = try make(Self.line, [order.values[0], .integer(1)])
    _ = try make(Self.tag, [.integer(7), order.values[0], .integer(1)])
    let others = try PendingStore.cancel(Self.order, try #require(order.object), in: device.store)
    #expect(others.count == 2, "the line, and the tag that refers to it")
    #expect(try device.operations().map(\.entity) == ["Order"])
    #expect(try Records(device.store).of(Self.tag, key: ObjectKey([.integer(7)])) == nil)
    let sent = try Operation(try #require(shore.received.last), in: shore.model)
    shore.accept(sent.id, newKey: ObjectKey([.integer(8)]))
    try device.exchange(shore)
    #expect(try device.operations().isEmpty)
  }

  @Test("a line is deleted before it was submitted: the tag that refers to it is cancelled with it")
  func deletedNewLine() throws {
    let order = try make(Self.order, [.null, .integer(1)])
    let line = try make(Self.line, [order.values[0], .integer(1)])
    _ = try make(Self.tag, [.integer(7), order.values[0], .integer(1)])
    _ = try PendingStore.save(line.change(.delete), in: device.store)
    #expect(try device.operations().map(\.entity) == ["Order"])
  }

  @Test("a reference that leads to no line stays as it was saved, in the row and in the change")
  func noLine() throws {
    var order: ObjectRecord?
    try device.store.transaction { () throws(FerryError) in
      do {
        order = try make(Self.order, [.null, .integer(1)])
        _ = try make(Self.line, [try #require(order).values[0], .integer(1)])
      } catch { Issue.record(error) }
    }
    let temporary = try #require(order).values[0]
    _ = try make(Self.tag, [.integer(7), temporary, .integer(2)])
    try Outbox(device.store).submitAll([Self.order, Self.line, Self.tag])
    try device.exchange(shore)
    let sent = try shore.received.map { try Operation($0, in: shore.model) }
    let first = try #require(sent.first { $0.entity == "Order" })
    shore.accept(first.id, newKey: ObjectKey([.integer(8)]))
    try device.exchange(shore)
    let tag = try #require(try device.operations().first { $0.entity == "Tag" })
    let row = try #require(try Records(device.store).of(Self.tag, key: ObjectKey([.integer(7)])))
    #expect(row.values[1] == tag.changed[1], "the row shows what the change says")
    #expect(row.values[1] == temporary)
    let line = try #require(try device.operations().first { $0.entity == "Line" })
    #expect(line.key == ObjectKey([.integer(8), .integer(1)]))
  }
}
