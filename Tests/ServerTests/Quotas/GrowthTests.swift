import FerryModel
import FerrySQLite
import FerryWire
import FerryWorld
import Foundation
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

/// What users can make the server keep has bounds, and what nobody needs goes.
@Suite("What the store keeps does not grow without end")
struct GrowthTests {
  static let depot = Shop.entity(
    "Depot", [("code", .string, false), ("area", .string, false)], key: [0],
    partition: .columns([
      PartitionColumn(attribute: "area", source: .parameter("area", within: nil))
    ]))
  static let package = Package(
    name: "areas", version: "1.0", entities: [depot],
    groups: [SynchronizationGroup(name: "sales")],
    parameters: [Parameter(name: "area", type: .string)])

  private func bench(_ change: (inout ServiceLimits) -> Void = { _ in }) throws -> Bench {
    var limits = ServiceLimits.standard
    change(&limits)
    let bench = try Bench(GrowthTests.package, limits: limits)
    bench.business.put(GrowthTests.depot, [.text("BASEL"), .text("north")])
    try bench.load()
    return bench
  }

  private func ask(_ device: Device, _ areas: String...) throws {
    device.parameters = SubscriptionParameters(sets: areas.map { ["area": $0] }, keys: [:])
    try device.exchange()
  }

  private func areas(_ bench: Bench) throws -> [String] {
    try bench.database.rows("SELECT place FROM partition ORDER BY id")
      .compactMap { $0[0].text }
  }

  @Test("A user's partitions without a row have a limit, and the oldest goes for a new one")
  func emptyPartitions() throws {
    let bench = try bench { $0.emptyPartitionsPerUser = 2 }
    let device = Device(bench)
    for area in ["a", "b", "c", "d"] { try ask(device, area) }
    #expect(device.failure == nil)
    #expect(try areas(bench) == [#""north""#, #""c""#, #""d""#])
    // One with rows does not count, and what comes into the new ones is seen.
    try ask(device, "north", "d")
    bench.business.put(GrowthTests.depot, [.text("BERN"), .text("d")])
    try bench.load()
    try ask(device, "north", "d")
    #expect(device.shown == [#"Depot "BASEL" ["BASEL","north"]"#, #"Depot "BERN" ["BERN","d"]"#])
  }

  @Test("What a line that is open waits for does not go; a user who asks for more is refused")
  func inUse() throws {
    let bench = try bench { $0.emptyPartitionsPerUser = 2 }
    let waiting = Device(bench, "first")
    waiting.parameters = SubscriptionParameters(sets: [["area": "a"], ["area": "b"]], keys: [:])
    let channel = bench.service.channel(
      waiting.body(), by: waiting.identity, until: waiting.identity.expires)
    try waiting.drain(channel)
    let second = Device(bench, "second")
    try ask(second, "c")
    #expect(second.failure?.code == .tooManyPartitions)
    let other = Device(bench, "third", bench.identity("bob"))
    try ask(other, "c")
    #expect(other.failure == nil)
    bench.business.put(GrowthTests.depot, [.text("BERN"), .text("b")])
    try bench.load()
    try waiting.drain(channel)
    #expect(waiting.shown == [#"Depot "BERN" ["BERN","b"]"#])
    bench.service.close(channel)
    let third = Device(bench, "fourth")
    try ask(third, "d")
    #expect(third.failure == nil)
  }

  @Test("A partition without a row goes when no device has asked for it for 30 days")
  func unasked() throws {
    let bench = try bench()
    let phone = Device(bench, "phone")
    let tablet = Device(bench, "tablet")
    try ask(phone, "a", "north")
    try ask(tablet, "b")
    bench.business.remove(GrowthTests.depot, ObjectKey([.text("BASEL")]))
    bench.business.put(GrowthTests.depot, [.text("BERN"), .text("south")])
    try bench.load()
    for _ in 0..<32 {
      bench.clock.advance(86_400)
      tablet.identity = bench.identity()
      try ask(tablet, "b")
      try bench.service.compact()
    }
    #expect(try areas(bench) == [#""b""#, #""south""#])
    #expect(try bench.database.value("SELECT count(*) FROM member") == .integer(1))
    // The phone comes back after a month: what it had is dropped and begun anew.
    phone.identity = bench.identity()
    try ask(phone, "a", "north")
    #expect(phone.shown == [])
    bench.business.put(GrowthTests.depot, [.text("AARAU"), .text("a")])
    try bench.load()
    try ask(phone, "a", "north")
    #expect(phone.shown == [#"Depot "AARAU" ["AARAU","a"]"#])
  }

