import FerryCachePolicies
import FerryConnector
import FerryModel
import FerryTestTraits
import FerryWire
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

/// A business system that counts its loads, and holds them up where the test says so.
private final class Depot: Sendable {
  private struct State {
    var loads: [[String]] = []
    var name = "old"
    var fails = false
  }

  private let state = Mutex(State())
  private let gate = DispatchSemaphore(value: 1)

  var loads: [[String]] { state.withLock { $0.loads } }
  var productLoads: Int { loads.count { $0.contains("Product") } }
  func change(to name: String) { state.withLock { $0.name = name } }
  func fail(_ fails: Bool) { state.withLock { $0.fails = fails } }
  func close() { gate.wait() }
  func open() { gate.signal() }

  /// The product is read when the load begins; what is behind the gate waits.
  func load(
    _ entities: [String], each: (RowImage) throws(ConnectorError) -> Void
  ) throws(ConnectorError) {
    let (name, fails) = state.withLock { state in
      state.loads.append(entities)
      return (state.name, state.fails)
    }
    close()
    open()
    guard !fails else {
      throw ConnectorError("The depot is closed", hint: "Wait.", isTransient: false)
    }
    if entities.contains("Product") {
      let key = ObjectKey([.integer(1)])
      try each(RowImage(entity: "Product", key: key, values: [.integer(1), .text(name)]))
    }
  }
}

private final class DepotConnector: Connector {
  private let depot: Depot

  init(_ depot: Depot) { self.depot = depot }

  func mismatches(with package: Package) -> [Mismatch] { [] }
  func perform(_ group: [ConnectorOperation]) -> PerformResult { .notDone(reason: "not asked") }
  func recall(_ operations: [ConnectorOperation]) -> [Recall] {
    operations.map { _ in .notPerformed }
  }
  func abilities(of entity: Entity) -> ConnectorAbilities { .ofTests }
  func read(_ entity: Entity, keys: [ObjectKey]) -> [RowImage] { [] }
  func changedByOthers() -> Bool { false }
  func load(
    _ scope: LoadScope, from place: LoadPlace?,
    each: (LoadPage) throws(ConnectorError) -> Void, rejected: (RejectedRow) -> Void
  ) throws(ConnectorError) -> LoadEnd {
    try depot.load(scope.entities.map(\.name)) { row throws(ConnectorError) in
      try each(LoadPage(entity: Shop.product, rows: [row]))
    }
    return .snapshot
  }
}

/// The system's time, and as far ahead as the test says.
private final class PushedClock: WorldClock {
  private let ahead = Mutex<Duration>(.zero)
  private let system = SystemClock()

  var now: Timestamp { system.now.advanced(by: ahead.withLock { $0 }) }
  var uptime: Duration { system.uptime + ahead.withLock { $0 } }
  func push(_ duration: Duration) { ahead.withLock { $0 += duration } }
}

@Suite("Cache groups of a server", .timeLimit(.minutes(60)), .serialized)
struct CacheGroupTests {
  private struct Bench {
    let depot = Depot()
    let clock = PushedClock()
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("ferry-groups-\(UUID().uuidString)").path
    let groups: CacheGroups
    let host: ServiceHost
    let load: LoadHost
    let run: Task<Void, Never>

    init(_ refresh: CacheGroup.Refresh) async throws {
      let groups = CacheGroups(
        CachePolicies(groups: [
          CacheGroup(name: "stock", entities: ["Product"], refresh: refresh, wait: .seconds(600))
        ]))
      let world = World(clock: clock, chance: SystemChance(), log: KeptLog())
      let folder = self.folder
      let host = try await ServiceHost(world: world) { () throws(ServerError) in
        try Service(package: Shop.package, world: world, cacheGroups: groups) {
          package throws(ServerError) in
          try SQLiteStore(folder: folder, package: package, world: world, synchronous: .normal)
        }
      }
      self.groups = groups
      self.host = host
      load = LoadHost(
        connector: DepotConnector(depot), service: host, package: Shop.package, world: world)
      host.connectCacheGroups()
      let load = load
      run = Task { await load.run() }
      await load.loadNow()
    }

    /// Opens an exchange; what has come, and where it goes on.
    func open(_ device: String, asksCurrent: Bool = false) async throws -> ServiceHost.Opening {
      var hello = Hello(
        server: nil, package: Shop.package.id, device: device, incarnation: "\(device)-1",
        groups: [], partitions: [], open: [])
      if asksCurrent {
        hello.asksCurrent = true
        hello.wait = 1
      }
      let pulls = Shop.package.groups.map { Message.pull(Pull(group: $0.name, staged: [], at: 0)) }
      let identity = Identity(
        user: "anna", device: nil, claims: ["employee": ["1"]],
        expires: Timestamp(milliseconds: .max / 2))
      return try await host.open(
        ([Message.hello(hello)] + pulls).flatMap { $0.frame.encoded() }, by: identity,
        isChannel: false, until: identity.expires)
    }

    func rest(of opening: ServiceHost.Opening) async -> [UInt8] {
      var bytes = opening.bytes
      while let id = opening.id, let more = await host.next(of: id) { bytes += more }
      return bytes
    }

    /// Until the system has been asked so often for products.
    func until(loads: Int) async throws {
      let patience = Patience()
      while depot.productLoads < loads {
        try #require(await patience.lasts(), "load \(loads) did not begin")
      }
    }

    func end() async {
      await host.stop()
      await load.stop()
      _ = await run.value
      try? FileManager.default.removeItem(atPath: folder)
    }
  }

