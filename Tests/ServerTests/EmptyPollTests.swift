import FerryModel
import FerrySQLite
import FerryWire
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

/// What was last committed is kept in memory: to hear that there is nothing costs no question.
@Suite("A device for which there is nothing new asks nothing of the store")
struct EmptyPollTests {
  private func shop() throws -> Bench {
    let bench = try Bench()
    bench.business.put(Shop.order, Shop.order(10, 1, "Oslo"))
    bench.business.put(Shop.order, Shop.order(20, 2, "Bern"))
    try bench.load()
    return bench
  }

  /// Statements that the store ran for one exchange of the device.
  private func cost(_ device: Device) throws -> Int {
    let store = try #require(device.bench.service.store as? SQLiteStore)
    let before = store.executionsInAll
    try device.exchange()
    return store.executionsInAll - before
  }

  @Test("The second poll runs no statement, and neither do those of others at the same place")
  func empty() throws {
    let bench = try shop()
    let device = try Device(bench).exchange().exchange()
    #expect(try cost(device) == 0)
    #expect(try cost(device) == 0)
    #expect(device.checkpoint?.answers.isEmpty == true)
  }

  @Test("A change of its own partition is read, one of another is not asked for")
  func changed() throws {
    let bench = try shop()
    let device = try Device(bench).exchange().exchange()
    bench.business.put(Shop.order, Shop.order(20, 2, "Rome"))
    try bench.load()
    try device.exchange()
    #expect(try cost(device) == 0)
    bench.business.put(Shop.order, Shop.order(10, 1, "Riga"))
    try bench.load()
    #expect(try cost(device) > 0)
    #expect(device.shown.first?.contains("Riga") == true)
    #expect(try cost(device) == 0)
  }

  @Test("An answer is told with the next poll, and again to a device that was set back")
  func answered() throws {
    let bench = try shop()
    let device = try Device(bench).exchange().exchange()
    let change = bench.operation(
      Shop.order, .update, ObjectKey([.integer(10)]), changed: [2: .text("Kiel")],
      base: [2: .text("Oslo")])
    try device.exchange([change.1])
    #expect(try cost(device) == 0)
    try bench.replay()
    #expect(try cost(device) > 0)
    #expect(device.answers[change.0]?.outcome == .replayResult)
    // It confirms; then it forgets that it was told, and sends the change again.
    try device.exchange().exchange()
    #expect(try cost(device) == 0)
    device.answers = [:]
    try device.exchange([change.1])
    try device.exchange()
    #expect(device.answers[change.0]?.outcome == .replayResult)
  }

  @Test("What a compaction purged resets a device all the same")
  func purged() throws {
    var limits = ServiceLimits()
    limits.tombstonesKept = 0
    let bench = try Bench(limits: limits)
    for number in 1...3 { bench.business.put(Shop.product, [.integer(Int64(number)), .text("a")]) }
    try bench.load()
    let device = try Device(bench).exchange().exchange()
    let other = try Device(bench, "other").exchange()
    for number in 1...3 {
      bench.business.remove(Shop.product, ObjectKey([.integer(Int64(number))]))
    }
    try bench.load()
    try bench.load()
    try other.exchange().exchange()
    try bench.service.compact()
    try device.exchange().exchange()
    #expect(device.shown == [])
    #expect(try cost(device) == 0)
  }
}