  @Test("A user has a number of devices with a session; the one renewed longest ago logs in again")
  func devices() throws {
    let bench = try bench { $0.devicesPerUser = 2 }
    struct Users: AuthenticationProvider {
      func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
        UserRecord(name: user)
      }
      func record(of user: String) -> UserRecord? { UserRecord(name: user) }
    }
    var tokens: [String: String] = [:]
    func login(_ device: String, _ user: String = "anna") throws {
      bench.clock.advance(1)
      tokens[device] = try bench.service.login(UserRecord(name: user), device: device).refreshToken
    }
    func renew(_ device: String) throws {
      bench.clock.advance(1)
      let pair = try bench.service.renew(tokens[device] ?? "", device: device, provider: Users())
      tokens[device] = pair.refreshToken
    }
    for device in ["a", "b"] { try login(device) }
    try login("bob's", "bob")
    try renew("a")
    try login("c")
    try renew("a")
    try renew("bob's")
    #expect(throws: ServerError.self) { try renew("b") }
    // Each is a device of the store, too.
    for device in ["a", "b", "c"] { try Device(bench, device).exchange() }
    #expect(try bench.database.value("SELECT count(*) FROM device") == .integer(2))
  }

  @Test("A device has a number of sessions, and the oldest ends")
  func sessions() throws {
    let bench = try bench { $0.sessionsPerDevice = 3 }
    for _ in 0..<10 {
      bench.clock.advance(1)
      _ = try bench.service.login(UserRecord(name: "anna"), device: "phone")
    }
    _ = try bench.service.login(UserRecord(name: "anna"), device: "tablet")
    let count = try bench.database.value("SELECT count(*) FROM session WHERE ended IS NULL")
    #expect(count == .integer(4))
  }

  @Test("Where somebody is always busy, what nobody needs any more is forgotten")
  func marks() {
    var marks = Marks()
    var busy = marks.begin(clock: 1)
    let name = { (number: Int) in ObjectName(entity: "A", key: ObjectKey([.integer(Int64(number))]))
    }
    for number in 0..<20_000 {
      marks.confirm(name(number))
      let next = marks.begin(clock: 1)
      // What came after the earliest of those who are busy is kept.
      #expect(marks.isTouched(name(number), version: nil, since: busy))
      marks.end(busy)
      busy = next
    }
    #expect(marks.count <= 1_000)
    marks.confirm(name(1))
    #expect(marks.isTouched(name(1), version: nil, since: busy))
  }

  @Test(
    "A store of version 1 takes the steps to this version, and keeps what it had",
    arguments: [true, false])
  func steps(hasRoles: Bool) throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("ferry-steps-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    let world = World(clock: HandClock(), chance: SeededChance(1), log: KeptLog())
    do {
      let old = try Connection(path: "\(folder)/server.sqlite")
      try old.execute(Schema.tables)
      // The first servers did not keep the roles of an operation.
      if !hasRoles { try old.execute("ALTER TABLE operation DROP COLUMN roles") }
      try old.execute(
        """
        INSERT INTO server VALUES (1, 'kept', 0, 7);
        INSERT INTO package VALUES (1, '\(GrowthTests.package.id)',
          '\(GrowthTests.package.shape)', 5, 1);
        INSERT INTO partition (package, group_name, rule, place, version, floor, sum, count,
          left_count, loaded) VALUES (1, 'sales', '', '"old"', 5, 0, 0, 0, 0, 1);
        PRAGMA application_id = \(Schema.applicationID);
        PRAGMA user_version = 1;
        """)
    }
    let service = try Service(package: GrowthTests.package, folder: folder, world: world)
    let database = try #require(service.store as? SQLiteStore).writer
    #expect(service.server == "kept")
    #expect(try service.clock() == 6, "the era of this start")
    let row = try database.row("SELECT place, asked_day, asked_by FROM partition")
    #expect(row == [.text(#""old""#), .integer(7), .null])
    #expect(
      try database.value("PRAGMA user_version") == .integer(Schema.version))
    #expect(try database.value("SELECT count(*) FROM report") == .integer(0))
    #expect(try database.value("SELECT count(roles) FROM operation") == .integer(0))
  }
}
