import Ferry
import FerryModel
import Testing

@testable import Ferry

/// Orders with notes that stay on the device, and notebooks that do altogether.
private enum Notes {
  static func entity(
    _ name: String, owner: String? = nil, isClientOnly: Bool = true, ownsChildren: Bool = false
  ) -> Entity {
    var attributes = [
      Attribute(
        name: "id", column: "id", type: .long, isNullable: false, isClientOnly: isClientOnly)
    ]
    if let owner {
      attributes.append(
        Attribute(
          name: owner, column: owner, type: .long, isNullable: true, isClientOnly: isClientOnly))
    }
    return Entity(
      name: name, table: name, attributes: attributes, key: [0], keyOrigin: .app,
      relationships: owner.map { owner in
        [
          Relationship(
            name: "owner", target: owner, attributes: [owner], targetAttributes: ["id"],
            inverse: "parts", isComposite: true)
        ]
      } ?? [], operations: [.create, .update, .delete], partition: nil, group: "default",
      ownsChildren: ownsChildren, isClientOnly: isClientOnly)
  }

  static let package = Package(
    name: "Notes", version: "1.0",
    entities: [
      entity("Bill", isClientOnly: false, ownsChildren: true),
      entity("Sum", owner: "Bill", isClientOnly: false),
      entity("Scribble", owner: "Bill"),
      entity("Book", ownsChildren: true), entity("Page", owner: "Book", ownsChildren: true),
      entity("Word", owner: "Page"),
    ], groups: [SynchronizationGroup(name: "default")])
}

@Suite("Parts that stay on the device")
struct LocalPartsTests {
  private let device: Device

  init() throws {
    device = try Device(Notes.package)
    for (name, owners) in [
      ("Bill", [nil]), ("Sum", [1]), ("Scribble", [1]), ("Book", [nil, nil]), ("Page", [1, 1, 2]),
      ("Word", [1, 2, 3]),
    ] as [(String, [Int64?])] {
      for (index, owner) in owners.enumerated() {
        var record = ObjectRecord(try entity(name), store: device.store)
        record.set(0, Int64(index + 1))
        if let owner { record.set(1, owner) }
        _ = try PendingStore.save(try record.change(.create), in: device.store)
      }
    }
  }

  private func entity(_ name: String) throws -> Entity {
    try #require(Notes.package.entity(named: name))
  }

  private func delete(_ name: String, _ id: Int64) throws {
    let record = try Records(device.store).of(try entity(name), key: ObjectKey([.integer(id)]))
    _ = try PendingStore.save(try #require(record).change(.delete), in: device.store)
  }

  private func ids(_ name: String) throws -> [Int64] {
    try Records(device.store).all(try entity(name), "ORDER BY id", []).map { $0.get(0) }
  }

  @Test("go with an owner that stays on the device, and their parts with them")
  func localOwner() throws {
    try delete("Book", 1)
    #expect(try ids("Book") == [2] && ids("Page") == [3] && ids("Word") == [3])
    #expect(try device.operations().allSatisfy { ["Bill", "Sum"].contains($0.entity) })
  }

  @Test("outlive an owner whose delete may yet be refused, and nothing of them is sent")
  func servedOwner() throws {
    try Outbox(device.store).submitAll(try entity("Bill"))
    try delete("Bill", 1)
    #expect(try ids("Scribble") == [1] && ids("Sum").isEmpty)
    #expect(try device.operations().allSatisfy { ["Bill", "Sum"].contains($0.entity) })
  }
}
