import Ferry
import FerryModel
import FerryTestTraits
import FerryWire
import Testing

@testable import Ferry

/// Makers refer to their parents, and to their cities' makers, by keys that the business system
/// gives.
@Suite("What refers to a temporary key that was cancelled")
struct CancelledKeyTests {
  static let maker = Entity(
    name: "Maker", table: "makers",
    attributes: [
      Attribute(name: "id", column: "id", type: .long, isNullable: false),
      Attribute(name: "name", column: "name", type: .string, isNullable: false),
      Attribute(name: "owner", column: "owner", type: .long, isNullable: true),
    ], key: [0], keyOrigin: .businessSystem,
    relationships: [
      Relationship(
        name: "parent", target: "Maker", attributes: ["owner"], targetAttributes: ["id"])
    ], operations: [.create, .update, .delete], partition: nil, group: "default")

  let shore: Shore
  let device: Device

  init() throws {
    let model = Package(
      name: "Makers", version: "1.0", entities: [Self.maker],
      groups: [SynchronizationGroup(name: "default")])
    shore = Shore(model)
    device = try Device(model).loggedIn()
    for id in 1...3 as ClosedRange<Int64> {
      shore.put(Self.maker, [.integer(id), .text("m\(id)"), id == 3 ? .null : .integer(3)])
    }
    try device.exchange(shore)
  }

  func create(_ name: String, owner: AttributeValue = .null) throws -> ObjectRecord {
    var record = ObjectRecord(Self.maker, store: device.store)
    record.values[1] = .text(name)
    record.values[2] = owner
    return try #require(try PendingStore.save(try record.change(.create), in: device.store))
  }

  func update(_ id: Int64, owner: AttributeValue, name: String? = nil) throws {
    var record = try maker(id)
    record.values[2] = owner
    if let name { record.values[1] = .text(name) }
    _ = try PendingStore.save(try record.change(.update), in: device.store)
  }

  func maker(_ id: Int64) throws -> ObjectRecord {
    try #require(try Records(device.store).of(Self.maker, key: ObjectKey([.integer(id)])))
  }

