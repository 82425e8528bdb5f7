import FerryConnector
import FerryJSON
import FerryModel
import Testing

@testable import FerryServer

@Suite struct RejectedRowTests {
  private static let key: ObjectKey = ObjectKey([.integer(1)])

  private func hint(_ cursor: String) -> BusinessChanges {
    BusinessChanges(
      cursor: cursor, hints: [.objects(entity: "Product", keys: [RejectedRowTests.key])])
  }

  private func bench() throws -> Bench {
    let bench = try Bench()
    for id in 1...2 as ClosedRange<Int64> {
      bench.business.put(Shop.product, [.integer(id), .text("name \(id)")])
    }
    try bench.load()
    return bench
  }

  private func warnings(_ bench: Bench) -> Int {
    bench.log.lines.count { $0 == "warn a row does not fit the model" }
  }

  @Test("A hinted row that does not fit leaves devices with a line, a count and a reason")
  func hinted() throws {
    let bench = try bench()
    let device = try Device(bench).exchange()
    #expect(device.rows.count == 2)
    bench.business.put(Shop.product, [.integer(1), .integer(7)])
    _ = try bench.service.take(hint("a"))
    try bench.readAgain()
    try device.exchange()
    #expect(Set(device.rows.keys.map(\.key.text)) == ["2"])
    #expect(warnings(bench) == 1)
    #expect(bench.service.rejectedRows.count == 1)
    #expect(bench.service.rejectedRows.example?.attribute == "name")
    let why = try bench.service.why("Product", "1")
    #expect(why.verdict.hasPrefix("The row does not fit the model: name: "), "\(why.verdict)")
    #expect(try bench.service.sourceCursor() == "a")

    bench.business.put(Shop.product, [.integer(1), .text("right")])
    _ = try bench.service.take(hint("b"))
    try bench.readAgain()
    try device.exchange()
    #expect(device.rows.count == 2)
    #expect(bench.service.rejectedRows == RejectedRows())
    #expect(try bench.service.why("Product", "1").rejectedReason == nil)
    #expect(warnings(bench) == 1)
  }

  @Test("What a change of a device has met is left out as a load leaves it out")
  func written() throws {
    let bench = try bench()
    let device = try Device(bench).exchange()
    let change = bench.operation(
      Shop.product, .update, RejectedRowTests.key, changed: [1: .text("b")],
      base: [1: .text("name 1")])
    try device.exchange([change.1])
    let task = try #require(try bench.service.nextReplay())
    let touched = RowImage(
      RejectedRow(entity: "Product", key: "", attribute: "name", reason: "it is never so"),
      key: RejectedRowTests.key)
    let step = try bench.service.report(
      task, .performed(.done([.accepted(key: RejectedRowTests.key)], touched: [touched])))
    #expect(step == .done)
    #expect(warnings(bench) == 1 && bench.service.rejectedRows.count == 1)
    #expect(
      try bench.service.why("Product", "1").rejectedReason == "name: it is never so")
    try device.exchange()
    #expect(device.answers[change.0]?.outcome == .replayResult)
    #expect(Set(device.rows.keys.map(\.key.text)) == ["2"])
  }

  @Test("What is left out is still known after a restart, and goes when the row is deleted")
  func restarted() throws {
    let bench = try bench()
    bench.business.put(Shop.product, [.integer(1), .integer(7)])
    _ = try bench.service.take(hint("a"))
    try bench.readAgain()
    try bench.restart()
    #expect(bench.service.rejectedRows.count == 1)
    bench.business.remove(Shop.product, RejectedRowTests.key)
    _ = try bench.service.take(hint("b"))
    try bench.readAgain()
    #expect(bench.service.rejectedRows.count == 0)
    #expect(try bench.service.why("Product", "1").verdict.contains("deleted"))
  }

  @Test("A load counts what it leaves out, and /health names one of the rows with its cure")
  func loaded() throws {
    let bench = try bench()
    bench.business.put(Shop.product, [.integer(1), .integer(7)])
    bench.business.put(Shop.product, [.integer(2), .integer(8)])
    try bench.load()
    #expect(bench.service.rejectedRows.count == 2 && warnings(bench) == 2)
    let pulse = Pulse(world: bench.service.world)
    pulse.beat(isLoaded: true, rejected: bench.service.rejectedRows)
    let health = HealthReport(
      [(package: "shop", pulse: pulse)], of: ServerMeter(bench.service.world))
    let leftOut = try JSONNode.parse(health.json)["leftOut"]
    #expect(health.status == 200)
    #expect(leftOut?["rows"]?.integer == 2)
    #expect(leftOut?["entity"]?.string == "Product" && leftOut?["attribute"]?.string == "name")
    #expect(leftOut?["reason"]?.string?.isEmpty == false)
    bench.business.put(Shop.product, [.integer(1), .text("a")])
    bench.business.put(Shop.product, [.integer(2), .text("b")])
    try bench.load()
    #expect(bench.service.rejectedRows == RejectedRows())
  }
}
