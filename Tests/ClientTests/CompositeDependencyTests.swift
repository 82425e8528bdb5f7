import Ferry
import FerryModel
import FerryWire
import Testing

@testable import Ferry

/// Berths with a key of two parts, which the app gives, and ships that refer to them.
@Suite("Deletes of what is referred to by several attributes")
struct CompositeDependencyTests {
  private static let berth = entity("Berth", ["harbour", "number"], key: [0, 1], [])
  private static let ship = entity(
    "Ship", ["id", "harbour", "number"], key: [0],
    [
      Relationship(
        name: "berth", target: "Berth", attributes: ["harbour", "number"],
        targetAttributes: ["harbour", "number"])
    ])

  private static func entity(
    _ name: String, _ attributes: [String], key: [Int], _ relationships: [Relationship]
  ) -> Entity {
    Entity(
      name: name, table: name,
      attributes: attributes.enumerated().map {
        Attribute(name: $1, column: $1, type: .long, isNullable: !key.contains($0))
      }, key: key, keyOrigin: .app, relationships: relationships,
      operations: [.create, .update, .delete], partition: nil, group: "default")
  }

  @Test("wait for an update that leads one part of the reference elsewhere")
  func oneOfTwo() throws {
    let model = Package(
      name: "Harbour", version: "1.0", entities: [Self.berth, Self.ship],
      groups: [SynchronizationGroup(name: "default")])
    let device = try Device(model).loggedIn()
    let shore = Shore(model)
    for number in [1, 2] as [Int64] { shore.put(Self.berth, [.integer(1), .integer(number)]) }
    shore.put(Self.ship, [.integer(5), .integer(1), .integer(1)])
    try device.exchange(shore)
    var ship = try #require(try Records(device.store).of(Self.ship, key: ObjectKey([.integer(5)])))
    ship.set(2, Int64(2))
    _ = try PendingStore.save(try ship.change(.update), in: device.store)
    let berth = try Records(device.store).of(
      Self.berth, key: ObjectKey([.integer(1), .integer(1)]))
    _ = try PendingStore.save(try #require(berth).change(.delete), in: device.store)
    try Outbox(device.store).submitAll([Self.berth, Self.ship])
    for _ in 0..<2 { try device.exchange(shore) }
    let sent = { try shore.received.map { try Operation($0, in: model) } }
    #expect(try sent().map(\.entity) == ["Ship"])
    shore.accept(try #require(try sent().first).id)
    for _ in 0..<2 { try device.exchange(shore) }
    #expect(try sent().map(\.entity) == ["Ship", "Berth"])
  }

  private func harbour() throws -> (Device, Shore) {
    let model = Package(
      name: "Harbour", version: "1.0", entities: [Self.berth, Self.ship],
      groups: [SynchronizationGroup(name: "default")])
    let (device, shore) = (try Device(model).loggedIn(), Shore(model))
    shore.put(Self.berth, [.integer(1), .integer(1)])
    shore.put(Self.ship, [.integer(5), .integer(1), .integer(1)])
    try device.exchange(shore)
    return (device, shore)
  }

  /// A new berth (1, 2), and the ship led to it by the second attribute alone.
  private func move(_ device: Device) throws(FerryError) {
    guard var ship = try Records(device.store).of(Self.ship, key: ObjectKey([.integer(5)])) else {
      return
    }
    ship.set(2, Int64(2))
    _ = try PendingStore.save(try ship.change(.update), in: device.store)
    var berth = ObjectRecord(Self.berth, store: device.store)
    berth.set(0, Int64(1))
    berth.set(1, Int64(2))
    _ = try PendingStore.save(try berth.change(.create), in: device.store)
  }

  @Test("Row 3: what one attribute leads to a new object waits for its create")
  func oneOfTwoWaits() throws {
    let (device, shore) = try harbour()
    try move(device)
    try Outbox(device.store).submitAll([Self.ship, Self.berth])
    for _ in 0..<2 { try device.exchange(shore) }
    let sent = { try shore.received.map { try Operation($0, in: shore.model) } }
    #expect(try sent().map(\.entity) == ["Berth"])
    shore.accept(try #require(try sent().first).id)
    for _ in 0..<2 { try device.exchange(shore) }
    #expect(try sent().map(\.entity) == ["Berth", "Ship"])
  }

  @Test("Row 3: and comes after it where both are replayed as one")
  func oneOfTwoInOne() throws {
    let (device, shore) = try harbour()
    try device.store.transaction { () throws(FerryError) in try move(device) }
    try Outbox(device.store).submitAll([Self.ship])
    try device.exchange(shore)
    let sent = try shore.received.map { try Operation($0, in: shore.model) }
    #expect(sent.sorted { $0.position < $1.position }.map(\.entity) == ["Berth", "Ship"])
  }
}
