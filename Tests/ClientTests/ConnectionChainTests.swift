import Ferry
import FerryModel
import FerryTestTraits
import Testing

@testable import Ferry

@Suite("Changes of two business systems in one transaction")
struct ConnectionChainTests {
  private static func entity(_ name: String, _ connection: String?) -> Entity {
    Entity(
      name: name, table: name,
      attributes: [
        Attribute(name: "id", column: "id", type: .long, isNullable: false),
        Attribute(name: "text", column: "text", type: .string, isNullable: true),
      ], key: [0], keyOrigin: .app, relationships: [], operations: Set(OperationKind.allCases),
      partition: nil, group: "default", connection: connection)
  }

  private static let item = entity("Item", nil)
  private static let order = entity("Order", "erp")
  private static let model = Package(
    name: "Twin", version: "1.0", entities: [item, order],
    groups: [SynchronizationGroup(name: "default")])

  @Test("Submitting them throws, names both, and loses nothing; apart they are sent")
  func refused() throws {
    let device = try Device(Self.model).loggedIn()
    func create(_ entity: Entity, _ id: Int64) throws(FerryError) {
      var record = ObjectRecord(entity, store: device.store)
      record.values = [.integer(id), .text("x")]
      _ = try PendingStore.save(try record.change(.create), in: device.store)
    }
    try device.store.transaction { () throws(FerryError) in
      try create(Self.item, 1)
      try create(Self.order, 1)
    }
    let error = #expect(throws: FerryError.self) {
      try Outbox(device.store).submitAll(Self.item)
    }
    #expect(error?.code == .operationNotAllowed && error?.entity == "Item")
    #expect(error?.message.contains("the default connection and \"erp\"") == true)
    #expect(try device.operations().map(\.state) == [.waiting, .waiting])
    try create(Self.order, 2)
    #expect(throws: FerryError.self) { try Outbox(device.store).submitAll(Self.order) }
    #expect(try device.operations().filter { $0.state == .submitted }.count == 1)
    #expect(try device.operations().filter { $0.state == .waiting }.count == 2)
  }
}
