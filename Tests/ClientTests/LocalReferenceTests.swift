import Ferry
import FerryModel
import FerryTestTraits
import FerryWire
import FerryWorld
import Testing

@testable import Ferry

/// Orders get their keys from the business system; notes, labels and stamps stay on the device and
/// refer to them: by what may be null, by their own key, and by what may not.
@Suite("References from what stays on the device")
struct LocalReferenceTests {
  private static let order = Entity(
    name: "Order", table: "orders",
    attributes: [
      Attribute(name: "id", column: "id", type: .long, isNullable: false),
      Attribute(name: "city", column: "city", type: .string, isNullable: true),
    ], key: [0], keyOrigin: .businessSystem, relationships: [],
    operations: [.create, .update, .delete], partition: nil, group: "default")

  private static func local(_ name: String, key: [Int], isNullable: Bool) -> Entity {
    Entity(
      name: name, table: name,
      attributes: [
        Attribute(name: "id", column: "id", type: .long, isNullable: false, isClientOnly: true),
        Attribute(
          name: "order", column: "order", type: .long, isNullable: isNullable, isClientOnly: true),
        Attribute(
          name: "text", column: "text", type: .string, isNullable: true, isClientOnly: true),
      ], key: key, keyOrigin: .app,
      relationships: [
        Relationship(
          name: "about", target: "Order", attributes: ["order"], targetAttributes: ["id"])
      ], operations: [.create, .update, .delete], partition: nil, group: "default",
      isClientOnly: true)
  }

  private static let note = local("Note", key: [0], isNullable: true)
  private static let label = local("Label", key: [1], isNullable: false)
  private static let stamp = local("Stamp", key: [0], isNullable: false)

  private static func model(_ version: String, cityType: AttributeType = .string) -> Package {
    let order = Entity(
      name: "Order", table: "orders",
      attributes: [
        Self.order.attributes[0],
        Attribute(name: "city", column: "city", type: cityType, isNullable: true),
      ], key: [0], keyOrigin: .businessSystem, relationships: [],
      operations: [.create, .update, .delete], partition: nil, group: "default")
    return Package(
      name: "Orders", version: version, entities: [order, note, label, stamp],
      groups: [SynchronizationGroup(name: "default")])
  }

  private let shore: Shore
  private let device: Device
  /// The new order to which note 1, the label and the stamp refer; note 2 refers to order 7.
  private var new: ObjectRecord

  init() throws {
    let model = Self.model("1.0")
    shore = Shore(model.served)
    device = try Device(model).loggedIn()
    shore.put(model.served.entities[0], [.integer(7), .text("Kiel")])
    try device.exchange(shore)
    new = ObjectRecord(Self.order, store: device.store)
    new.set(1, "Jena" as String?)
    new = try #require(try PendingStore.save(try new.change(.create), in: device.store))
    let key = new.values[0]
    for (entity, id, about) in [
      (Self.note, 1, key), (Self.note, 2, .integer(7)), (Self.label, 3, key), (Self.stamp, 4, key),
    ] as [(Entity, Int64, AttributeValue)] {
      var record = ObjectRecord(entity, store: device.store)
      record.set(0, id)
      record.values[1] = about
      record.set(2, "\(entity.name) \(id)" as String?)
      _ = try PendingStore.save(try record.change(.create), in: device.store)
    }
  }

  private func references(_ store: Store? = nil) throws -> [AttributeValue] {
    try [Self.note, Self.label, Self.stamp].flatMap { entity in
      try Records(store ?? device.store).all(entity, "ORDER BY id", []).map { $0.values[1] }
    }
  }

  private var told: Set<ObjectKey> {
    [ObjectKey([.integer(1)]), ObjectKey([new.values[0]]), ObjectKey([.integer(4)])]
  }

