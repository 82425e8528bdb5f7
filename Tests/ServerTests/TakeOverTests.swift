import FerryConnector
import FerryModel
import FerryTestKit
import FerryWire
import Testing

@testable import FerryServer

/// A device sends changes with one version of a package and moves to another on the same store.
@Suite struct TakeOverTests {
  private static let key: ObjectKey = ObjectKey([.integer(1)])
  private let old: Bench
  private let phone: Device

  init() throws {
    old = try Bench()
    old.business.put(Shop.product, [.integer(1), .text("a")])
    try old.load()
    phone = try Device(old).exchange()
  }

  private func version(_ version: String, _ entities: [Entity] = Shop.all) -> Package {
    Package(
      name: "shop", version: version, entities: entities,
      groups: [SynchronizationGroup(name: "sales")])
  }

  /// The newer version, over what the business system has by now.
  private func moved(
    _ entities: [Entity] = Shop.all, wrap: @escaping (any Store) -> any Store = { $0 }
  ) throws -> Bench {
    let new = try Bench(version("1.1", entities), on: old, wrap: wrap)
    for row in old.business.images(Shop.product) {
      if let values = row.values { new.business.put(Shop.product, values) }
    }
    try new.load()
    return new
  }

  private func sendChange() throws -> OperationID {
    let (id, bytes) = old.operation(
      Shop.product, .update, TakeOverTests.key, changed: [1: .text("b")], base: [1: .text("a")])
    try phone.exchange([bytes])
    #expect(phone.stored?.ids == [id])
    return id
  }

  /// The device after its app was updated: what it had sent is open.
  private func updated(_ new: Bench, open: [OperationID]) throws -> Device {
    let device = Device(new)
    device.open = open
    return try device.exchange()
  }

  @Test("What the older version has answered is answered, once its row is there")
  func answered() throws {
    let id = try sendChange()
    try old.replay()
    old.stop()
    let new = try moved()
    // Somebody else changes the row once more: the answer comes with what is there now.
    new.business.put(Shop.product, [.integer(1), .text("c")])
    let device = try updated(new, open: [id])
    #expect(device.answers[id] == nil)
    try new.readAgain()
    try device.exchange()
    #expect(device.answers[id]?.outcome == .replayResult)
    #expect(device.answers[id].map { $0.version <= device.version } == true)
    let row = device.rows.first { $0.key.entity == "Product" }?.value
    #expect(row?.values == [.integer(1), .text("c")])
    // Once it is confirmed nothing of it is left.
    device.unconfirmed = [id]
    device.open = []
    try device.exchange()
    #expect(try new.service.store.known([id])[0]?.state == .confirmed)
  }

  @Test("While the older version is served it performs the change, and an open channel hears of it")
  func besideEachOther() throws {
    let id = try sendChange()
    let new = try moved()
    let device = Device(new)
    device.open = [id]
    let channel = new.service.channel(
      device.body(), by: device.identity, until: new.clock.now.advanced(by: .seconds(900)))
    try device.drain(channel)
    new.clock.advance(600)
    try device.drain(channel)
    #expect(device.answers[id] == nil && old.service.queue.count == 1)
    try old.replay()
    new.business.put(Shop.product, [.integer(1), .text("b")])
    try new.readAgain()
    try device.drain(channel)
    #expect(device.answers[id]?.outcome == .replayResult)
  }

  @Test("Two channels of one device, one for each version, do not pass a refusal on for ever")
  func bothChannels() throws {
    let id = try sendChange()
    let new = try moved()
    let device = Device(new)
    device.open = [id]
    phone.open = [id]
    let channel = new.service.channel(
      device.body(), by: device.identity, until: new.clock.now.advanced(by: .seconds(900)))
    let former = old.service.channel(
      phone.body(), by: phone.identity, until: old.clock.now.advanced(by: .seconds(900)))
    try device.drain(channel)
    try phone.drain(former)
    old.business.put(Shop.product, [.integer(1), .text("x")])
    try old.replay()
    try device.drain(channel)
    #expect(device.answers[id]?.outcome == .replayFailed)
  }

