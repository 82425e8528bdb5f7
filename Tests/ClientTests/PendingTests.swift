import Ferry
import FerryModel
import FerrySQLite
import FerryTestTraits
import FerryWire
import FerryWorld
import Foundation
import Testing

@testable import Ferry

/// A shop with three orders, and a device that has imported them.
struct Stocked {
  let shore = Shore(Shop.package)
  let device: Device

  init() throws {
    device = try Device().loggedIn()
    for id in 1...3 {
      shore.put(Order.entity, [.integer(Int64(id)), .text("ALFKI"), .text("Bremen"), .text("1.5")])
    }
    try device.exchange(shore)
    device.handler.forget()
  }
}

@Suite("Pending operations on the device")
struct PendingTests {
  @Test(
    "Create, update, delete and save are in the database and pending, and nothing is sent",
    .reference("sync/P1", "facts/5.13")
  )
  func savedAndPending() throws {
    let shop = try Stocked()
    var order = try #require(try shop.device.order(1))
    order.city = "Kiel"
    try order.update()
    var other = try #require(try shop.device.order(2))
    try other.delete()
    var created = shop.device.newOrder("Jena")
    try created.save()
    #expect(created.id < Int64.min / 2, "a temporary key lies in the lowest quarter")
    try shop.device.exchange(shop.shore)
    #expect(shop.shore.received.isEmpty)
    #expect(
      try shop.device.dump()
        == "\(created.id) ALFKI Jena C\n1 ALFKI Kiel U\n3 ALFKI Bremen N")
  }

  @Test(
    "submitPending sends the pending change, with the values it was based on", .reference("sync/P2")
  )
  func submitted() throws {
    let shop = try Stocked()
    var order = try #require(try shop.device.order(1))
    order.city = "Kiel"
    try order.update()
    try order.submitPending()
    try shop.device.exchange(shop.shore)
    let operation = try #require(shop.shore.stored.values.first)
    #expect(operation.changed == [2: .text("Kiel")])
    #expect(operation.base == [2: .text("Bremen")])
    #expect(operation.key == ObjectKey([.integer(1)]))
  }

  @Test(
    "submitPendingOperations sends all of one entity only; what is not pending sends nothing",
    .reference("sync/P3", "sync/P4")
  )
  func submitAll() throws {
    let shop = try Stocked()
    for id in [1, 2] as [Int64] {
      var order = try #require(try shop.device.order(id))
      order.city = "Kiel"
      try order.save()
    }
    var line = shop.device.newLine(of: 3, 1, "tea")
    try line.create()
    var untouched = try #require(try shop.device.order(3))
    try untouched.submitPending()
    try Outbox(shop.device.store).submitAll(Order.entity)
    try shop.device.exchange(shop.shore)
    #expect(shop.shore.stored.values.map(\.entity) == ["Order", "Order"])
  }

  /// Changes the cities of the first orders; one of them is too long to be sent.
  private func changeCities(_ shop: Stocked, _ cities: [String]) throws(FerryError) {
    for (index, city) in cities.enumerated() {
      let key = ObjectKey([.integer(Int64(index + 1))])
      guard let record = try Records(shop.device.store).of(Order.entity, key: key) else { continue }
      var order = Order(record: record)
      order.city = city
      try order.update()
    }
  }

  private let tooLong = String(repeating: "x", count: 2_000_000)

  @Test(
    "A change that is too big to be sent stays, and all else is submitted",
    .reference("sync/P3", "facts/5.24"))
  func submitAllButOne() throws {
    let shop = try Stocked()
    try changeCities(shop, ["Kiel", tooLong, "Ulm"])
    let error = #expect(throws: FerryError.self) {
      try Outbox(shop.device.store).submitAll(Order.entity)
    }
    #expect(error?.code == .tooLarge)
    #expect(error?.entity == "Order" && error?.attribute == "city")
    #expect(error?.message.contains("1 pending object could not be submitted") == true)
    try shop.device.exchange(shop.shore)
    let keys = shop.shore.stored.values.compactMap { $0.key?.text }.sorted()
    #expect(keys == ["1", "3"])
    let stays = try #require(try shop.device.order(2))
    #expect(stays.isPending && stays.replayPending == 0 && stays.city == tooLong)
  }

  @Test(
    "What is replayed as one with a change that is too big stays with it", .reference("facts/5.24"))
  func submitAllButChain() throws {
    let shop = try Stocked()
    try shop.device.store.transaction { () throws(FerryError) in
      try changeCities(shop, ["Kiel", tooLong])
    }
    var third = try #require(try shop.device.order(3))
    third.city = "Ulm"
    try third.update()
    let error = #expect(throws: FerryError.self) {
      try Outbox(shop.device.store).submitAll(Order.entity)
    }
    #expect(error?.message.contains("2 pending objects could not be submitted") == true)
    try shop.device.exchange(shop.shore)
    #expect(shop.shore.stored.values.compactMap { $0.key?.text } == ["3"])
  }

  @Test(
    "All that is pending of a type is cancelled, of each thousand objects all or none",
    .reference("sync/P20"))
  func cancelAllTogether() throws {
    let shop = try Stocked()
    try changeCities(shop, ["Kiel", "Ulm", "Hof"])
    let before = try shop.device.dump()
    let run = { (statement: String) throws in
      try shop.device.store.write { connection throws(FerryError) in
        try shop.device.store.sql { () throws(SQLiteError) in try connection.execute(statement) }
      }
    }
    try run(
      """
      CREATE TRIGGER stop BEFORE DELETE ON ferry_operation WHEN old.key = '3'
      BEGIN SELECT RAISE(ABORT, 'no'); END
      """)
    #expect(throws: FerryError.self) { try Outbox(shop.device.store).cancelAll(Order.entity) }
    #expect(try shop.device.dump() == before)
    try run("DROP TRIGGER stop")
    try Outbox(shop.device.store).cancelAll(Order.entity)
    #expect(try shop.device.operations().isEmpty)
  }

  @Test("An object whose creation was undone with its transaction is new again, and can be saved")
  func undoneCreation() throws {
    let shop = try Stocked()
    var order = shop.device.newOrder("Jena")
    var line = shop.device.newLine(of: 0, 1, "tea")
    #expect(throws: FerryError.self) {
      try shop.device.store.transaction { () throws(FerryError) in
        try order.create()
        line.record.set(0, order.id)
        try line.create()
        order.city = "Gera"
        try order.update()
        throw FerryError(.cancelled, "no", hint: "None.")
      }
    }
    #expect(order.isNew && !order.isPending && order.surrogateKey == nil)
    // Its number is given to another one, which must not be taken for it.
    var other = shop.device.newOrder("Suhl")
    try other.create()
    order.customer = "BONAP"
    try order.save()
    try line.create()
    #expect(try line.order()?.city == "Gera")
    #expect(
      try shop.device.orders().filter(\.isCreated).map { "\($0.customer) \($0.city ?? "")" }
        .sorted()
        == ["ALFKI Suhl", "BONAP Gera"])
    try Outbox(shop.device.store).submitAll(Order.entity)
    try shop.device.exchange(shop.shore)
    let sent = shop.shore.stored.values
    #expect(sent.count { $0.entity == "Order" && $0.key == nil } == 2, "the keys are temporary")
    #expect(sent.allSatisfy { $0.changed[0] == nil }, "and not sent")
  }

  @Test("What a savepoint created is new again where the savepoint is undone, or all around it")
  func undoneSavepoint() throws {
    let shop = try Stocked()
    let store = shop.device.store
    var (first, second, third) = (
      shop.device.newOrder("Jena"), shop.device.newOrder("Gera"), shop.device.newOrder("Suhl")
    )
    try store.transaction { () throws(FerryError) in
      try first.create()
      do throws(FerryError) {
        try store.transaction { () throws(FerryError) in
          try second.create()
          throw FerryError(.cancelled, "no", hint: "None.")
        }
      } catch { guard error.code == .cancelled else { throw error } }
    }
    #expect(!first.isNew && second.isNew)
    try? store.transaction { () throws(FerryError) in
      try store.transaction { () throws(FerryError) in try third.create() }
      throw FerryError(.cancelled, "no", hint: "None.")
    }
    #expect(third.isNew)
    for order in [second, third] {
      var order = order
      try order.create()
    }
    #expect(try shop.device.orders().count(where: \.isCreated) == 3)
  }

  @Test("A refresh of an object whose delete is pending says so, and that it can be brought back")
  func refreshDeleted() throws {
    let shop = try Stocked()
    var order = try #require(try shop.device.order(1))
    try order.delete()
    let hidden = #expect(throws: FerryError.self) { try order.refresh() }
    #expect(hidden?.code == .objectNotFound)
    #expect(hidden?.hint == "Its delete is pending here: cancelPending restores it.")
    try order.cancelPending()
    try order.refresh()
    #expect(!order.isDeleted && !order.isPending)
    var new = shop.device.newOrder("Jena")
    let error = #expect(throws: FerryError.self) { try new.refresh() }
    #expect(error?.hint == "Call create or save first.")
  }

  @Test("Submitted operations go in messages that a server takes, the rest with the next one")
  func largeReplay() throws {
    let shop = try Stocked()
    let city = String(repeating: "x", count: 900_000)
    for _ in 0..<5 {
      var order = shop.device.newOrder(city)
      try order.create()
      try order.submitPending()
    }
    let sizes = try (0..<3).map { _ in
      try shop.device.store.withTransaction { transaction throws(FerryError) in
        let queue = OperationQueue(transaction)
        let operations = try queue.outgoing()?.operations ?? []
        try queue.acknowledge(operations.compactMap { try? Operation.identity(of: $0) })
        return operations.map(\.count).reduce(0, +)
      }
    }
    #expect(sizes.allSatisfy { $0 <= WireLimits.replayBytes })
    #expect(sizes[0] > 3_600_000 && sizes[1] > 900_000 && sizes[2] == 0)
  }

  @Test(
    "Pending changes survive a restart and are submitted later, with the same id",
    .reference("sync/P23"))
  func restart() throws {
    let shop = try Stocked()
    var order = try #require(try shop.device.order(1))
    order.city = "Kiel"
    try order.update()
    let id = try shop.device.operations()[0].id
    try shop.device.restart()
    var again = try #require(try shop.device.order(1))
    #expect(again.city == "Kiel" && again.isPending)
    try again.submitPending()
    try shop.device.restart()
    try shop.device.exchange(shop.shore)
    #expect(shop.shore.stored.keys.map(\.self) == [id])
  }

  @Test("Edits of one pending object merge into one operation that keeps the first base")
  func merge() throws {
    let shop = try Stocked()
    var order = try #require(try shop.device.order(1))
    order.city = "Kiel"
    try order.update()
    order.city = "Jena"
    order.customer = "BONAP"
    try order.update()
    let operations = try shop.device.operations()
    #expect(operations.count == 1)
    #expect(operations[0].changed == [1: .text("BONAP"), 2: .text("Jena")])
    #expect(operations[0].base == [1: .text("ALFKI"), 2: .text("Bremen")])
  }

  @Test("A create that was not submitted and its delete leave nothing to send")
  func createThenDelete() throws {
    let shop = try Stocked()
    var order = shop.device.newOrder("Jena")
    try order.create()
    try order.delete()
    #expect(try shop.device.operations().isEmpty)
    #expect(try shop.device.orders().count == 3)
  }

  @Test(
    "cancelPending shows the server's values again; a pending create disappears",
    .reference("sync/P20"))
  func cancel() throws {
    let shop = try Stocked()
    var order = try #require(try shop.device.order(1))
    order.city = "Kiel"
    try order.update()
    var deleted = try #require(try shop.device.order(2))
    try deleted.delete()
    var created = shop.device.newOrder("Jena")
    try created.create()
    try order.cancelPending()
    #expect(order.city == "Bremen" && !order.isPending)
    try Outbox(shop.device.store).cancelAll(Order.entity)
    #expect(try shop.device.dump() == "1 ALFKI Bremen N\n2 ALFKI Bremen N\n3 ALFKI Bremen N")
    #expect(try shop.device.originals(Order.entity) == 0)
    #expect(try shop.device.operations().isEmpty)
  }

  @Test("Cancelling a create takes along the pending children that need its key, and says so")
  func cancelParent() throws {
    let shop = try Stocked()
    var order = shop.device.newOrder("Jena")
    try order.create()
    var line = shop.device.newLine(of: order.id, 1, "tea")
    try line.create()
    let gone = try order.cancelPending()
    #expect(gone == [line.record.key])
    #expect(try shop.device.operations().isEmpty)
  }

  @Test("What was submitted and never sent is cancelled for good")
  func cancelUnsent() throws {
    let shop = try Stocked()
    var order = try #require(try shop.device.order(1))
    order.city = "Kiel"
    try order.update()
    try order.submitPending()
    try order.cancelPending()
    try shop.device.exchange(shop.shore)
    #expect(shop.shore.received.isEmpty)
  }

  @Test(
    "A value that its attribute cannot take is refused when it is saved, by name and with a cure")
  func invalid() throws {
    let shop = try Stocked()
    var order = shop.device.newOrder("Jena", customer: "TOOLONG")
    let error = #expect(throws: FerryError.self) { try order.create() }
    #expect(error?.message == "Order.customer cannot be saved: 7 characters are more than 5")
    #expect(try shop.device.operations().isEmpty)
  }

  @Test(
    "Opening makes the database, and opening it again keeps all that it holds",
    .reference("sync/M6", "sync/M7"))
  func open() throws {
    let shop = try Stocked()
    var order = try #require(try shop.device.order(1))
    order.city = "Kiel"
    try order.update()
    let before = try shop.device.dump()
    try shop.device.restart()
    #expect(try shop.device.dump() == before)
  }

  @Test("A database of another package is refused, and so is a file that is none")
  func otherFile() throws {
    let device = try Device()
    let world = World(clock: GivenClock(), chance: SystemChance(), log: SilentLog())
    let other = Package(
      name: "Other", version: "1.0", entities: [], groups: [SynchronizationGroup(name: "default")])
    let error = #expect(throws: FerryError.self) {
      try Store(path: device.path, model: other, world: world, durability: .application)
    }
    #expect(error?.code == .otherOwner)
    let text = device.folder.appendingPathComponent("text.db").path
    try String(repeating: "no database ", count: 100).write(
      toFile: text, atomically: true, encoding: .utf8)
    let none = #expect(throws: FerryError.self) {
      try Store(path: text, model: other, world: world, durability: .application)
    }
    #expect(none?.hint.contains("no Ferry database") == true)
  }
}
