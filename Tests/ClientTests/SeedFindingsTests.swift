import Ferry
import FerryModel
import FerrySQLite
import FerryTestTraits
import FerryWire
import FerryWorld
import Testing

@testable import Ferry

/// What seeds of the simulation have found on the device, each as a case of its own.
@Suite("Found by seeds, on the device")
struct SeedFindingsTests {
  @Test("An object that moves to another partition of its device keeps its surrogate key")
  func moved() throws {
    let shop = try Stocked()
    shop.shore.partitions = [1, 2]
    try shop.device.exchange(shop.shore)
    let before = try #require(try shop.device.order(2)).surrogateKey
    shop.shore.put(Order.entity, [.integer(2), .text("ALFKI"), .text("Kiel"), .null], partition: 2)
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.order(2)?.surrogateKey == before)
    #expect(try shop.device.dump().contains("2 ALFKI Kiel N"))
    shop.shore.remove(Order.entity, ObjectKey([.integer(2)]))
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.order(2) == nil)
  }

  @Test("A checkpoint without a partition of the device is imported only after the word on it")
  func lostWord() throws {
    let shop = try Stocked()
    shop.shore.partitions = [1, 2]
    shop.shore.put(Order.entity, [.integer(8), .text("BONAP"), .null, .null], partition: 2)
    try shop.device.exchange(shop.shore)
    let place = PartitionSum(
      partition: 1, cursor: .end(of: shop.shore.clock), sum: 0, count: 0)
    let checkpoint = Checkpoint(
      group: "default", era: shop.shore.era, version: shop.shore.clock, partitions: [place],
      answers: [], rightsVersion: "2", unavailable: [])
    #expect(try Inbox(shop.device.store).close(checkpoint) == nil)
  }

  @Test("An answer ends what was sent, not what waits on a restored device under the same id")
  func restoredChange() throws {
    let shop = try Stocked()
    var order = try #require(try shop.device.order(1))
    order.city = "Kiel"
    try order.update()
    try order.submitPending()
    try shop.device.exchange(shop.shore)
    let id = try shop.device.operations()[0].id
    shop.shore.accept(id)
    // As a backup has it that was made before the change was submitted.
    try shop.device.store.write { connection throws(FerryError) in
      try shop.device.store.sql { () throws(SQLiteError) in
        try connection.run(
          "UPDATE ferry_operation SET state = 'waiting', sent = 0, acknowledged = 0, payload = NULL"
        )
      }
    }
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.operations().map(\.state) == [.waiting])
    #expect(try shop.device.operations().map(\.id) == [id])
  }

  @Test("A subscription that was asked for is asked for again after a restart")
  func subscriptionGoesOn() throws {
    let device = try Device().loggedIn()
    try device.store.write { connection throws(FerryError) in
      try device.store.sql { () throws(SQLiteError) in
        try Settings.set(.subscribed, nil, connection)
      }
    }
    try device.session.subscribe()
    try device.restart()
    guard case .send(let request) = try device.session.next() else {
      Issue.record("nothing is sent")
      return
    }
    #expect(request.path == "exchange")
  }

  @Test("What only people can cure is tried again after a long wait, not in a loop")
  func refused() {
    var machine = SessionMachine(settings: SessionSettings())
    var facts = SessionMachine.Facts()
    facts.hasOutgoing = true
    facts.accessTokenExpires = Timestamp(milliseconds: 1_000_000)
    let start = Timestamp(milliseconds: 0)
    #expect(machine.next(facts, now: start) == .exchange)
    machine.take(.stopped(.exchange), now: start)
    let later = start.advanced(by: SessionSettings().stoppedRetry)
    #expect(machine.next(facts, now: start) == .wait(until: later))
    #expect(machine.next(facts, now: later) == .exchange)
  }

  @Test("A refusal keeps its log record when its object turns out to be one that was made here")
  func refusedTwin() throws {
    let shop = try Stocked()
    var order = shop.device.newOrder("Jena")
    try order.create()
    try order.submitPending()
    try shop.device.exchange(shop.shore)
    let create = try #require(try shop.device.operations().first)
    shop.shore.answer(create.id, .unknown)
    shop.shore.put(Order.entity, [.integer(11), .text("ALFKI"), .text("Jena"), .null])
    try shop.device.exchange(shop.shore)
    var twin = try #require(try shop.device.order(11))
    #expect(twin.surrogateKey != order.surrogateKey)
    try twin.delete()
    try twin.submitPending()
    try shop.device.exchange(shop.shore)
    shop.shore.refuse(try #require(try shop.device.operations().last).id)
    try shop.device.exchange(shop.shore)
    shop.shore.accept(create.id, newKey: ObjectKey([.integer(11)]))
    try shop.device.exchange(shop.shore)
    let one = try #require(try shop.device.order(11))
    #expect(one.surrogateKey == order.surrogateKey && one.replayFailed)
    #expect(try one.logRecords.map(\.message) == ["no"])
  }

  @Test("An unknown outcome that is said again has one log record and was told once")
  func unknownAgain() throws {
    let shop = try Stocked()
    var order = try #require(try shop.device.order(1))
    order.city = "Kiel"
    try order.update()
    try order.submitPending()
    try shop.device.exchange(shop.shore)
    let id = try shop.device.operations()[0].id
    let record = LogRecord(
      component: "Order", entityKey: "1", code: 500, message: "the line broke", operation: .update,
      requestID: id, timestamp: 1, level: .error)
    shop.shore.answer(id, .unknown, [record])
    try shop.device.exchange(shop.shore)
    // What would have confirmed it is gone with the process.
    try shop.device.restart()
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.order(1)?.logRecords == [record])
    #expect(shop.device.handler.heard.filter { $0.hasPrefix("replayUnknown") }.count == 1)
  }

  @Test("An edit that waited for a decision does not overwrite what was saved on the second row")
  func decidedWithSecondRow() throws {
    let shop = try Stocked()
    var order = shop.device.newOrder("Jena")
    try order.create()
    try order.submitPending()
    try shop.device.exchange(shop.shore)
    let create = try shop.device.operations()[0].id
    shop.shore.answer(create, .unknown)
    shop.shore.put(Order.entity, [.integer(11), .text("ALFKI"), .text("Jena"), .text("1.5")])
    try shop.device.exchange(shop.shore)
    order.city = "Kiel"
    try order.update()
    try order.submitPending()
    let edit = try #require(try shop.device.operations().last).id
    var second = try #require(try shop.device.order(11))
    second.city = "Hof"
    try second.update()
    try second.submitPending()
    try shop.device.exchange(shop.shore)
    shop.shore.accept(try #require(try shop.device.operations().last).id)
    try shop.device.exchange(shop.shore)
    shop.shore.accept(create, newKey: ObjectKey([.integer(11)]), changing: [2: .text("Hof")])
    for _ in 0..<2 { try shop.device.exchange(shop.shore) }
    let sent = try #require(shop.shore.stored[edit])
    #expect(sent.key == ObjectKey([.integer(11)]) && sent.changed == [2: .text("Kiel")])
    #expect(sent.base == [2: .text("Jena")], "the business system sees the conflict")
  }

  @Test("A refused change is not sent again by itself when a submitted transaction changed it too")
  func refusedWithWish() throws {
    let shop = try Stocked()
    var order = shop.device.newOrder("Jena")
    try order.create()
    try order.submitPending()
    try shop.device.exchange(shop.shore)
    let create = try shop.device.operations()[0].id
    var other = try #require(try shop.device.order(1))
    try shop.device.store.transaction { () throws(FerryError) in
      order.city = "Hof"
      try order.update()
      other.city = "Kiel"
      try other.update()
    }
    try other.submitPending()
    shop.shore.refuse(create)
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.operations().map(\.state) == [.replayFailed, .waiting])
    try shop.device.exchange(shop.shore)
    #expect(shop.shore.stored.count == 1, "nothing goes until the app has dealt with it")
    try order.submitPending()
    try shop.device.exchange(shop.shore)
    let again = shop.shore.stored.values.filter { $0.id != create }
    #expect(again.map(\.count) == [2, 2], "and then both go as one")
  }

  @Test("A line that turns out to be one that came by an import shows what waits on top of it")
  func joinedLine() throws {
    let shop = try Stocked()
    var line: Line?
    try shop.device.store.transaction { () throws(FerryError) in
      var order = shop.device.newOrder("Jena")
      try order.create()
      var made = Line(record: ObjectRecord(Line.entity, store: shop.device.store))
      made.record.set(0, order.id)
      made.record.set(1, Int64(1))
      made.text = "new"
      try made.create()
      line = made
    }
    let made = try #require(line)
    try Outbox(shop.device.store).submitAll(Order.entity)
    try shop.device.exchange(shop.shore)
    let create = try #require(try shop.device.operations().first)
    for operation in try shop.device.operations() { shop.shore.answer(operation.id, .unknown) }
    shop.shore.put(Order.entity, [.integer(11), .text("ALFKI"), .text("Jena"), .null])
    shop.shore.put(Line.entity, [.integer(11), .integer(1), .text("new")])
    try shop.device.exchange(shop.shore)
    var twin = try #require(try shop.device.order(11)?.lines().first)
    #expect(twin.surrogateKey != made.surrogateKey)
    twin.text = "mine"
    try twin.update()
    shop.shore.accept(create.id, newKey: ObjectKey([.integer(11)]))
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.order(11)?.lines().map(\.text) == ["mine"])
  }

  @Test("An answer from before a device was set back ends nothing that was not sent since")
  func answeredBeforeSent() throws {
    let shop = try Stocked()
    let request = try #require(try shop.device.request())
    var order = try #require(try shop.device.order(1))
    order.city = "Kiel"
    try order.update()
    let earlier = try shop.device.operations()[0]
    // In its earlier life the device submitted this; since then its user has made another of it.
    shop.shore.stored[earlier.id] = Operation(
      id: earlier.id, chain: earlier.id, position: 0, count: 1, entity: "Order", kind: .update,
      key: earlier.key, changed: earlier.changed, base: earlier.base)
    shop.shore.accept(earlier.id)
    order.city = "Ulm"
    try order.update()
    try order.submitPending()
    try shop.device.take(try shop.shore.respond(to: request.body))
    let left = try shop.device.operations()
    #expect(left.map(\.id) == [earlier.id] && left[0].state == .submitted)
    #expect(try shop.device.order(1)?.city == "Ulm")
    try shop.device.exchange(shop.shore)
    let sent = try Operation(#require(shop.shore.received.last), in: shop.shore.model)
    #expect(sent.id == earlier.id && sent.changed == [2: .text("Ulm")])
  }

  /// The channel of a device, open and heard.
  private func openChannel(_ shop: Stocked) throws {
    shop.device.session.setBackground(true)
    while case .send(let request) = try shop.device.session.next() {
      let messages = try shop.shore.respond(to: request.body)
      guard request.lane == .channel else {
        try shop.device.take(messages)
        continue
      }
      shop.device.session.received(status: 200, on: .channel)
      try hear(messages, shop, on: .channel)
    }
  }

  private func hear(
    _ messages: [Message], _ shop: Stocked, on lane: SessionMachine.Lane
  ) throws {
    for message in messages {
      try shop.device.session.received(message.frame.encoded(), on: lane)
    }
  }

  private func hello(of request: SessionRequest?) throws -> Hello? {
    guard let request, let first = try FrameReader.frames(of: request.body).first,
      case .hello(let hello) = try Message(first)
    else { return nil }
    return hello
  }

  /// The server as it is after a backup was restored: the same rows, other numbers from there on.
  private func restored(_ shop: Stocked, era: String) -> Shore {
    let shore = Shore(Shop.package)
    for id in 1...3 {
      shore.put(Order.entity, [.integer(Int64(id)), .text("ALFKI"), .text("Bremen"), .text("1.5")])
    }
    shore.era = era
    return shore
  }

  private func more(_ id: Int64, _ city: String, on shore: Shore) {
    shore.put(Order.entity, [.integer(id), .text("ALFKI"), .text(city), .null])
  }

  @Test("A restored server's welcome is not for a device that its old channel moved on")
  func movedUnderWelcome() throws {
    let shop = try Stocked()
    try openChannel(shop)
    let request = try #require(try shop.device.request())
    let staged = Pull(
      group: "default",
      staged: [PartitionCursor(partition: 1, cursor: .end(of: shop.shore.clock))], at: 0)
    more(5, "Kiel", on: shop.shore)
    try hear(try shop.shore.download(staged, fromStart: []), shop, on: .channel)
    #expect(try shop.device.order(5)?.city == "Kiel")
    // The same number, and another row.
    let restored = restored(shop, era: "era-2")
    more(6, "Hof", on: restored)
    try shop.device.take(try restored.respond(to: request.body))
    #expect(try Inbox(shop.device.store).isComplete(), "no sum was wrong, and nothing began again")
    let next = try #require(try hello(of: try shop.device.request()))
    #expect(next.groups.map(\.era) == ["era-1"], "the server can tell that 4 is not its own 4")
    restored.resets = [1]
    try shop.device.session.ended(.exchange, nil)
    try shop.device.exchange(restored)
    #expect(try shop.device.orders().map(\.id) == [1, 2, 3, 6])
  }

  @Test("An old channel brings nothing more once a server of another era was heard")
  func oldChannel() throws {
    let shop = try Stocked()
    try openChannel(shop)
    let staged = Pull(
      group: "default",
      staged: [PartitionCursor(partition: 1, cursor: .end(of: shop.shore.clock))], at: 0)
    let request = try #require(try shop.device.request())
    let restored = restored(shop, era: "era-2")
    shop.device.session.received(status: 200, on: .exchange)
    try hear([try #require(try restored.respond(to: request.body).first)], shop, on: .exchange)
    more(5, "Kiel", on: shop.shore)
    try hear(try shop.shore.download(staged, fromStart: []), shop, on: .channel)
    #expect(try shop.device.order(5) == nil)
    #expect(shop.device.handler.progress.last?.receivedRows != 1)
    guard case .cancel(.channel) = try shop.device.session.next() else {
      Issue.record("the old channel stays open")
      return
    }
  }

  @Test(
    "A change of a row that turned out to be one whose delete was accepted is shown",
    .reference("sync/P11"))
  func changeUnderDelete() throws {
    let shop = try Stocked()
    var order = shop.device.newOrder("Jena")
    try order.create()
    try order.submitPending()
    try shop.device.exchange(shop.shore)
    let create = try #require(try shop.device.operations().first)
    order.city = "Hof"
    try order.update()
    shop.shore.put(Order.entity, [.integer(11), .text("ALFKI"), .text("Jena"), .null])
    try shop.device.exchange(shop.shore)
    var twin = try #require(try shop.device.order(11))
    #expect(twin.surrogateKey != order.surrogateKey)
    try twin.delete()
    try twin.submitPending()
    try shop.device.exchange(shop.shore)
    let delete = try #require(try shop.device.operations().last)
    shop.shore.accept(create.id, newKey: ObjectKey([.integer(11)]))
    shop.shore.accept(delete.id)
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.operations().map(\.kind) == [.update])
    var one = try #require(try shop.device.order(11))
    #expect(one.surrogateKey == order.surrogateKey && one.city == "Hof" && one.isPending)
    _ = try one.cancelPending()
    #expect(try shop.device.order(11) == nil, "and can be taken back")
  }
}
