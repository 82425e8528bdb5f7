import FerryConnector
import FerryModel
import FerrySQLite
import FerryWire
import FerryWorld
import Foundation
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

@Suite struct FirstLoadTests {
  private func fill(_ bench: Bench, _ ids: ClosedRange<Int64>) {
    for id in ids { bench.business.put(Shop.product, [.integer(id), .text("p\(id)")]) }
  }

  private func stage(_ bench: Bench, _ ticket: LoadTicket, _ entity: Entity) throws {
    try bench.service.stage(ticket, entity, bench.business.images(entity))
  }

  @Test("A first load is seen only when it is whole, however many parts it has")
  func whole() throws {
    var limits = ServiceLimits()
    limits.firstLoadRows = 4
    let bench = try Bench(limits: limits)
    fill(bench, 1...10)
    let device = Device(bench)
    let ticket = try bench.service.beginLoad()
    try stage(bench, ticket, Shop.product)
    #expect(try bench.service.cachedRows().count == 10)
    #expect(try bench.service.clock() >= 3)
    try device.exchange()
    #expect(device.rows.isEmpty)
    #expect(device.checkpoint?.unavailable.isEmpty == false)
    #expect(try bench.end(ticket) == LoadSummary(changedRows: 10))
    #expect(try device.exchange().rows.count == 10)
  }

  @Test("A first load stages nothing, and asks for no row")
  func noLookUps() throws {
    let bench = try Bench()
    fill(bench, 1...500)
    let ticket = try bench.service.beginLoad()
    let before = bench.database.executions
    try stage(bench, ticket, Shop.product)
    // Two for each row: the row and its membership.
    #expect(bench.database.executions - before < 2 * 500 + 20)
    #expect(try bench.service.store.nextStaged(limit: 9).isEmpty)
    let first = bench.database.executions
    try bench.end(ticket)
    #expect(bench.database.executions - first < 30)
  }

  @Test("After a crash within a first load the next one goes on; what is gone by then goes")
  func crash() throws {
    var limits = ServiceLimits()
    limits.firstLoadRows = 3
    let bench = try Bench(limits: limits)
    fill(bench, 1...9)
    let device = Device(bench)
    try stage(bench, try bench.service.beginLoad(), Shop.product)
    try bench.restart()
    try device.exchange()
    #expect(device.rows.isEmpty && device.checkpoint?.unavailable.isEmpty == false)
    bench.business.remove(Shop.product, ObjectKey([.integer(2)]))
    bench.business.put(Shop.product, [.integer(3), .text("changed")])
    fill(bench, 10...12)
    let summary = try bench.load()
    #expect(summary.changedRows == 4 && summary.deletedRows == 1)
    try device.exchange()
    #expect(device.rows.count == 11)
    #expect(device.shown.contains("Product 3 [3,\"changed\"]"))
    #expect(try bench.load() == LoadSummary())
  }

  @Test("A first load that broke stays unseen; the next one makes it whole")
  func broken() throws {
    let bench = try Bench()
    fill(bench, 1...5)
    let ticket = try bench.service.beginLoad()
    try stage(bench, ticket, Shop.product)
    bench.service.abandonLoad(ticket)
    let device = Device(bench)
    try device.exchange()
    #expect(device.rows.isEmpty && device.checkpoint?.unavailable.isEmpty == false)
    #expect(try bench.service.isLoaded() == false)
    try bench.load()
    #expect(try device.exchange().rows.count == 5)
  }

