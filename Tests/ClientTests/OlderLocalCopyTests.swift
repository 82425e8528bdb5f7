import FerryModel
import FerryTestTraits
import FerryWire
import Testing

@testable import Ferry

/// Objects that stay on the device refer to those of the business system like all others.
@Suite("Copies of client-only objects that are older than a key")
struct OlderLocalCopyTests {
  private static let pin = Entity(
    name: "Pin", table: "pins",
    attributes: [
      Attribute(name: "id", column: "id", type: .long, isNullable: false, isClientOnly: true),
      Attribute(name: "order", column: "order", type: .long, isNullable: true, isClientOnly: true),
      Attribute(name: "text", column: "text", type: .string, isNullable: true, isClientOnly: true),
    ], key: [0], keyOrigin: .app,
    relationships: [
      Relationship(name: "of", target: "Order", attributes: ["order"], targetAttributes: ["id"])
    ], operations: [.create, .update, .delete], partition: nil, group: "default",
    isClientOnly: true)

  @Test("What they refer to by a temporary key they refer to by its key", .reference("sync/P11"))
  func followed() throws {
    let model = Package(
      name: "Shop", version: "1.0", entities: [Order.entity, Line.entity, Self.pin],
      groups: [SynchronizationGroup(name: "default")])
    let device = try Device(model).loggedIn()
    let shore = Shore(model)
    var order = device.newOrder("Jena")
    try order.create()
    let made = { (id: Int64) throws in
      var pin = ObjectRecord(Self.pin, store: device.store)
      pin.values = [.integer(id), .integer(order.id), .text("new")]
      return try #require(try PendingStore.save(try pin.change(.create), in: device.store))
    }
    var old = try made(1)
    #expect(old.values[1] == .integer(order.id))
    try order.submitPending()
    try device.exchange(shore)
    shore.accept(try #require(shore.stored.keys.first), newKey: ObjectKey([.integer(7)]))
    try device.exchange(shore)
    // A new one, made from a copy of the order that is older than its key, and an old one changed.
    #expect(try made(2).values[1] == .integer(7))
    old.values[2] = .text("changed")
    let saved = try #require(try PendingStore.save(try old.change(.update), in: device.store))
    #expect(saved.values == [.integer(1), .integer(7), .text("changed")])
    #expect(try device.operations().isEmpty)
  }
}
