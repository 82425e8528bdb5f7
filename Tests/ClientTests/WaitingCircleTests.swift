import Ferry
import FerryModel
import FerrySQLite
import FerryWire
import Testing

@testable import Ferry

@Suite("New objects that wait for each other's keys")
struct WaitingCircleTests {
  private static let club = Entity(
    name: "Club", table: "Club",
    attributes: [
      Attribute(name: "id", column: "id", type: .long, isNullable: false),
      Attribute(name: "other", column: "other", type: .long, isNullable: true),
    ], key: [0], keyOrigin: .businessSystem,
    relationships: [
      Relationship(name: "other", target: "Club", attributes: ["other"], targetAttributes: ["id"])
    ], operations: [.create, .update, .delete], partition: nil, group: "default")

  private let device: Device
  private let shore: Shore

  init() throws {
    let model = Package(
      name: "Clubs", version: "1.0", entities: [Self.club],
      groups: [SynchronizationGroup(name: "default")])
    (device, shore) = (try Device(model).loggedIn(), Shore(model))
  }

  private func make(_ other: AttributeValue) throws -> ObjectRecord {
    var record = ObjectRecord(Self.club, store: device.store)
    record.values[1] = other
    return try #require(try PendingStore.save(try record.change(.create), in: device.store))
  }

  private func received() throws -> [Operation] {
    try shore.received.map { try Operation($0, in: shore.model) }
  }

  private func exchange() throws { for _ in 0..<3 { try device.exchange(shore) } }

  @Test("Row 4: go as one; the reference that cannot be given yet is set behind both")
  func circle() throws {
    var first = try make(.null)
    let second = try make(first.values[0])
    first.values[1] = second.values[0]
    _ = try PendingStore.save(try first.change(.update), in: device.store)
    try Outbox(device.store).submitAll([Self.club])
    try exchange()
    let sent = try received().sorted { $0.position < $1.position }
    #expect(sent.map(\.kind) == [.create, .create, .update])
    #expect(Set(sent.map(\.chain)).count == 1 && sent.allSatisfy { $0.count == 3 })
    // No create names an object that comes after it.
    #expect(sent[0].changed[1] == nil && sent[1].changed[1] != nil)
    #expect(sent[2].key?.values(of: Self.club) == [sent[0].changed[0] ?? .null])
    let woken = try device.store.read { connection throws(FerryError) in
      try device.store.sql { () throws(SQLiteError) in
        try connection.value("SELECT count(*) FROM ferry_operation WHERE wanted = 2")?.integer
      }
    }
    #expect(woken == 0)
  }

  @Test(
    "Row 4: what the app changed since stays, whichever create of the circle is refused",
    arguments: [0, 1], [0, 1])
  func changedSince(changed: Int, refused: Int) throws {
    var first = try make(.null)
    let second = try make(first.values[0])
    first.values[1] = second.values[0]
    first = try #require(
      try PendingStore.save(try first.change(.update), in: device.store))
    try Outbox(device.store).submitAll([Self.club])
    // It refers to nothing from now on.
    let object = try #require([first, second][changed].object)
    var record = try #require(try PendingObjects(device.store).record(Self.club, object))
    record.values[1] = .null
    _ = try PendingStore.save(try record.change(.update), in: device.store)
    try exchange()
    let sent = try received().sorted { $0.position < $1.position }
    #expect(sent.map(\.kind) == [.create, .create, .update])
    for (index, operation) in sent.enumerated() {
      if index == refused {
        shore.refuse(operation.id)
      } else {
        shore.answer(operation.id, .notTried)
      }
    }
    try exchange()
    let now = try PendingObjects(device.store).record(Self.club, object)
    #expect(now?.values[1] == AttributeValue.null)
    // Each object has one change again, in the app's hands.
    let left = try device.operations()
    #expect(left.map(\.kind) == [.create, .create])
    #expect(left.contains { $0.object == object && ($0.changed[1] ?? .null) == .null })
  }

  @Test("Row 4: a device that was set back parts a circle into the same operations once more")
  func circleAgain() throws {
    var first = try make(.null)
    let second = try make(first.values[0])
    first.values[1] = second.values[0]
    _ = try PendingStore.save(try first.change(.update), in: device.store)
    var before: [OperationID] = []
    let setBack = FerryError(.cancelled, "the device is set back", hint: "Submit again.")
    #expect(throws: FerryError.self) {
      try device.store.withTransaction { transaction throws(FerryError) in
        for object in [first.object, second.object].compactMap(\.self) {
          _ = try Outbox(device.store).submit(Self.club, object)
        }
        before = try transaction.sql { connection throws(SQLiteError) in
          try OperationTable(device.store, connection).select("ORDER BY sequence", []).map(\.id)
        }
        throw setBack
      }
    }
    #expect(try device.operations().count == 2)
    for object in [first.object, second.object].compactMap(\.self) {
      _ = try Outbox(device.store).submit(Self.club, object)
    }
    #expect(try before.count == 3 && device.operations().map(\.id) == before)
    #expect(Set(before).count == 3)
  }

  @Test("Row 4: wait for the app while one of them is in its hand")
  func openCircle() throws {
    var first = try make(.null)
    let second = try make(first.values[0])
    first.values[1] = second.values[0]
    _ = try PendingStore.save(try first.change(.update), in: device.store)
    _ = try Outbox(device.store).submit(Self.club, try #require(first.object))
    try exchange()
    #expect(try received().isEmpty)
    _ = try Outbox(device.store).submit(Self.club, try #require(second.object))
    try exchange()
    #expect(try received().count == 3)
  }

  @Test("Row 5: three levels of new objects go one after the other")
  func levels() throws {
    let top = try make(.null)
    let middle = try make(top.values[0])
    _ = try make(middle.values[0])
    try Outbox(device.store).submitAll([Self.club])
    for level in 0..<3 {
      try exchange()
      #expect(try received().count == level + 1)
      shore.accept(try received()[level].id, newKey: ObjectKey([.integer(Int64(level + 1))]))
    }
    try exchange()
    #expect(try received().map { $0.changed[1] } == [nil, .integer(1), .integer(2)])
    #expect(try device.operations().isEmpty)
  }

  @Test("Row 5: while the middle one is refused the last waits, and goes when it is corrected")
  func middleRefused() throws {
    let top = try make(.null)
    let middle = try make(top.values[0])
    _ = try make(middle.values[0])
    try Outbox(device.store).submitAll([Self.club])
    try exchange()
    shore.accept(try received()[0].id, newKey: ObjectKey([.integer(1)]))
    try exchange()
    shore.refuse(try received()[1].id)
    try exchange()
    #expect(try received().count == 2)
    _ = try Outbox(device.store).submit(Self.club, try #require(middle.object))
    try exchange()
    shore.accept(try received()[2].id, newKey: ObjectKey([.integer(2)]))
    try exchange()
    #expect(try received().last?.changed[1] == .integer(2))
  }

  @Test("Row 5: the top one, cancelled, takes all with it")
  func topCancelled() throws {
    let top = try make(.null)
    let middle = try make(top.values[0])
    _ = try make(middle.values[0])
    _ = try Outbox(device.store).submit(Self.club, try #require(middle.object))
    #expect(
      try PendingStore.cancel(Self.club, try #require(top.object), in: device.store).count == 2)
    #expect(try device.operations().isEmpty)
    try exchange()
    #expect(try received().isEmpty)
  }
}
