import FerryConnector
import FerryModel
import FerryTestTraits
import FerryWire
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

@Suite struct ExchangeTests {
  let bench: Bench

  init() throws {
    bench = try Bench()
    bench.business.put(Shop.product, [.integer(1), .text("tea")])
    bench.business.put(Shop.order, Shop.order(10, 1, "Oslo"))
    try bench.load()
  }

  private func channel(_ device: Device, seconds: Int64 = 600) -> Exchange {
    bench.service.channel(
      device.body(), by: device.identity, until: bench.clock.now.advanced(by: .seconds(seconds)))
  }

  @Test("A channel whose token is of a time that has not come ends: the clock was set back")
  func channelOfLater() throws {
    bench.clock.advance(3_600)
    let pair = try bench.service.login(UserRecord(name: "anna"), device: "phone")
    let identity = try bench.service.accessTokens.verify(pair.accessToken, now: bench.clock.now)
    let anna = Device(bench, "phone", identity)
    let waiting = channel(anna)
    #expect(try !anna.drain(waiting))
    bench.clock.advance(-60)
    #expect(try !anna.drain(waiting))
    bench.clock.advance(-3_540)
    #expect(try anna.drain(waiting))
  }

  @Test(
    "A channel streams what changed and stirs only those whom it concerns",
    .reference("sync/Q5", "sync/M26", "facts/5.6")
  )
  func channelStreams() throws {
    let anna = Device(bench)
    let bob = Device(bench, "other", bench.identity("bob", employees: [2]))
    let annas = channel(anna)
    let bobs = channel(bob)
    #expect(try !anna.drain(annas) && !bob.drain(bobs))
    var stirred: [ExchangeID] = []
    bench.service.listen { if case .stirred(let id) = $0 { stirred.append(id) } }
    bench.business.put(Shop.order, Shop.order(10, 1, "Bergen"))
    try bench.load()
    #expect(stirred == [annas.id])
    #expect(annas.next() != .waiting)
    bench.business.put(Shop.product, [.integer(1), .text("milk")])
    try bench.load()
    #expect(stirred == [annas.id, annas.id, bobs.id])
    try bob.drain(bobs)
    #expect(bob.shown == ["Product 1 [1,\"milk\"]"])
    bench.service.close(bobs)
    #expect(bobs.next() == .end)
  }

  @Test("An answer wakes its device's channel, with the rows it is answered by")
  func channelAnswers() throws {
    let device = Device(bench)
    let open = channel(device)
    try device.drain(open)
    let change = bench.operation(
      Shop.order, .update, ObjectKey([.integer(10)]), changed: [2: .text("Bergen")], base: [:])
    try Device(bench).exchange([change.1])
    try bench.replay()
    try device.drain(open)
    #expect(device.answers[change.0]?.outcome == .replayResult)
    #expect(device.shown.contains("Order 10 [10,1,\"Bergen\"]"))
  }

  @Test(
    "A channel that pulls nothing only stirs, and names batches that ended",
    .reference("sync/Q8", "sync/R17", "sync/R23", "sync/RC4", "sync/Q5")
  )
  func stirs() throws {
    let device = Device(bench)
    device.pulls = false
    let open = channel(device)
    try device.drain(open)
    #expect(device.stirs == [])
    let chain = OperationID(bench.newID())!
    let parts = [0, 1].map { position in
      bench.operation(
        Shop.audit, .create, ObjectKey([.integer(Int64(position))]),
        changed: [0: .integer(Int64(position))], chain: chain, position: position, count: 2)
    }
    try device.exchange(parts.map(\.1))
    try bench.replay()
    try device.drain(open)
    #expect(device.stirs == [Stir(finished: [chain])])
    #expect(device.rows.isEmpty)
    bench.service.close(open)
    let again = Device(bench)
    again.pulls = false
    try again.drain(channel(again))
    #expect(again.stirs == [Stir(finished: [chain])])
  }

  @Test("Closing an exchange of an earlier start leaves those of this start alone (seed 3)")
  func closeOld() throws {
    let old = channel(Device(bench))
    try bench.restart()
    let device = Device(bench)
    let open = channel(device)
    try device.drain(open)
    #expect(old.id == open.id)
    #expect(old.next() == .end)
    bench.service.close(old)
    bench.business.put(Shop.product, [.integer(1), .text("milk")])
    try bench.load()
    try device.drain(open)
    #expect(device.shown.contains("Product 1 [1,\"milk\"]"))
  }

  @Test("A channel ends with its token at the latest")
  func ends() throws {
    let device = Device(bench)
    let open = channel(device, seconds: 100_000)
    #expect(try device.drain(open) == false)
    bench.clock.advance(901)
    #expect(try device.drain(open))
  }

