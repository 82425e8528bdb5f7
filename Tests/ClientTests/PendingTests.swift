import Ferry
import FerryModel
import FerrySQLite
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
    "sync/P1: create, update, delete and save are in the database and pending, and nothing is sent")
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

  @Test("sync/P2: submitPending sends the pending change, with the values it was based on")
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
    #expect(operation.key == Key([.integer(1)]))
  }

  @Test(
    "sync/P3, P4: submitPendingOperations sends all of one entity only; what is not pending sends nothing"
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
    try shop.device.store.submitAll(Order.entity)
    try shop.device.exchange(shop.shore)
    #expect(shop.shore.stored.values.map(\.entity) == ["Order", "Order"])
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
      try shop.device.store.write { connection throws(FerryError) in
        try shop.device.store.sql { () throws(SQLiteError) in
          let replay = try shop.device.store.outgoing(connection)
          let operations = replay?.operations ?? []
          try shop.device.store.acknowledge(
            operations.compactMap { try? Operation.identity(of: $0) }, connection)
          return operations.map(\.count).reduce(0, +)
        }
      }
    }
    #expect(sizes.allSatisfy { $0 <= WireLimits.replayBytes })
    #expect(sizes[0] > 3_600_000 && sizes[1] > 900_000 && sizes[2] == 0)
  }

  @Test("sync/P23: pending changes survive a restart and are submitted later, with the same id")
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

  @Test("sync/P20: cancelPending shows the server's values again; a pending create disappears")
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
    try shop.device.store.cancelAll(Order.entity)
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

  @Test("Deleting and creating again with the same key is one update")
  func recreate() throws {
    let shop = try Stocked()
    shop.shore.put(Line.entity, [.integer(1), .integer(1), .text("tea")])
    try shop.device.exchange(shop.shore)
    var line = try #require(
      try shop.device.store.record(Line.entity, key: Key([.integer(1), .integer(1)])).map(Line.init)
    )
    try line.delete()
    var again = shop.device.newLine(of: 1, 1, "coffee")
    try again.create()
    let operations = try shop.device.operations()
    #expect(operations.count == 1 && operations[0].kind == .update)
    #expect(operations[0].base == [2: .text("tea")])
    #expect(again.surrogateKey == line.surrogateKey)
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

  @Test("sync/M6, M7: opening makes the database, and opening it again keeps all that it holds")
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
