import Ferry
import FerryModel
import FerryTestTraits
import FerryWire
import Testing

@testable import Ferry

/// Sheets of a folder, with two texts that may be long.
@Suite("What became too large to be sent while it waited")
struct TooLargeTests {
  private static let folder = Entity(
    name: "Folder", table: "folders",
    attributes: [Attribute(name: "id", column: "id", type: .long, isNullable: false)], key: [0],
    keyOrigin: .app, relationships: [], operations: [.create, .update, .delete], partition: nil,
    group: "default", ownsChildren: true)
  private static let sheet = Entity(
    name: "Sheet", table: "sheets",
    attributes: [
      Attribute(name: "id", column: "id", type: .long, isNullable: false),
      Attribute(name: "folder", column: "folder", type: .long, isNullable: false),
      Attribute(name: "front", column: "front", type: .string, isNullable: true),
      Attribute(name: "back", column: "back", type: .string, isNullable: true),
    ], key: [0], keyOrigin: .app,
    relationships: [
      Relationship(
        name: "in", target: "Folder", attributes: ["folder"], targetAttributes: ["id"],
        inverse: "sheets", isComposite: true)
    ], operations: [.create, .update, .delete], partition: nil, group: "default")

  private let shore: Shore
  private let device: Device

  init() throws {
    let model = Package(
      name: "Folders", version: "1.0", entities: [Self.folder, Self.sheet],
      groups: [SynchronizationGroup(name: "default")])
    shore = Shore(model)
    device = try Device(model).loggedIn()
    shore.put(Self.folder, [.integer(1)])
    for id in 1...3 as ClosedRange<Int64> {
      shore.put(Self.sheet, [.integer(id), .integer(1), .null, .null])
    }
    try device.exchange(shore)
  }

  private func sheet(_ id: Int64) throws(FerryError) -> ObjectRecord {
    guard let record = try Records(device.store).of(Self.sheet, key: ObjectKey([.integer(id)]))
    else {
      throw FerryError(.objectNotFound, "no sheet \(id)", hint: "none")
    }
    return record
  }

  private func write(_ id: Int64, _ position: Int, _ text: String) throws(FerryError) {
    var record = try sheet(id)
    record.values[position] = .text(text)
    _ = try PendingStore.save(try record.change(.update), in: device.store)
  }

  @Test("The error calls a new object new, and names the types for big values")
  func newObject() throws {
    let device = try Device()
    let error = #expect(throws: FerryError.self) {
      var order = device.newOrder(String(repeating: "x", count: WireLimits.operationBytes))
      try order.create()
      try order.submitPending()
    }
    #expect(error?.code == .tooLarge)
    #expect(error?.message.hasPrefix("the change of the new Order has ") == true)
    #expect(error?.hint.contains("bigString or bigBinary") == true)
  }

  private func object(_ id: Int64) throws -> Int64 { try #require(try sheet(id).object) }

  /// The operations that were refused, as those hear who wait for them.
  private func heard(
    _ answers: AsyncStream<AnsweredOperation>
  ) async -> Set<OperationID> {
    device.store.answers.close()
    var ids: Set<OperationID> = []
    for await answer in answers {
      if case .refused = answer.outcome { ids.insert(answer.id) }
    }
    return ids
  }

  @Test(
    "Two submitted changes that are too large as one are one change of the app's again",
    .reference("sync/P2"))
  func joined() async throws {
    let long = String(repeating: "x", count: WireLimits.operationBytes * 6 / 10)
    try device.store.transaction { () throws(FerryError) in
      try write(1, 2, long)
      try write(2, 2, "short")
    }
    _ = try Outbox(device.store).submit(Self.sheet, try object(1))
    try write(1, 3, long)
    _ = try Outbox(device.store).submit(Self.sheet, try object(1))
    #expect(try device.operations().map(\.wanted) == [.no, .no, .yes])
    // The chain of the first loses a member, the graph of both another.
    _ = try PendingStore.cancel(Self.sheet, try object(2), in: device.store)
    try write(3, 2, "short")
    _ = try PendingStore.cancel(Self.sheet, try object(3), in: device.store)
    #expect(try device.operations().map(\.wanted) == [.again, .yes])
    let waiting = Set(try device.operations().map(\.id))
    let (_, answers) = device.store.answers.wait(for: waiting)
    device.handler.forget()
    try device.exchange(shore)
    #expect(shore.stored.isEmpty)
    let left = try device.operations()
    #expect(left.map { $0.changed.keys.sorted() } == [[2, 3]])
    #expect(left.map { $0.isOpen } == [true])
    let shown = try sheet(1)
    #expect(shown.values[2] == .text(long) && shown.values[3] == .text(long))
    #expect(shown.pending == .update && shown.replay.pending == 0, "it is not submitted any more")
    #expect(shown.failed)
    #expect(device.handler.heard == ["replayFailure Sheet 1 failed true"])
    let records = try LogRecords(device.store).of(LogRecordQuery(code: 422))
    #expect(records.count == 1 && records[0].message.contains("are allowed. Make its texts"))
    #expect(await heard(answers) == waiting)
    let error = #expect(throws: FerryError.self) {
      _ = try Outbox(device.store).submit(Self.sheet, try object(1))
    }
    #expect(error?.code == .tooLarge)
    // Made shorter, both go as one.
    try write(1, 3, "short")
    _ = try Outbox(device.store).submit(Self.sheet, try object(1))
    try device.exchange(shore)
    #expect(shore.stored.values.map(\.changed) == [[2: .text(long), 3: .text("short")]])
  }
  @Test("Of what submitAll leaves as it was, nobody hears that it was taken back")
  func submitAll() async throws {
    try write(1, 2, "short")
    _ = try Outbox(device.store).submit(Self.sheet, try object(1))
    try device.exchange(shore)
    let long = String(repeating: "x", count: WireLimits.operationBytes * 6 / 10)
    try device.store.transaction { () throws(FerryError) in
      try write(1, 2, long)
      var new = ObjectRecord(Self.sheet, store: device.store)
      (new.values[0], new.values[1]) = (.integer(9), .integer(1))
      _ = try PendingStore.save(try new.change(.create), in: device.store)
    }
    _ = try Outbox(device.store).submit(Self.sheet, try object(1))
    let create = try #require(try device.operations().last)
    #expect(create.kind == .create && create.wanted == .yes)
    _ = try PendingStore.save(try sheet(9).change(.delete), in: device.store)
    try write(1, 3, long)
    let (_, answers) = device.store.answers.wait(for: [create.id])
    let before = try device.operations()
    let error = #expect(throws: FerryError.self) { try Outbox(device.store).submitAll(Self.sheet) }
    #expect(error?.code == .tooLarge)
    #expect(try device.operations() == before)
    device.store.answers.close()
    var heard: [AnsweredOperation] = []
    for await answer in answers { heard.append(answer) }
    #expect(heard.isEmpty)
  }
}