  @Test(
    "Children find their places whichever comes first, and move with their parents later",
    arguments: [false, true])
  func children(isReversed: Bool) throws {
    func change(_ bench: Bench, employee: Int64) {
      bench.business.put(Shop.order, Shop.order(10, employee, "Oslo"))
      bench.business.put(Shop.order, Shop.order(11, 2, "Bergen"))
      for (order, number) in [(10, 1), (10, 2), (11, 1), (99, 1)] as [(Int64, Int64)] {
        bench.business.put(Shop.line, Shop.line(order, number))
      }
      for (id, code) in [(1, "10-1"), (2, "11-1"), (3, "none")] as [(Int64, String)] {
        bench.business.put(Shop.note, [.integer(id), .text(code)])
      }
    }
    func places(_ bench: Bench) throws -> [String] {
      try bench.service.store.liveRows().map { "\($0.name) \($0.place ?? "nobody's")" }.sorted()
    }
    let bench = try Bench()
    change(bench, employee: 1)
    let ticket = try bench.service.beginLoad()
    for entity in isReversed ? Shop.all.reversed() : Shop.all { try stage(bench, ticket, entity) }
    try bench.end(ticket)
    // What is compared is decided row by row, by the machine that moves children.
    let compared = try Bench()
    try compared.load()
    change(compared, employee: 1)
    try compared.load()
    #expect(try places(bench) == places(compared))
    #expect(try places(bench).count { $0.contains("nobody's") } == 2)
    for bench in [bench, compared] {
      change(bench, employee: 3)
      try bench.load()
    }
    #expect(try places(bench) == places(compared))
    let first = try Device(bench).exchange()
    let second = try Device(compared).exchange()
    #expect(first.shown == second.shown)
  }

  @Test("A row that the load brings twice is read again, not doubled")
  func twice() throws {
    let bench = try Bench()
    fill(bench, 1...2)
    let ticket = try bench.service.beginLoad()
    try stage(bench, ticket, Shop.product)
    bench.business.put(Shop.product, [.integer(1), .text("later")])
    try stage(bench, ticket, Shop.product)
    #expect(try bench.end(ticket).readAgain == 2)
    try bench.readAgain()
    #expect(
      try Device(bench).exchange().shown == ["Product 1 [1,\"later\"]", "Product 2 [2,\"p2\"]"])
  }

  @Test("A row that was found deleted while a first load reads does not come back with it")
  func deletedMeanwhile() throws {
    let bench = try Bench()
    fill(bench, 1...3)
    let ticket = try bench.service.beginLoad()
    let read = bench.business.images(Shop.product)
    let key = ObjectKey([.integer(2)])
    bench.business.remove(Shop.product, key)
    _ = try bench.service.take(
      BusinessChanges(cursor: nil, hints: [.objects(entity: "Product", keys: [key])]))
    try bench.readAgain()
    try bench.service.stage(ticket, Shop.product, read)
    #expect(try bench.end(ticket) == LoadSummary(changedRows: 2, readAgain: 1))
    try bench.readAgain()
    #expect(try bench.service.cachedRows().count == 2)
  }

  @Test("Pieces of a load shrink where the service needs long for them, and grow where it does not")
  func pace() {
    var pace = LoadPace()
    pace.note(1_000, .milliseconds(40))
    #expect(pace.rows == 500)
    for _ in 0..<9 { pace.note(pace.rows, .milliseconds(40)) }
    #expect(pace.rows == LoadPace.least)
    pace.note(pace.rows / 2, .milliseconds(1))
    #expect(pace.rows == LoadPace.least)
    for _ in 0..<99 { pace.note(pace.rows, .milliseconds(1)) }
    #expect(pace.rows == LoadPace.most)
  }

  @Test("How long a load takes yet is told by its rate")
  func progress() {
    let some = LoadProgress(rows: 3_000, total: 10_000, time: .seconds(2))
    #expect(some.rowsPerSecond == 1_500 && some.remainingSeconds == 5)
    #expect(LoadProgress(rows: 3_000, total: nil, time: .seconds(2)).remainingSeconds == nil)
    #expect(LoadProgress(rows: 0, total: 10, time: .zero).remainingSeconds == nil)
    let pulse = Pulse(world: .system())
    pulse.tellLoad(some)
    let text = String(
      decoding: HealthReport([("", pulse)], of: ServerMeter(.system())).json, as: UTF8.self)
    #expect(
      text.contains(
        #""load":{"rows":3000,"rowsPerSecond":1500,"of":10000,"remainingSeconds":5}"#), "\(text)")
    let short = HealthReport([("", pulse)], of: nil)
    #expect(!String(decoding: short.json, as: UTF8.self).contains("3000"))
  }
}
