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
}
