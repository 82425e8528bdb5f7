import Ferry
import FerryModel
import FerrySQLite
import FerryWire
import Synchronization
import Testing

@testable import Ferry

private final class Rings: Sendable {
  let count = Mutex(0)
}

/// What was submitted and had to wait goes by itself when nothing is left that it waits for, also
/// where that went without an answer (sync/P2).
@Suite("What wakes a submit that waits")
struct WakingTests {
  private let shop: Stocked
  private var store: Store { shop.device.store }

  init() throws { shop = try Stocked() }

  private func edit(_ id: Int64, _ city: String) throws(FerryError) {
    guard var order = try Records(store).of(Order.entity, key: ObjectKey([.integer(id)])) else {
      throw FerryError(.objectNotFound, "no order \(id)", hint: "none")
    }
    order.set(2, city as String?)
    _ = try PendingStore.save(try order.change(.update), in: store)
  }

  /// The order is on its way with "Kiel".
  private func onItsWay(_ id: Int64) throws -> OperationID {
    try edit(id, "Kiel")
    try Outbox(store).submitAll(Order.entity)
    try shop.device.exchange(shop.shore)
    return try #require(try shop.device.operations().last).id
  }

  private func isOutgoing() throws -> Bool {
    try store.withSnapshot { transaction throws(FerryError) in
      try OperationQueue(transaction).hasOutgoing()
    }
  }

  /// What was sent of these orders.
  private func sent(_ id: Int64) -> [[Int: AttributeValue]] {
    shop.shore.stored.values.filter { $0.key == ObjectKey([.integer(id)]) }.map(\.changed)
  }

