import FerryConnector
import FerryModel
import FerryWire
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

@Suite struct PartitionTests {
  private func shop() throws -> Bench {
    let bench = try Bench()
    bench.business.put(Shop.order, Shop.order(10, 1, "Oslo"))
    bench.business.put(Shop.line, Shop.line(10, 1, "a"))
    bench.business.put(Shop.note, [.integer(1), .text("10-1")])
    try bench.load()
    return bench
  }

  @Test("A parent that moves takes its children and their children along, in one number")
  func closure() throws {
    let bench = try shop()
    let anna = try Device(bench).exchange()
    let bob = try Device(bench, "other", bench.identity("bob", employees: [2])).exchange()
    #expect(anna.rows.count == 3)
    bench.business.put(Shop.order, Shop.order(10, 2, "Oslo"))
    let before = try bench.service.clock()
    try bench.load()
    #expect(try bench.service.clock() == before + 1)
    try anna.exchange()
    try bob.exchange()
    #expect(anna.rows.isEmpty)
    #expect(bob.rows.count == 3)
  }

  @Test("A row that moves between two partitions of one device stays on it")
  func betweenOwn() throws {
    let bench = try shop()
    let device = try Device(bench, "phone", bench.identity(employees: [1, 2])).exchange()
    for employee in [2, 1, 2] as [Int64] {
      bench.business.put(Shop.order, Shop.order(10, employee, "Oslo"))
      try bench.load()
      try device.exchange()
      #expect(device.rows.count == 3)
    }
  }

  @Test(
    "A child whose parent is not here is nobody's until the parent comes, and again when it goes")
  func unplaced() throws {
    let bench = try shop()
    let device = try Device(bench).exchange()
    bench.business.put(Shop.line, Shop.line(70, 1, "early"))
    try bench.load()
    #expect(try device.exchange().rows.count == 3)
    bench.business.put(Shop.order, Shop.order(70, 1, "late"))
    try bench.load()
    #expect(try device.exchange().rows.count == 5)
    bench.business.remove(Shop.order, ObjectKey([.integer(70)]))
    try bench.load()
    #expect(try device.exchange().rows.count == 3)
    #expect(try bench.service.why("Line", "70,1").verdict.contains("is in no partition"))
  }

  @Test("A parent's other unique attribute may lead to it, and may change")
  func alternateKey() throws {
    let bench = try shop()
    let device = try Device(bench).exchange()
    bench.business.put(
      Shop.line, [.integer(10), .integer(1), .text("renamed"), .text("a")])
    try bench.load()
    #expect(try device.exchange().rows.count == 2)
    bench.business.put(Shop.note, [.integer(1), .text("renamed")])
    try bench.load()
    #expect(try device.exchange().rows.count == 3)
  }

  @Test("A null in a partition rule makes the row nobody's")
  func null() throws {
    let bench = try shop()
    let device = try Device(bench).exchange()
    bench.business.put(Shop.order, Shop.order(10, nil, "Oslo"))
    try bench.load()
    #expect(try device.exchange().rows.isEmpty)
  }

  @Test("A claim that goes drops its partition, a new one starts at nothing")
  func claims() throws {
    let bench = try shop()
    bench.business.put(Shop.order, Shop.order(20, 2, "Rome"))
    try bench.load()
    let device = try Device(bench, "phone", bench.identity(employees: [1])).exchange()
    let later = Device(bench, "phone", bench.identity(employees: [2]))
    later.cursors = device.cursors
    later.rows = device.rows
    later.era = device.era
    later.version = device.version
    later.at = device.at
    try later.exchange()
    #expect(later.welcome?.drop.count == 1)
    #expect(later.welcome?.start.count == 1)
    #expect(later.shown == ["Order 20 [20,2,\"Rome\"]"])
  }

  @Test("Several columns and several values make the product of partitions, up to the limit")
  func product() throws {
    let columns = [
      PartitionColumn(attribute: "region", source: .claim("region")),
      PartitionColumn(attribute: "owner", source: .claim("user")),
    ]
    let deal = Shop.entity(
      "Deal", [("id", .int, false), ("region", .int, true), ("owner", .string, true)], key: [0],
      partition: .columns(columns))
    let package = Package(
      name: "deals", version: "1.0", entities: [deal], groups: [SynchronizationGroup(name: "sales")]
    )
    var limits = ServiceLimits()
    limits.partitionsPerSubscription = 3
    let bench = try Bench(package, limits: limits)
    for region in 1...4 {
      bench.business.put(deal, [.integer(Int64(region)), .integer(Int64(region)), .text("anna")])
    }
    try bench.load()
    func identity(_ regions: ClosedRange<Int>) -> Identity {
      Identity(
        user: "anna", device: nil, claims: ["region": regions.map(String.init) + ["x"]],
        expires: bench.clock.now.advanced(by: .seconds(60)))
    }
    let device = try Device(bench, "phone", identity(1...2)).exchange()
    #expect(device.rows.count == 2)
    #expect(!bench.log.lines.contains("warn a subscription nears the limit of partitions"))
    try Device(bench, "phone", identity(1...3)).exchange()
    #expect(bench.log.lines.contains("warn a subscription nears the limit of partitions"))
    let many = try Device(bench, "phone", identity(1...4)).exchange()
    #expect(many.failure?.code == .tooManyPartitions)
    #expect(many.checkpoint == nil)
  }

  @Test("An open rule gives every value there is; a new one comes with a new welcome")
  func open() throws {
    let entity = Shop.entity(
      "Region", [("id", .int, false), ("name", .string, true)], key: [0],
      partition: .columns([PartitionColumn(attribute: "name", source: .open)]))
    let bench = try Bench(
      Package(
        name: "open", version: "1.0", entities: [entity],
        groups: [SynchronizationGroup(name: "sales")]))
    bench.business.put(entity, [.integer(1), .text("north")])
    try bench.load()
    let device = Device(bench)
    let channel = bench.service.channel(
      device.body(), by: device.identity, until: bench.clock.now.advanced(by: .seconds(60)))
    #expect(try device.drain(channel) == false)
    #expect(device.rows.count == 1)
    bench.business.put(entity, [.integer(2), .text("south")])
    try bench.load()
    #expect(try device.drain(channel) == false)
    #expect(device.rows.count == 2)
  }

  @Test("Rules that lead in a circle are refused with the cure")
  func circle() throws {
    let tree = Shop.entity(
      "Tree", [("id", .int, false), ("parent", .int, true)], key: [0],
      relationships: [
        Relationship(name: "up", target: "Tree", attributes: ["parent"], targetAttributes: ["id"])
      ], partition: .through(relationship: "up"))
    let package = Package(
      name: "tree", version: "1.0", entities: [tree], groups: [SynchronizationGroup(name: "sales")])
    #expect(throws: ServerError.self) { try PartitionRules(package) }
  }
}