  @Test("What the older version left is performed by the newer one, after a minute")
  func performed() throws {
    let id = try sendChange()
    old.stop()
    let new = try moved()
    let device = try updated(new, open: [id])
    new.clock.advance(59)
    try device.exchange()
    #expect(new.service.queue.count == 0)
    new.clock.advance(1)
    try device.exchange()
    #expect(new.service.queue.count == 1)
    try new.restart()
    try device.exchange()
    try new.replay()
    #expect(new.business.performed[id] == 1)
    try device.exchange()
    #expect(device.answers[id]?.outcome == .replayResult)
  }

  @Test("In a store of several nodes nobody performs it: another node may still serve the version")
  func severalNodes() throws {
    let id = try sendChange()
    old.stop()
    let new = try moved { SharedStore($0) }
    let device = try updated(new, open: [id])
    for _ in 0..<3 {
      new.clock.advance(600)
      try device.exchange()
    }
    #expect(new.service.queue.count == 0 && device.answers[id] == nil)
    #expect(try new.service.store.known([id])[0]?.isElsewhere == true)
  }

  @Test("While a call of the business system hangs, nobody else performs what it was called for")
  func hangingCall() throws {
    let id = try sendChange()
    let task = try #require(try old.service.nextReplay())
    #expect(task.operations.map(\.id) == [id])
    // Its package is withdrawn, and the call has not returned.
    let withdrawn = old.service
    withdrawn.leaveOthers()
    let new = try moved()
    let device = try updated(new, open: [id])
    for _ in 0..<3 {
      new.clock.advance(600)
      try device.exchange()
    }
    #expect(new.service.queue.count == 0)
    #expect(try new.service.store.known([id])[0]?.isElsewhere == true)
    // Nor where it comes back without an answer: then a minute begins.
    withdrawn.endPerforming()
    try device.exchange()
    #expect(new.service.queue.count == 0)
    new.clock.advance(60)
    try device.exchange()
    #expect(try #require(try new.service.nextReplay()).step.recalled == [id])
  }

  @Test("What may have been performed is asked for first")
  func mayHaveRun() throws {
    let id = try sendChange()
    let task = try #require(try old.service.nextReplay())
    #expect(task.operations.map(\.id) == [id])
    old.stop()
    let new = try moved()
    let device = try updated(new, open: [id])
    new.clock.advance(60)
    try device.exchange()
    let again = try #require(try new.service.nextReplay())
    #expect(again.step.recalled == [id])
  }

  @Test("What the newer model cannot read is refused with the reason")
  func refused() throws {
    let id = try sendChange()
    old.stop()
    let product = Shop.entity("Product", [("id", .int, false), ("title", .string, true)], key: [0])
    let new = try moved([product])
    let device = try updated(new, open: [id])
    new.clock.advance(60)
    try device.exchange()
    let answer = try #require(device.answers[id])
    #expect(answer.outcome == .replayFailed)
    let record = try #require(answer.logRecords.first)
    #expect(record.code == 422)
    #expect(record.message.contains("shop:1.0") && record.message.contains("shop:1.1"))
    #expect(new.service.queue.count == 0)
  }

  @Test("Operations of another user are nobody else's")
  func otherUser() throws {
    let id = try sendChange()
    try old.replay()
    old.stop()
    let new = try moved()
    let ben = Device(new, "phone", new.identity("ben"))
    ben.open = [id]
    try ben.exchange()
    try new.readAgain()
    try ben.exchange()
    #expect(ben.answers.isEmpty && new.service.exchanges.takeOver.afterReading.isEmpty)
    #expect(try new.service.store.known([id])[0]?.isElsewhere == true)
  }
}

/// A store that says that several nodes may use it, as one in PostgreSQL.
private final class SharedStore: StoreDecorator {
  let inner: any Store
  let isShared: Bool = true

  init(_ inner: any Store) { self.inner = inner }
}