  @Test("A refused create that is deleted: what was submitted behind it goes")
  func deletedCreate() throws {
    var new = shop.device.newOrder("Jena")
    try new.create()
    try new.submitPending()
    try shop.device.exchange(shop.shore)
    let id = try #require(try shop.device.operations().first).id
    try store.transaction { () throws(FerryError) in
      new.city = "Gera"
      try new.update()
      try edit(1, "Ulm")
    }
    try Outbox(store).submitAll(Order.entity)
    shop.shore.refuse(id)
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.operations().map(\.state) == [.replayFailed, .waiting])
    #expect(try !isOutgoing())
    try new.refresh()
    try new.delete()
    #expect(try shop.device.operations().map(\.isOpen) == [false])
    try shop.device.exchange(shop.shore)
    #expect(sent(1) == [[2: .text("Ulm")]])
  }

  @Test(
    "A refused delete whose object is made again: what was submitted with it goes")
  func recreated() throws {
    shop.shore.put(Line.entity, [.integer(1), .integer(1), .text("tea")])
    try shop.device.exchange(shop.shore)
    let key = ObjectKey([.integer(1), .integer(1)])
    var line = try #require(try Records(store).of(Line.entity, key: key).map(Line.init))
    line.text = "nail"
    try line.update()
    try line.submitPending()
    try shop.device.exchange(shop.shore)
    let id = try #require(try shop.device.operations().first).id
    try store.transaction { () throws(FerryError) in
      try line.delete()
      try edit(1, "Ulm")
    }
    try line.submitPending()
    shop.shore.refuse(id)
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.operations().map(\.state) == [.replayFailed, .waiting])
    var again = shop.device.newLine(of: 1, 1, "tea")
    try again.create()
    #expect(try shop.device.operations().map(\.isOpen) == [false])
    try shop.device.exchange(shop.shore)
    #expect(sent(1) == [[2: .text("Ulm")]])
  }

  @Test(
    "A create refused at the door, with its delete submitted behind it: what came with that goes")
  func refusedAtTheDoor() throws {
    var new = shop.device.newOrder("Jena")
    try new.create()
    try new.submitPending()
    try shop.device.exchange(shop.shore)
    let id = try #require(try shop.device.operations().first).id
    try store.transaction { () throws(FerryError) in
      try new.delete()
      try edit(1, "Ulm")
    }
    try Outbox(store).submitAll(Order.entity)
    #expect(try shop.device.operations().map(\.wanted) == [.no, .yes, .yes])
    try AnswerTaker.take(
      refused: [
        Answer(id: id, version: 0, outcome: .replayFailed, newKey: nil, logRecords: [])
      ], in: store)
    #expect(try isOutgoing())
    try shop.device.exchange(shop.shore)
    #expect(sent(1) == [[2: .text("Ulm")]])
  }

  @Test("A change that was cancelled on its way and never came: what waits behind it goes")
  func neverSeen() throws {
    let id = try onItsWay(1)
    var order = try #require(try shop.device.order(1))
    try order.cancelPending()
    try store.transaction { () throws(FerryError) in
      try edit(1, "Ulm")
      try edit(2, "Ulm")
    }
    try Outbox(store).submitAll(Order.entity)
    #expect(try shop.device.operations().map(\.wanted) == [.no, .yes, .yes])
    let rings = Rings()
    store.bell.onRing { rings.count.withLock { $0 += 1 } }
    try store.withTransaction { transaction throws(FerryError) in
      try OperationQueue(transaction).neverSeen(id)
    }
    #expect(try isOutgoing())
    #expect(rings.count.withLock { $0 } == 1, "the session is told")
    try shop.device.exchange(shop.shore)
    #expect(sent(2) == [[2: .text("Ulm")]])
  }

  @Test("A change that was not tried takes back the submit of what came behind it, of all of that")
  func notTried() async throws {
    let id = try onItsWay(1)
    try store.transaction { () throws(FerryError) in
      try edit(1, "Ulm")
      try edit(2, "Ulm")
    }
    try Outbox(store).submitAll(Order.entity)
    let ids = try shop.device.operations().map(\.id)
    let (_, answers) = store.answers.wait(for: Set(ids))
    shop.shore.answer(id, .notTried)
    try shop.device.exchange(shop.shore)
    try shop.device.exchange(shop.shore)
    #expect(sent(2).isEmpty, "one transaction's changes are not sent one by one")
    let left = try shop.device.operations()
    #expect(left.map(\.isOpen) == [true, true])
    let second = try #require(try shop.device.order(2))
    #expect(second.replayPending == 0)
    var first = try #require(try shop.device.order(1))
    try first.submitPending()
    try shop.device.exchange(shop.shore)
    let sent = shop.shore.stored.values.filter { $0.count == 2 }
    #expect(sent.map { $0.changed[2] } == [.text("Ulm"), .text("Ulm")])
    store.answers.close()
    var heard: Set<OperationID> = []
    for await answer in answers where answer.outcome == .notTried { heard.insert(answer.id) }
    #expect(heard == Set(ids))
  }

  @Test("With it comes what the app has changed since: one change of each object is in its hand")
  func notTriedWithMore() async throws {
    let id = try onItsWay(1)
    try store.transaction { () throws(FerryError) in
      try edit(1, "Ulm")
      try edit(2, "Ulm")
    }
    try Outbox(store).submitAll(Order.entity)
    try edit(2, "Hof")
    // As when a reference of it was taken back: it counts on, and the edit is the newer one all the same.
    try store.write { connection throws(FerryError) in
      try store.sql { () throws(SQLiteError) in
        try connection.run("UPDATE ferry_operation SET counter = counter + 9000 WHERE wanted > 0")
      }
    }
    let ids = try shop.device.operations().map(\.id)
    let (_, answers) = store.answers.wait(for: Set(ids))
    shop.shore.answer(id, .notTried)
    try shop.device.exchange(shop.shore)
    let left = try shop.device.operations()
    #expect(left.map(\.isOpen) == [true, true])
    #expect(left.map { $0.changed[2] } == [.text("Ulm"), .text("Hof")])
    #expect(left.map { $0.base[2] } == [.text("Bremen"), .text("Bremen")])
    store.answers.close()
    var heard: Set<OperationID> = []
    for await answer in answers where answer.outcome == .notTried { heard.insert(answer.id) }
    #expect(heard == Set(ids))
  }
}
