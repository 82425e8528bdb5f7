import Ferry
import FerryModel
import FerrySQLite
import FerryTestTraits
import FerryWire
import Testing

@testable import Ferry

/// What becomes of references where the create is answered, or will never be.
extension CancelledKeyTests {
  private func submit(_ record: ObjectRecord) throws {
    _ = try Outbox(device.store).submit(Self.maker, try #require(record.object))
  }

  private func sent() -> [[Int: AttributeValue]] {
    shore.stored.values.filter { $0.kind == .update }.map(\.changed)
  }

  @Test("A delete behind a reference that is taken back is based on what was there before it")
  func deletedBehindReference() throws {
    let new = try create("new")
    try update(1, owner: new.values[0])
    try submit(1)
    try #require(try device.operations().map(\.wanted) == [.no, .yes])
    _ = try PendingStore.save(try maker(1).change(.delete), in: device.store)
    _ = try cancel(new)
    let operations = try device.operations()
    #expect(operations.map(\.kind) == [.delete])
    #expect(operations.map { $0.base[2] } == [.integer(3)])
  }

  @Test(
    "What was edited behind a change that was sent with a new object is based on the object's own key"
  )
  func basedOnNewKey() throws {
    try device.store.transaction { () throws(FerryError) in
      do {
        let made = try create("new")
        try update(1, owner: made.values[0])
      } catch {}
    }
    try Outbox(device.store).submitAll(Self.maker)
    try device.exchange(shore)
    let sent = try device.operations()
    try #require(sent.map(\.state) == [.submitted, .submitted])
    try update(1, owner: .null)
    // The server found the change performed, and says nothing of what was written.
    shore.accept(sent[0].id, newKey: ObjectKey([.integer(11)]))
    shore.accept(sent[1].id, changing: [2: .integer(11)])
    try device.exchange(shore)
    #expect(try device.operations().map(\.base) == [[2: .integer(11)]])
  }

  @Test(
    "What refers to a create that is refused and was deleted stays, is not sent, and is told",
    .reference("sync/P15"),
    arguments: [true, false])
  func refusedAndDeleted(isSubmitted: Bool) async throws {
    let new = try create("new")
    try submit(new)
    try device.exchange(shore)
    let id = try device.operations()[0].id
    try update(1, owner: new.values[0], name: "one")
    try submit(1)
    let child = try create("child", owner: new.values[0])
    try submit(child)
    let second = try create("second", owner: new.values[0])
    let waiting = Set(try device.operations()[1...2].map(\.id))
    let (_, answers) = device.store.answers.wait(for: waiting)
    _ = try PendingStore.save(try new.change(.delete), in: device.store)
    if isSubmitted { try submit(new) }
    shore.refuse(id)
    device.handler.forget()
    try device.exchange(shore)
    try device.exchange(shore)
    #expect(shore.stored.count == 1, "the create alone was ever sent")
    #expect(try device.operations().map(\.state) == [.replayFailed, .replayFailed, .waiting])
    #expect(try maker(1).failed)
    let told = device.handler.heard.filter { $0.hasPrefix("replayFailure") }
    #expect(
      told.dropFirst() == [
        "replayFailure Maker 1 failed true", "replayFailure Maker \(child.key) failed true",
      ])
    let records = try LogRecords(device.store).of(LogRecordQuery(component: "Maker", code: 422))
    #expect(records.count == 2 && records.allSatisfy { $0.attribute == "owner" })
    #expect(records[0].message.contains("refers to a new Maker that is not in this database"))
    let error = #expect(throws: FerryError.self) { try submit(second) }
    #expect(error?.code == .invalidReference && error?.attribute == "owner")
    // Corrected, they go.
    try update(1, owner: .integer(2), name: "one")
    try submit(1)
    for new in [child, second] {
      let known = try Records(device.store).of(Self.maker, object: try #require(new.object))
      var record = try #require(known)
      record.values[2] = .integer(2)
      _ = try PendingStore.save(try record.change(.update), in: device.store)
      try submit(record)
    }
    try device.exchange(shore)
    #expect(shore.stored.values.count { $0.changed[2] == .integer(2) } == 3)
    device.store.answers.close()
    var heard: Set<OperationID> = []
    for await answer in answers {
      if case .refused = answer.outcome { heard.insert(answer.id) }
    }
    #expect(heard == waiting)
  }

  @Test("What was submitted with a change that refers to it is refused with it, at the door, too")
  func refusedWithIt() throws {
    let new = try create("new")
    try submit(new)
    try device.exchange(shore)
    let id = try device.operations()[0].id
    try device.store.transaction { () throws(FerryError) in
      for (number, owner) in [(1, new.values[0]), (2, .integer(1))] as [(Int64, AttributeValue)] {
        let known = try Records(device.store).of(Self.maker, key: ObjectKey([.integer(number)]))
        guard var record = known else { continue }
        record.values[2] = owner
        _ = try PendingStore.save(try record.change(.update), in: device.store)
      }
    }
    try submit(1)
    _ = try PendingStore.save(try new.change(.delete), in: device.store)
    try AnswerTaker.take(
      refused: [
        Answer(id: id, version: 0, outcome: .replayFailed, newKey: nil, logRecords: [])
      ], in: device.store)
    try device.exchange(shore)
    #expect(shore.stored.count == 1, "the create alone was ever sent")
    #expect(try device.operations().map(\.state) == [.replayFailed, .replayFailed])
  }

  @Test("A create that was cancelled on its way and never came leaves nothing that has its key")
  func neverSeen() throws {
    let new = try create("new")
    try submit(new)
    try device.exchange(shore)
    let id = try device.operations()[0].id
    _ = try cancel(new)
    // From a copy that is older than the cancel.
    try update(1, owner: new.values[0], name: "one")
    try submit(1)
    #expect(try device.operations().map(\.wanted) == [.no, .yes])
    try device.store.withTransaction { transaction throws(FerryError) in
      try OperationQueue(transaction).neverSeen(id)
    }
    #expect(try shown(1) == "\"one\" 3 U")
    try device.exchange(shore)
    #expect(sent() == [[1: .text("one")]])
  }
}