  func cancel(_ record: ObjectRecord) throws -> [ObjectKey] {
    try PendingStore.cancel(Self.maker, try #require(record.object), in: device.store)
  }

  func shown(_ id: Int64) throws -> String {
    let record = try maker(id)
    return "\(record.values[1].shown) \(record.values[2].shown) \(record.pending.rawValue)"
  }

  @Test("A pending update refers again to what it did before; what else it changed stays pending")
  func takenBack() throws {
    let new = try create("new")
    try update(1, owner: new.values[0], name: "one")
    try update(2, owner: new.values[0])
    #expect(try cancel(new) == [ObjectKey([.integer(1)]), ObjectKey([.integer(2)])])
    #expect(try shown(1) == "\"one\" 3 U")
    #expect(try shown(2) == "\"m2\" 3 N", "nothing is left to send")
    let operations = try device.operations()
    #expect(operations.map(\.changed) == [[1: .text("one")]])
    #expect(operations.map(\.base) == [[1: .text("m1")]])
  }

  @Test("What was submitted, waits for it and was deleted since goes with it, and nothing is told")
  func deletedWhileItWaited() throws {
    let first = try create("first")
    _ = try Outbox(device.store).submitAll(Self.maker)
    try device.exchange(shore)
    let second = try create("second", owner: first.values[0])
    let third = try create("third", owner: second.values[0])
    _ = try Outbox(device.store).submitAll(Self.maker)
    #expect(try device.operations().map(\.wanted) == [.no, .yes, .yes])
    _ = try PendingStore.save(try third.change(.delete), in: device.store)
    _ = try PendingStore.save(try second.change(.delete), in: device.store)
    _ = try Outbox(device.store).submit(Self.maker, try #require(second.object))
    #expect(try device.operations().map(\.key) == [first.key])
    for _ in 0..<3 { try device.exchange(shore) }
    #expect(!device.handler.heard.contains { $0.hasPrefix("replayFailure") })
  }

  @Test("So it is where the new object is deleted before it was submitted")
  func deleted() throws {
    let new = try create("new")
    try update(1, owner: new.values[0], name: "one")
    _ = try PendingStore.save(try new.change(.delete), in: device.store)
    #expect(try shown(1) == "\"one\" 3 U")
    #expect(try device.operations().map(\.changed) == [[1: .text("one")]])
  }

  @Test("What was sealed with it and never sent waits again, without the reference")
  func recalled() throws {
    var new: ObjectRecord?
    try device.store.transaction { () throws(FerryError) in
      do {
        let made = try create("new")
        try update(1, owner: made.values[0], name: "one")
        new = made
      } catch {}
    }
    try Outbox(device.store).submitAll(Self.maker)
    #expect(try cancel(try #require(new)) == [ObjectKey([.integer(1)])])
    #expect(try shown(1) == "\"one\" 3 U")
    try device.exchange(shore)
    #expect(shore.stored.values.map(\.changed) == [[1: .text("one")]])
  }

  /// A new object and a change that refers to it, on their way as one; the first is cancelled.
  private func cancelledOnItsWay() throws -> (create: PendingOperation, update: PendingOperation) {
    var new: ObjectRecord?
    try device.store.transaction { () throws(FerryError) in
      do {
        let made = try create("new")
        try update(1, owner: made.values[0], name: "one")
        new = made
      } catch {}
    }
    try Outbox(device.store).submitAll(Self.maker)
    try device.exchange(shore)
    _ = try cancel(try #require(new))
    let operations = try device.operations()
    return (operations[0], operations[1])
  }

  @Test(
    "What was sent with it and is refused with it refers again to what it did before",
    .reference("sync/P21"))
  func refusedTogether() throws {
    let (create, update) = try cancelledOnItsWay()
    #expect(create.state == .withdrawn && update.state == .submitted)
    shore.refuse(create.id)
    shore.refuse(update.id)
    try device.exchange(shore)
    #expect(try shown(1) == "\"one\" 3 U")
    let operations = try device.operations()
    #expect(operations.map(\.changed) == [[1: .text("one")]])
    #expect(operations.map(\.state) == [.replayFailed])
    #expect(try maker(1).failed)
  }

  @Test(
    "Where it was done after all, all of it is shown, under the key that it was given",
    .reference("sync/P21"))
  func acceptedTogether() throws {
    let (create, update) = try cancelledOnItsWay()
    shore.accept(create.id, newKey: ObjectKey([.integer(9)]))
    shore.accept(update.id, changing: [2: .integer(9)])
    try device.exchange(shore)
    #expect(try shown(1) == "\"one\" 9 N")
    #expect(try shown(9) == "\"new\" null N")
    #expect(try device.operations().isEmpty)
  }

  @Test("An object that others deleted under its pending update keeps the rest of it, too")
  func withoutImage() throws {
    let new = try create("new")
    try update(1, owner: new.values[0], name: "one")
    shore.remove(Self.maker, ObjectKey([.integer(1)]))
    try device.exchange(shore)
    _ = try cancel(new)
    #expect(try shown(1) == "\"one\" 3 U")
  }

  func submit(_ id: Int64) throws {
    let object = try #require(try maker(id).object)
    _ = try Outbox(device.store).submit(Self.maker, object)
  }

  @Test("What is submitted and waits for the key lets it go too, under an edit that was made since")
  func heldUnderEdit() throws {
    let new = try create("new")
    try update(1, owner: new.values[0], name: "one")
    try submit(1)
    try update(1, owner: new.values[0], name: "uno")
    #expect(try cancel(new) == [ObjectKey([.integer(1)])])
    #expect(try device.operations().map(\.changed) == [[1: .text("one")], [1: .text("uno")]])
    #expect(try shown(1) == "\"uno\" 3 U")
    // It waited for the key alone, and goes without another answer.
    try device.exchange(shore)
    #expect(shore.stored.values.map(\.changed) == [[1: .text("one")]])
  }

  @Test("Another reference that is submitted stays, and shows again")
  func otherReference() throws {
    let new = try create("new")
    try update(1, owner: .null)
    try submit(1)
    try device.exchange(shore)
    try update(1, owner: .integer(2))
    try submit(1)
    try update(1, owner: new.values[0])
    _ = try cancel(new)
    #expect(try device.operations().map(\.changed) == [[2: .null], [2: .integer(2)]])
    #expect(try shown(1) == "\"m1\" 2 U")
  }

  @Test("What is submitted and waits gets the final key, under an edit that refers elsewhere")
  func followed() throws {
    let new = try create("new")
    _ = try Outbox(device.store).submit(Self.maker, new.object ?? 0)
    try device.exchange(shore)
    let id = try device.operations()[0].id
    try update(1, owner: new.values[0])
    try submit(1)
    try update(1, owner: .integer(2))
    shore.accept(id, newKey: ObjectKey([.integer(9)]))
    try device.exchange(shore)
    try device.exchange(shore)
    #expect(
      shore.stored.values.compactMap { $0.kind == .update ? $0.changed : nil } == [[2: .integer(9)]]
    )
    #expect(try device.operations().map { $0.base[2] } == [.integer(3), .integer(9)])
  }

  @Test("A create that waits, deleted and submitted again, leaves nothing that has its key")
  func joinedToNothing() async throws {
    let parent = try create("parent")
    _ = try Outbox(device.store).submit(Self.maker, parent.object ?? 0)
    try device.exchange(shore)
    let new = try create("new", owner: parent.values[0])
    _ = try Outbox(device.store).submit(Self.maker, new.object ?? 0)
    _ = try create("child", owner: new.values[0])
    let held = try device.operations()[1].id
    let (_, answers) = device.store.answers.wait(for: [held])
    _ = try PendingStore.save(try new.change(.delete), in: device.store)
    _ = try Outbox(device.store).submit(Self.maker, new.object ?? 0)
    #expect(try device.operations().count == 1, "the parent's create")
    device.store.answers.close()
    var heard: [AnsweredOperation.Outcome] = []
    for await answer in answers { heard.append(answer.outcome) }
    #expect(heard == [.cancelled])
  }

  @Test("What goes with a create that leaves nothing is no part of the chain that is sent")
  func joinedInChain() throws {
    let parent = try create("parent")
    _ = try Outbox(device.store).submit(Self.maker, parent.object ?? 0)
    try device.exchange(shore)
    var second = try maker(2)
    second.values[1] = .text("two")
    let new = try device.store.transaction { () throws(FerryError) -> ObjectRecord in
      var records: [ObjectRecord] = [parent]
      for name in ["new", "child"] {
        var record = ObjectRecord(Self.maker, store: device.store)
        record.values[1] = .text(name)
        record.values[2] = records[records.count - 1].values[0]
        if let made = try PendingStore.save(try record.change(.create), in: device.store) {
          records.append(made)
        }
      }
      _ = try PendingStore.save(try second.change(.update), in: device.store)
      return records[1]
    }
    _ = try Outbox(device.store).submit(Self.maker, new.object ?? 0)
    _ = try PendingStore.save(try new.change(.delete), in: device.store)
    _ = try Outbox(device.store).submit(Self.maker, new.object ?? 0)
    #expect(try device.operations().map(\.kind) == [.create, .update])
    try device.exchange(shore)
    let sent = try shore.received.map { try Operation($0, in: shore.model) }
    #expect(sent.map(\.kind) == [.create, .update])
    #expect(sent.map(\.count) == [1, 1], "the server waits for as many as are named")
  }

  @Test("An update of an object whose create is on its way is taken back, and the object stays")
  func createOnItsWay() throws {
    let other = try create("other")
    let object = try #require(other.object)
    _ = try Outbox(device.store).submit(Self.maker, object)
    try device.exchange(shore)
    let new = try create("new")
    let known = try Records(device.store).of(Self.maker, object: object)
    var referring = try #require(known)
    referring.values[2] = new.values[0]
    _ = try PendingStore.save(try referring.change(.update), in: device.store)
    _ = try cancel(new)
    let operations = try device.operations()
    #expect(operations.map(\.state) == [.submitted])
    let left = try Records(device.store).of(Self.maker, object: object)
    #expect(left?.values[2].isNull == true)
  }

  @Test("Nobody hears of a cancel that was undone with its transaction")
  func undone() async throws {
    let new = try create("new")
    let ids = try device.operations().map(\.id)
    let (_, answers) = device.store.answers.wait(for: Set(ids))
    try device.store.transaction { () throws(FerryError) in
      _ = try PendingStore.cancel(Self.maker, new.object ?? 0, in: device.store)
      try device.store.rollback()
    }
    device.store.answers.close()
    for await answer in answers { Issue.record("\(answer)") }
    #expect(try device.operations().map(\.id) == ids)
  }

  @Test("Who waits for what became of a change that went along hears that it was cancelled")
  func told() async throws {
    let new = try create("new")
    try update(2, owner: new.values[0])
    _ = try create("child", owner: new.values[0])
    let ids = try device.operations().map(\.id)
    let (_, answers) = device.store.answers.wait(for: Set(ids))
    _ = try cancel(new)
    device.store.answers.close()
    var heard: [OperationID] = []
    for await answer in answers where answer.outcome == .cancelled { heard.append(answer.id) }
    #expect(Set(heard) == Set(ids))
    #expect(try device.operations().isEmpty)
  }
}
