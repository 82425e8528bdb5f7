import FerryModel
import FerryStoreConformance
import FerryWire
import FerryWorld
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

/// That devices were here is one write for many of them.
@Suite("One write notes that many devices were here")
struct VisitTests {
  private let count = CountingStore.Count()

  private func bench() throws -> Bench {
    let count = count
    let bench = try Bench { CountingStore($0, count) }
    bench.business.put(Shop.order, Shop.order(10, 1, "Oslo"))
    try bench.load()
    bench.service.collectsVisits = true
    return bench
  }

  /// Devices with sessions, all of which were here once.
  private func devices(_ bench: Bench, _ number: Int) throws -> [Device] {
    try (1...number).map { number in
      let name = "phone \(number)"
      let pair = try bench.service.login(
        UserRecord(name: "anna", claims: ["employee": ["1"]]), device: name)
      let identity = try bench.service.accessTokens.verify(
        pair.accessToken, now: bench.clock.now)
      return try Device(bench, name, identity).exchange()
    }
  }

  @Test("The day of 50 devices is one write, which counts for each of them")
  func oneWrite() throws {
    let bench = try bench()
    let devices = try devices(bench, 50)
    // What is new is written at once.
    #expect(count.visits == 0)
    #expect(try bench.service.devices().count == 50)
    bench.clock.advance(300)
    let first = bench.clock.now.milliseconds
    count.writes = 0
    for device in devices { try device.exchange() }
    #expect(count.writes == 0)
    bench.service.keepDueVisits()
    #expect(count.writes == 0, "10 s have not passed")
    bench.clock.advance(10)
    bench.service.keepDueVisits()
    #expect(count.writes == 1)
    #expect(count.visits == 50)
    #expect(try bench.service.devices().allSatisfy { $0.lastSeen == first })
    // The next day: both tables, in one write.
    bench.clock.advance(86_400)
    try bench.service.compact()
    count.writes = 0
    count.visits = 0
    count.days = 0
    for device in try self.devices(again: devices, bench) { try device.exchange() }
    bench.clock.advance(10)
    count.writes = 0
    bench.service.keepDueVisits()
    #expect(count.writes == 1)
    #expect(count.visits == 50)
    #expect(count.days == 50)
    #expect(try bench.service.store.devicesOfToday() == 50)
    bench.service.keepDueVisits()
    #expect(count.writes == 1, "there is nothing more to write")
  }

  /// With new tokens.
  private func devices(again devices: [Device], _ bench: Bench) throws -> [Device] {
    for device in devices {
      let pair = try bench.service.login(
        UserRecord(name: "anna", claims: ["employee": ["1"]]), device: device.name)
      device.identity = try bench.service.accessTokens.verify(
        pair.accessToken, now: bench.clock.now)
    }
    return devices
  }

  @Test("Who asks for the register, and a compaction, see the visits that were not written")
  func seenByReaders() throws {
    let bench = try bench()
    let device = try devices(bench, 1)[0]
    bench.clock.advance(100)
    try device.exchange()
    let now = bench.clock.now.milliseconds
    #expect(try bench.service.devices().map(\.lastSeen) == [now])
    // A decision keeps what it does not decide.
    bench.clock.advance(100)
    try device.exchange()
    let later = bench.clock.now.milliseconds
    let locked = try bench.service.decide(
      .lock, Owner(device: device.name, user: "anna"), reason: "lost", withPending: false)
    #expect(locked.lastSeen == later)
    bench.clock.advance(20)
    bench.service.keepDueVisits()
    #expect(try bench.service.devices().map(\.state) == [.locked])
  }

  @Test("A device that says something new of itself is written at once, and is not set back later")
  func newFacts() throws {
    let bench = try bench()
    let device = try devices(bench, 1)[0]
    bench.clock.advance(100)
    try device.exchange()
    bench.clock.advance(100)
    // A new incarnation: it was set up again.
    let hello = Hello(
      server: nil, package: bench.package.id, device: device.name, incarnation: "2", groups: [],
      partitions: [], open: [])
    try device.drain(
      bench.service.exchange(Message.hello(hello).frame.encoded(), by: device.identity))
    let now = bench.clock.now.milliseconds
    let owner = Owner(device: device.name, user: "anna")
    #expect(try bench.service.store.registeredDevice(owner)?.incarnation == "2")
    bench.clock.advance(20)
    bench.service.keepDueVisits()
    #expect(try bench.service.devices().map(\.lastSeen) == [now])
  }

  @Test("The end of a service writes what waits")
  func atEnd() async throws {
    let count = count
    let bench = try bench()
    // A clock that stands: what waits is never due.
    let world = World(clock: bench.clock, chance: SystemChance(), log: SilentLog())
    bench.stop()
    let (folder, package) = (bench.folder, bench.package)
    let host = try await ServiceHost(world: world) { () throws(ServerError) in
      try Service(package: package, world: world) { package throws(ServerError) in
        CountingStore(
          try SQLiteStore(folder: folder, package: package, world: world), count)
      }
    }
    try await host.visit()
    #expect(count.visits == 0)
    await host.stop()
    #expect(count.visits == 1)
  }
}

extension ServiceHost {
  /// A device that the register knows was here.
  fileprivate func visit() throws {
    var device = RegisteredDevice(user: "anna", device: "phone")
    device.lastSeen = 1
    try service.store.keep(device)
    device.lastSeen = 2
    service.accounts.visits.note(SeenDevice(device), at: world.clock.moment)
  }
}

extension Store {
  /// How many devices were here today.
  fileprivate func devicesOfToday() throws -> Int64? {
    guard let store = (self as? CountingStore)?.inner as? SQLiteStore else { return nil }
    return try store.writer.value(
      "SELECT count(*) FROM device WHERE last_day = (SELECT days FROM server)")?.integer
  }
}

/// Counts the writes about devices.
private final class CountingStore: StoreDecorator {
  final class Count: @unchecked Sendable {
    var writes = 0
    var visits = 0
    var days = 0
    fileprivate var depth = 0
  }

  let inner: any Store
  let count: Count

  init(_ inner: any Store, _ count: Count) {
    self.inner = inner
    self.count = count
  }

  private func counted<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    if count.depth == 0 { count.writes += 1 }
    count.depth += 1
    defer { count.depth -= 1 }
    return try body()
  }

  func transaction<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try counted { () throws(StoreError) in try inner.transaction(body) }
  }

  func keep(_ device: RegisteredDevice) throws(StoreError) {
    try counted { () throws(StoreError) in try inner.keep(device) }
  }

  func keep(seen devices: [SeenDevice]) throws(StoreError) {
    count.visits += devices.count
    try counted { () throws(StoreError) in try inner.keep(seen: devices) }
  }

  func keep(_ devices: [(owner: Owner, device: StoredDevice)]) throws(StoreError) {
    count.days += devices.count
    try counted { () throws(StoreError) in try inner.keep(devices) }
  }
}