  @Test("are null where the new object is cancelled, or stay where they cannot be, and are told")
  func cancelled() throws {
    let others = try PendingStore.cancel(Self.order, try #require(new.object), in: device.store)
    #expect(Set(others) == told && others.count == 3)
    let key = new.values[0]
    #expect(try references() == [.null, .integer(7), key, key])
    let note = try #require(try Records(device.store).of(Self.note, key: ObjectKey([.integer(1)])))
    #expect(note.values[2] == .text("Note 1") && note.pending == .none)
    #expect(try device.operations().isEmpty)
  }

  @Test("are so where it is deleted before it was submitted, and not where that is undone")
  func deleted() throws {
    let key = new.values[0]
    try device.store.transaction { () throws(FerryError) in
      _ = try PendingStore.save(try new.change(.delete), in: device.store)
      try device.store.rollback()
    }
    #expect(try references() == [key, .integer(7), key, key])
    let again = try #require(try Records(device.store).of(Self.order, key: ObjectKey([key])))
    _ = try PendingStore.save(try again.change(.delete), in: device.store)
    #expect(try references() == [.null, .integer(7), key, key])
  }

  @Test(
    "wait for the answer where it is cancelled on its way: they follow its key, or are null",
    arguments: [true, false])
  func cancelledOnItsWay(isAccepted: Bool) throws {
    let (key, object) = (new.values[0], try #require(new.object))
    _ = try Outbox(device.store).submit(Self.order, object)
    try device.exchange(shore)
    let id = try #require(try device.operations().first).id
    _ = try PendingStore.cancel(Self.order, object, in: device.store)
    #expect(try references() == [key, .integer(7), key, key])
    if isAccepted { shore.accept(id, newKey: ObjectKey([.integer(9)])) } else { shore.refuse(id) }
    try device.exchange(shore)
    let ends: [AttributeValue] =
      isAccepted
      ? [.integer(9), .integer(7), .integer(9), .integer(9)] : [.null, .integer(7), key, key]
    #expect(try references() == ends)
  }

  @Test("are null where it is deleted on its way, and refused: nothing is left of the two")
  func deletedAndRefused() throws {
    let (key, object) = (new.values[0], try #require(new.object))
    _ = try Outbox(device.store).submit(Self.order, object)
    try device.exchange(shore)
    let id = try #require(try device.operations().first).id
    let sent = try #require(try Records(device.store).of(Self.order, key: ObjectKey([key])))
    _ = try PendingStore.save(try sent.change(.delete), in: device.store)
    #expect(try references() == [key, .integer(7), key, key])
    shore.refuse(id)
    try device.exchange(shore)
    #expect(try device.operations().isEmpty)
    #expect(try references() == [.null, .integer(7), key, key])
  }

  @Test("are so where cleanAllData keeps what stays on the device")
  func cleaned() throws {
    try device.store.cleanAllData(keepsClientOnly: true)
    let key = new.values[0]
    #expect(try references() == [.null, .integer(7), key, key])
  }

  @Test("are so where a newer model has no place for the new object, and it is discarded")
  func discarded() throws {
    device.store.close()
    let newer = try Store(
      path: device.path, model: Self.model("1.1", cityType: .int), world: .system(),
      durability: .application, migration: .discardUnmigratable)
    let key = new.values[0]
    #expect(
      try Records(newer).all(newer.model.entities[0], "", []).map { $0.values[0] } == [.integer(7)])
    #expect(try references(newer) == [.null, .integer(7), key, key])
    newer.close()
  }

  @Test(
    "Follow the key that the business system gives, also as a key of their own",
    .reference("sync/P15"))
  func followed() throws {
    _ = try Outbox(device.store).submit(Self.order, try #require(new.object))
    try device.exchange(shore)
    let id = try #require(shore.stored.keys.first)
    shore.accept(id, newKey: ObjectKey([.integer(42)]))
    try device.exchange(shore)
    #expect(
      try references() == [.integer(42), .integer(7), .integer(42), .integer(42)])
    let label = try #require(
      try Records(device.store).of(Self.label, key: ObjectKey([.integer(42)])))
    #expect(label.values[2] == .text("Label 3") && label.pending == .none)
    // A copy that was read before is saved where it is now.
    var copy = try #require(try Records(device.store).of(Self.note, key: ObjectKey([.integer(1)])))
    copy.set(2, "new" as String?)
    _ = try PendingStore.save(try copy.change(.update), in: device.store)
    #expect(try references().first == .integer(42))
  }
}
