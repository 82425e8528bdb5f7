import FerryConnector
import FerryModel
import FerryWire
import Foundation
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

/// The interleavings of synchronization.md, section 1.
@Suite struct OrderTests {
  private func fill(_ bench: Bench, _ count: Int64) throws {
    for id in 1...count { bench.business.put(Shop.product, [.integer(id), .text("p\(id)")]) }
    try bench.load()
  }

  @Test("A row that changes between two pages is not missed (fixed bound)")
  func fixedBound() throws {
    var limits = ServiceLimits()
    limits.pageRows = 10
    limits.roundRows = 10
    let bench = try Bench(limits: limits)
    try fill(bench, 100)
    let device = Device(bench)
    let exchange = bench.service.exchange(device.body(), by: device.identity)
    var change: Int64 = 0
    while try device.drain(exchange, atMost: 1) == false, device.checkpoint == nil {
      change += 1
      bench.business.put(Shop.product, [.integer(80), .text("changed \(change)")])
      bench.business.remove(Shop.product, ObjectKey([.integer(change * 2)]))
      if change < 30 { try bench.load() }
    }
    let cached = try bench.service.cachedRows()
    #expect(device.rows.count == cached.count)
    #expect(change > 5)
    for row in cached { #expect(device.rows[row.image]?.values == row.values) }
  }

  @Test("A page may end inside one version")
  func insideVersion() throws {
    var limits = ServiceLimits()
    limits.pageRows = 7
    limits.roundRows = 7
    let bench = try Bench(limits: limits)
    try fill(bench, 50)
    let device = try Device(bench).exchange()
    #expect(device.rows.count == 50)
    #expect(device.thrownAway == 0)
  }

  @Test("A load that began before a replay does not turn its row back")
  func markOfLoad() throws {
    let bench = try Bench()
    try fill(bench, 3)
    let device = try Device(bench).exchange()
    let ticket = try bench.service.beginLoad()
    let old = bench.business.images(Shop.product)
    let change = bench.operation(
      Shop.product, .update, ObjectKey([.integer(1)]), changed: [1: .text("new")],
      base: [1: .text("p1")])
    let create = bench.operation(
      Shop.product, .create, ObjectKey([.integer(9)]), changed: [0: .integer(9), 1: .text("made")])
    try device.exchange([change.1, create.1])
    try bench.replay()
    try bench.service.stage(ticket, Shop.product, old)
    let summary = try bench.end(ticket)
    #expect(summary == LoadSummary(changedRows: 0, deletedRows: 0, readAgain: 2))
    try bench.readAgain()
    try device.exchange()
    #expect(device.shown.contains("Product 1 [1,\"new\"]"))
    #expect(device.shown.contains("Product 9 [9,\"made\"]"))
  }

  @Test("A value found equal counts as touched: an earlier reader does not turn it back")
  func equalCounts() throws {
    let bench = try Bench()
    try fill(bench, 1)
    let key = ObjectKey([.integer(1)])
    let ticket = try bench.service.beginLoad()
    bench.business.put(Shop.product, [.integer(1), .text("passing")])
    let passing = bench.business.images(Shop.product)
    let device = try Device(bench).exchange()
    let change = bench.operation(
      Shop.product, .update, key, changed: [1: .text("p1")], base: [1: .text("passing")])
    try device.exchange([change.1])
    try bench.replay()
    try bench.service.stage(ticket, Shop.product, passing)
    let summary = try bench.end(ticket)
    #expect(summary.readAgain == 1)
    #expect(try bench.service.cachedRows().map(\.values) == [[.integer(1), .text("p1")]])
  }

  @Test("A load leaves a claimed object and a row that may be an unanswered create alone")
  func claims() throws {
    let bench = try Bench()
    try fill(bench, 1)
    let device = try Device(bench).exchange()
    let create = bench.operation(
      Shop.product, .create, ObjectKey([.integer(9)]), changed: [0: .integer(9), 1: .text("made")])
    try device.exchange([create.1])
    let task = try #require(try bench.service.nextReplay())
    let report = try #require(bench.answer(task.step))
    bench.business.put(Shop.product, [.integer(5), .text("by others")])
    let summary = try bench.load()
    #expect(summary.readAgain == 2)
    #expect(try bench.service.nextReadBack()?.keys == [ObjectKey([.integer(5)])])
    #expect(try bench.service.report(task, report) == .done)
    try bench.readAgain()
    try device.exchange()
    #expect(device.rows.count == 2)
  }

  @Test("Equal rows get no number, and the clock stays")
  func equal() throws {
    let bench = try Bench()
    try fill(bench, 20)
    let clock = try bench.service.clock()
    #expect(try bench.load() == LoadSummary())
    #expect(try bench.service.clock() == clock)
  }

  @Test("A load that lacks more than half is not believed until a second one says the same")
  func massDeletion() throws {
    var limits = ServiceLimits()
    limits.massDeletionRows = 5
    let bench = try Bench(limits: limits)
    try fill(bench, 20)
    for id in 1...15 { bench.business.remove(Shop.product, ObjectKey([.integer(Int64(id))])) }
    let first = try bench.load()
    #expect(first.deletedRows == 0)
    #expect(first.doubtedPartitions.count == 1)
    bench.business.remove(Shop.product, ObjectKey([.integer(16)]))
    #expect(try bench.load().deletedRows == 0)
    #expect(try bench.load().deletedRows == 16)
  }

  @Test("What a doubted load was for is not called current before a load is believed")
  func doubtedIsNotCurrent() throws {
    var limits = ServiceLimits()
    limits.massDeletionRows = 5
    let bench = try Bench(limits: limits)
    try fill(bench, 20)
    for id in 1...15 { bench.business.remove(Shop.product, ObjectKey([.integer(Int64(id))])) }
    let look = bench.service.beginLook()
    bench.service.endLook(look, needsLoad: true)
    #expect(try bench.load().doubtedPartitions.count == 1)
    #expect(bench.service.intake.followed[0].freshness.completed < look)
    #expect(try bench.load().deletedRows == 15)
    #expect(bench.service.intake.followed[0].freshness.completed == look)
  }

  @Test("A load that broke changes nothing")
  func broken() throws {
    let bench = try Bench()
    try fill(bench, 3)
    let before = try bench.service.dump()
    let ticket = try bench.service.beginLoad()
    try bench.service.stage(ticket, Shop.product, [])
    bench.service.abandonLoad(ticket)
    #expect(try bench.service.endLoad(ticket) == .done(LoadSummary()))
    #expect(try bench.service.dump() == before)
  }

  @Test("A row that does not fit is left out, with its reason")
  func rejected() throws {
    let bench = try Bench()
    let ticket = try bench.service.beginLoad()
    let bad = RowImage(
      entity: "Product", key: ObjectKey([.integer(1)]), values: [.integer(1), .integer(7)])
    let good = RowImage(
      entity: "Product", key: ObjectKey([.integer(2)]), values: [.integer(2), .null])
    try bench.service.stage(ticket, Shop.product, [bad, good])
    try bench.end(ticket)
    #expect(try bench.service.cachedRows().count == 1)
    #expect(try bench.service.why("Product", "1").rejectedReason?.contains("name") == true)
  }

}

@Suite struct EraTests {
  @Test("A device from the lost tail of a restored server starts its partitions again")
  func restored() throws {
    let bench = try Bench()
    bench.business.put(Shop.product, [.integer(1), .text("one")])
    try bench.load()
    bench.stop()
    let file = "\(bench.folder)/server.sqlite"
    try FileManager.default.copyItem(atPath: file, toPath: "\(file).backup")
    try bench.restart()
    for version in 0..<5 {
      bench.business.put(Shop.product, [.integer(1), .text("v\(version)")])
      try bench.load()
    }
    let device = try Device(bench).exchange()
    bench.stop()
    for suffix in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: file + suffix)
    }
    try FileManager.default.moveItem(atPath: "\(file).backup", toPath: file)
    try bench.restart()
    // The clock runs on past the device's number before it comes back.
    for version in 0..<9 {
      bench.business.put(Shop.product, [.integer(1), .text("w\(version)")])
      try bench.load()
    }
    #expect(try bench.service.clock() > device.version)
    try device.exchange()
    // One was in the backup. The other was made after it, and has another number here.
    #expect(device.welcome?.reset.count == 1)
    #expect(device.welcome?.start.count == 1 && device.welcome?.drop.count == 1)
    #expect(device.shown == ["Product 1 [1,\"w8\"]"])
    try device.exchange()
    #expect(device.welcome?.reset == [])
  }

  @Test("A restored server gives no partition a number that devices may know for another one")
  func newNumbers() throws {
    let bench = try Bench()
    let file = "\(bench.folder)/server.sqlite"
    bench.stop()
    try FileManager.default.copyItem(atPath: file, toPath: "\(file).backup")
    var known: Set<Int64> = []
    for employees: [Int64] in [[1, 2], [3]] {
      if !known.isEmpty {
        bench.stop()
        for suffix in ["", "-wal", "-shm"] {
          try? FileManager.default.removeItem(atPath: file + suffix)
        }
        try FileManager.default.moveItem(atPath: "\(file).backup", toPath: file)
      }
      try bench.restart()
      try bench.load()
      let device = Device(bench)
      device.identity = bench.identity(employees: employees)
      try device.exchange()
      let numbers = Set(try #require(device.welcome).start.map(\.partition))
      #expect(!numbers.isEmpty && numbers.isDisjoint(with: known))
      known.formUnion(numbers)
    }
  }

  @Test("A restart that lost nothing keeps every cursor")
  func restarted() throws {
    let bench = try Bench()
    bench.business.put(Shop.product, [.integer(1), .text("one")])
    try bench.load()
    let device = try Device(bench).exchange()
    let server = bench.service.server
    try bench.restart()
    #expect(bench.service.server == server)
    try device.exchange()
    #expect(device.welcome?.keep.count == 2)
    #expect(device.welcome?.reset == [])
  }

  @Test("Eras hold what was seen before the next one began, and nothing else")
  func rule() {
    let list = EraList(eras: [.init(id: "a", firstVersion: 1), .init(id: "b", firstVersion: 901)])
    #expect(list.holds(era: "a", version: 900, clock: 950))
    #expect(!list.holds(era: "a", version: 901, clock: 2_000))
    #expect(list.holds(era: "b", version: 950, clock: 950))
    #expect(!list.holds(era: "b", version: 951, clock: 950))
    #expect(!list.holds(era: "c", version: 1, clock: 950))
  }
}