  /// What a device has got: the names of the products, and what its checkpoint says of itself.
  private func read(_ bytes: [UInt8]) throws -> (products: [String], checkpoint: Checkpoint?) {
    var products: [String] = []
    var checkpoint: Checkpoint?
    for frame in try FrameReader.frames(of: bytes) {
      switch try Message(frame) {
      case .rows: products += ["old", "new"].filter { text in holds(frame, text) }
      case .checkpoint(let found): checkpoint = found
      default: break
      }
    }
    return (products, checkpoint)
  }

  private func holds(_ frame: Frame, _ text: String) -> Bool {
    String(decoding: frame.content, as: UTF8.self).contains("\"\(text)\"")
  }

  @Test(
    "A thousand devices and one expired group: one load, and all have its rows",
    .reference("facts/2.2"))
  func shared() async throws {
    let bench = try await Bench(.onDemand(interval: .seconds(3_600)))
    #expect(bench.depot.productLoads == 1)
    let fresh = try read(await bench.rest(of: try await bench.open("first")))
    #expect(fresh.products == ["old"] && bench.depot.productLoads == 1, "within the interval")

    bench.depot.change(to: "new")
    bench.clock.push(.seconds(3_601))
    bench.depot.close()
    var openings: [ServiceHost.Opening] = []
    for number in 1...1_000 { openings.append(try await bench.open("device \(number)")) }
    try await bench.until(loads: 2)
    #expect(try openings.allSatisfy { try read($0.bytes).checkpoint == nil }, "they wait")
    bench.depot.open()
    var news = 0
    for opening in openings {
      let got = try read(await bench.rest(of: opening))
      if got.products == ["new"], got.checkpoint != nil { news += 1 }
    }
    #expect(news == 1_000)
    #expect(bench.depot.productLoads == 2, "one load for all of them")
    #expect(bench.depot.loads.last == ["Product"], "and of this group alone")
    await bench.end()
  }

  @Test("Interval 0 under load: who asks during a load shares the next one, and misses nothing")
  func eachTime() async throws {
    let bench = try await Bench(.onDemand(interval: .zero))
    bench.depot.close()
    let first = try await bench.open("first")
    try await bench.until(loads: 2)
    bench.depot.change(to: "new")
    var later: [ServiceHost.Opening] = []
    for number in 1...50 { later.append(try await bench.open("device \(number)")) }
    bench.depot.open()
    for opening in later { #expect(try read(await bench.rest(of: opening)).products == ["new"]) }
    #expect(try read(await bench.rest(of: first)).checkpoint != nil)
    #expect(bench.depot.productLoads == 3, "one for the first, one for the fifty")
    await bench.end()
  }

  @Test("A group suspended in mid-load: who waits gets the rows that are there, nothing is lost")
  func suspended() async throws {
    let bench = try await Bench(.onDemand(interval: .zero))
    bench.depot.change(to: "new")
    bench.depot.close()
    let opening = try await bench.open("first")
    try await bench.until(loads: 2)
    try bench.groups.suspend("stock")
    let got = try read(await bench.rest(of: opening))
    #expect(got.products == ["old"] && got.checkpoint != nil)
    bench.depot.open()
    #expect(throws: ServerError.self) { try bench.groups.refresh("stock") }
    #expect(try read(await bench.rest(of: try await bench.open("second"))).products == ["old"])
    #expect(bench.depot.productLoads == 2, "nobody asks for a suspended group")
    try bench.groups.resume("stock")
    #expect(try read(await bench.rest(of: try await bench.open("third"))).products == ["new"])
    await bench.end()
  }

  @Test("A failing system: devices get the rows that are there, and hear why they are old")
  func failing() async throws {
    let bench = try await Bench(.onDemand(interval: .zero))
    bench.depot.fail(true)
    bench.clock.push(.seconds(500))
    let got = try read(await bench.rest(of: try await bench.open("first", asksCurrent: true)))
    #expect(got.products == ["old"])
    let age = try #require(got.checkpoint?.age)
    #expect(age >= 500_000 && age < 5_000_000, "the app hears how old the rows are")
    #expect(got.checkpoint?.currency != .current)
    let status = try #require(bench.groups.statuses(at: bench.clock.uptime).first)
    #expect(status.failure?.contains("The depot is closed") == true && status.age != nil)
    await bench.end()
  }

  @Test("A group that is wanted again and again keeps no other one waiting")
  func fair() {
    let groups = CacheGroups(
      CachePolicies(
        groups: ["a", "b"].map { name in
          CacheGroup(name: name, entities: [name], refresh: .onDemand(interval: .zero))
        }))
    var order: [String] = []
    for second in 1...4 as ClosedRange<Int64> {
      _ = groups.ask(["sales"], at: .seconds(second)) { _ in ["a", "b"] }
      guard let next = groups.next(at: .seconds(second), Timestamp(milliseconds: 0), KeptLog())
      else { continue }
      order.append(next.name)
      groups.end(next, failure: nil, at: .seconds(second))
    }
    #expect(order == ["a", "b", "a", "b"])
  }

  @Test("A scheduled group is read at its hour and not before; entities of no group are not")
  func scheduled() async throws {
    let bench = try await Bench(.every(.seconds(7_200)))
    bench.depot.change(to: "new")
    #expect(try read(await bench.rest(of: try await bench.open("first"))).products == ["old"])
    bench.clock.push(.seconds(7_201))
    try await bench.until(loads: 2)
    #expect(bench.depot.loads.last == ["Product"])
    await bench.load.loadNow()
    #expect(bench.depot.loads.last?.contains("Product") == false, "the rest without the group")
    #expect(try read(await bench.rest(of: try await bench.open("second"))).products == ["new"])
    await bench.end()
  }
}