  @Test("Devices at one cursor get the same bytes, made once (adr frame cache)")
  func sharedFrames() throws {
    let first = Device(bench)
    let second = Device(bench, "other", bench.identity("bob", employees: [1]))
    try first.exchange()
    let hits = bench.service.exchanges.frames.hits
    try second.exchange()
    #expect(bench.service.exchanges.frames.hits == hits + 2)
    #expect(first.rows == second.rows)
    bench.business.put(Shop.product, [.integer(2), .text("new")])
    try bench.load()
    let third = try Device(bench, "third").exchange()
    #expect(third.rows.count == 3)
  }

  @Test("A frame cache keeps to its bytes and drops what was used longest ago")
  func cacheBound() {
    let cache = FrameCache(limitBytes: 100)
    for number in 0..<20 as Range<Int64> {
      cache.keep(
        Page(to: .end(of: 5), at: 5, bytes: [UInt8](repeating: 0, count: 10), rows: 1),
        at: .init(partition: number, from: .start))
      #expect(cache.byteCount <= 100)
    }
    func page(_ partition: Int64, version: Int64, clock: Int64) -> Page? {
      cache.page(
        at: .init(partition: partition, from: .start), partitionVersion: version, clock: clock)
    }
    #expect(page(19, version: 5, clock: 5) != nil)
    #expect(page(0, version: 5, clock: 5) == nil)
    // A snapshot of before may not show what the page has.
    #expect(page(19, version: 3, clock: 4) == nil)
    #expect(page(19, version: 5, clock: 5) != nil)
    #expect(page(19, version: 6, clock: 6) == nil)
  }

  @Test("A page of an older snapshot does not take the place of a newer one")
  func cacheKeepsNewest() {
    let cache = FrameCache(limitBytes: 100)
    let place = FrameCache.Place(partition: 1, from: .start)
    cache.keep(Page(to: .end(of: 7), at: 7, bytes: [7], rows: 1), at: place)
    cache.keep(Page(to: .end(of: 5), at: 5, bytes: [5], rows: 1), at: place)
    #expect(cache.page(at: place, partitionVersion: 7, clock: 7)?.bytes == [7])
    #expect(cache.byteCount == 1)
  }

  @Test("What is no exchange of this server is refused, each with its code and a cure")
  func refused() throws {
    func code(_ change: (inout Hello) -> Void) throws -> WireFailure.Code? {
      var hello = Hello(
        server: nil, package: "shop:1.0", device: "phone", incarnation: "1", groups: [],
        partitions: [], open: [])
      change(&hello)
      let device = Device(bench)
      try device.drain(
        bench.service.exchange(Message.hello(hello).frame.encoded(), by: device.identity))
      return device.failure?.code
    }
    #expect(try code { _ in } == nil)
    #expect(try code { $0.protocol = 2 } == .protocolVersion)
    #expect(try code { $0.server = "another" } == .otherServer)
    #expect(try code { $0.package = "shop:2.0" } == .unknownPackage)
    for body in [[], [1, 2, 3], Message.beat.frame.encoded()] as [[UInt8]] {
      let device = Device(bench)
      try device.drain(bench.service.exchange(body, by: device.identity))
      #expect(device.failure?.code == .badMessage)
    }
    let stolen = Device(bench, "phone", bench.identity(device: "laptop"))
    try stolen.exchange()
    #expect(stolen.failure != nil)
    #expect(stolen.rows.isEmpty)
  }

  @Test("An exchange cut anywhere, or with a byte changed, is answered and the server goes on")
  func cut() throws {
    let body = Device(bench).body()
    for end in stride(from: 0, to: body.count, by: 7) {
      let exchange = bench.service.exchange(Array(body[..<end]), by: bench.identity())
      try Device(bench).drain(exchange)
      var changed = body
      changed[end] ^= 0x55
      let other = bench.service.exchange(changed, by: bench.identity())
      while case .bytes = other.next() {}
    }
    #expect(try Device(bench).exchange().rows.count == 2)
  }

  @Test("Leaves that were purged reset a device that had not seen them, and no other")
  func compaction() throws {
    var limits = ServiceLimits()
    limits.tombstonesKept = 0
    let bench = try Bench(limits: limits)
    for id in 1...10 { bench.business.put(Shop.product, [.integer(Int64(id)), .text("p")]) }
    try bench.load()
    let fresh = try Device(bench).exchange()
    let stale = try Device(bench, "stale").exchange()
    for id in 1...8 {
      bench.business.remove(Shop.product, ObjectKey([.integer(Int64(id))]))
      try bench.load()
    }
    try fresh.exchange()
    let purged = try bench.service.compact()
    #expect(purged.purgedLeaves == 6)
    #expect(purged.purgedRows == 6)
    try fresh.exchange()
    #expect(fresh.welcome?.reset == [])
    try stale.exchange()
    #expect(stale.welcome?.reset.count == 1)
    #expect(stale.rows == fresh.rows)
  }

  @Test("A row that was deleted while a load reads is remembered until the load has ended")
  func compactionUnderLoad() throws {
    var limits = ServiceLimits()
    limits.tombstonesKept = 0
    let bench = try Bench(limits: limits)
    for id in 1...3 { bench.business.put(Shop.product, [.integer(Int64(id)), .text("p")]) }
    try bench.load()
    let ticket = try bench.service.beginLoad()
    let read = bench.business.images(Shop.product)
    let device = try Device(bench).exchange()
    for id in 1...2 as ClosedRange<Int64> {
      let delete = bench.operation(
        Shop.product, .delete, ObjectKey([.integer(id)]), base: [0: .integer(id), 1: .text("p")])
      try device.exchange([delete.1])
      try bench.replay()
    }
    try device.exchange()
    let compaction = try bench.service.compact()
    #expect(compaction.purgedLeaves == 1 && compaction.purgedRows == 0)
    try bench.service.stage(ticket, Shop.product, read)
    try bench.end(ticket)
    try device.exchange()
    #expect(device.shown.map { $0.prefix(9) } == ["Product 3"])
    #expect(try bench.service.compact().purgedRows == 1)
  }

  @Test("A clock that jumps a year purges one day")
  func jumpingClock() throws {
    var limits = ServiceLimits()
    limits.tombstoneDays = 2
    let bench = try Bench(limits: limits)
    bench.business.put(Shop.product, [.integer(1), .text("p")])
    try bench.load()
    try bench.service.compact()
    bench.business.remove(Shop.product, ObjectKey([.integer(1)]))
    try bench.load()
    bench.clock.advance(365 * 86_400)
    #expect(try bench.service.compact().purgedLeaves == 0)
    bench.clock.advance(86_400)
    #expect(try bench.service.compact().purgedLeaves == 0)
    bench.clock.advance(86_400)
    #expect(try bench.service.compact().purgedLeaves == 1)
  }

  @Test("A round that compaction has overtaken loses no page of the other partitions (seed 16)")
  func overtakenRound() throws {
    var limits = ServiceLimits()
    limits.tombstonesKept = 0
    let bench = try Bench(limits: limits)
    bench.business.put(Shop.product, [.integer(1), .text("tea")])
    for id in 1...5 { bench.business.put(Shop.order, Shop.order(Int64(id), 1, "Oslo")) }
    try bench.load()
    let device = Device(bench)
    let channel = bench.service.channel(
      device.body(), by: device.identity, until: device.identity.expires)
    try device.drain(channel)
    bench.business.put(Shop.product, [.integer(1), .text("milk")])
    for id in 1...4 {
      bench.business.remove(Shop.order, ObjectKey([.integer(Int64(id))]))
      try bench.load()
    }
    try bench.service.compact()
    try device.drain(channel)
    #expect(device.welcome?.reset.count == 1)
    #expect(device.shown == ["Order 5 [5,1,\"Oslo\"]", "Product 1 [1,\"milk\"]"])
  }

  @Test("A new device gets a partition of many rounds, though leaves behind its rows were purged")
  func roundsBelowFloor() throws {
    var limits = ServiceLimits()
    limits.tombstonesKept = 0
    limits.pageRows = 4
    limits.roundRows = 4
    let bench = try Bench(limits: limits)
    for id in 1...30 { bench.business.put(Shop.product, [.integer(Int64(id)), .text("p")]) }
    try bench.load()
    for id in 13...30 {
      bench.business.remove(Shop.product, ObjectKey([.integer(Int64(id))]))
      try bench.load()
    }
    #expect(try bench.service.compact().purgedLeaves == 6)
    let device = Device(bench)
    let exchange = bench.service.exchange(device.body(), by: device.identity)
    try device.drain(exchange, atMost: 40)
    #expect(device.rows.count == 12)
    #expect(device.checkpoint != nil)
    let welcomes = device.messages.filter { if case .welcome = $0 { true } else { false } }
    #expect(welcomes.count == 1)
  }

  @Test("Compaction between two pages of a download tells the device to begin again")
  func compactionBetweenPages() throws {
    var limits = ServiceLimits()
    limits.tombstonesKept = 0
    limits.pageRows = 4
    limits.roundRows = 4
    let bench = try Bench(limits: limits)
    for id in 1...12 { bench.business.put(Shop.product, [.integer(Int64(id)), .text("p")]) }
    try bench.load()
    let device = Device(bench)
    let exchange = bench.service.exchange(device.body(), by: device.identity)
    try device.drain(exchange, atMost: 2)
    #expect(device.rows.count == 4)
    for id in 1...11 {
      bench.business.remove(Shop.product, ObjectKey([.integer(Int64(id))]))
      try bench.load()
    }
    try bench.service.compact()
    try device.drain(exchange)
    #expect(device.rows.count == 1)
    #expect(device.checkpoint != nil)
  }
}
