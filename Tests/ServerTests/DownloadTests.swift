import FerryConnector
import FerryModel
import FerryTestTraits
import FerryWire
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

@Suite struct DownloadTests {
  private func shop() throws -> Bench {
    let bench = try Bench()
    bench.business.put(Shop.product, [.integer(1), .text("tea")])
    bench.business.put(Shop.order, Shop.order(10, 1, "Oslo"))
    bench.business.put(Shop.order, Shop.order(20, 2, "Rome"))
    bench.business.put(Shop.order, Shop.order(30, nil, "Nowhere"))
    bench.business.put(Shop.line, Shop.line(10, 1, "a"))
    bench.business.put(Shop.line, Shop.line(20, 1, "b"))
    bench.business.put(Shop.line, Shop.line(99, 1, "no order"))
    bench.business.put(Shop.note, [.integer(1), .text("10-1")])
    return bench
  }

  @Test(
    "A load becomes rows of the device's own partitions and one checkpoint",
    .reference("sync/Q3", "sync/Q4"))
  func firstImport() throws {
    let bench = try shop()
    try bench.load()
    let device = try Device(bench).exchange()
    #expect(
      device.shown == [
        "Line 10,1 [10,1,\"10-1\",\"a\"]", "Note 1 [1,\"10-1\"]", "Order 10 [10,1,\"Oslo\"]",
        "Product 1 [1,\"tea\"]",
      ])
    #expect(device.checkpoint?.unavailable == [])
    #expect(device.checkpoint?.version == (try bench.service.clock()))
    #expect(device.welcome?.expectedRows == 4)
  }

  @Test("A delta brings only what changed since", .reference("sync/Q4"))
  func delta() throws {
    let bench = try shop()
    try bench.load()
    let device = try Device(bench).exchange()
    bench.business.put(Shop.order, Shop.order(10, 1, "Bergen"))
    bench.business.remove(Shop.product, ObjectKey([.integer(1)]))
    let summary = try bench.load()
    #expect(summary == LoadSummary(changedRows: 1, deletedRows: 1))
    let before = device.messages.count
    try device.exchange()
    let pages = device.messages[before...].compactMap { message in
      if case .rows(let page) = message { page } else { nil }
    }
    #expect(pages.reduce(0) { $0 + $1.rowCount } == 2)
    #expect(device.rows[ObjectName(entity: "Product", key: ObjectKey([.integer(1)]))] == nil)
    #expect(device.shown.contains("Order 10 [10,1,\"Bergen\"]"))
    #expect(device.welcome?.keep.count == 2)
  }

  @Test("A partition that was never loaded is named as unavailable, not imported as empty")
  func unloaded() throws {
    let bench = try shop()
    let device = try Device(bench).exchange()
    #expect(device.checkpoint?.unavailable.count == 2)
    #expect(device.checkpoint?.partitions == [])
    try bench.load()
    try device.exchange()
    #expect(device.checkpoint?.unavailable == [])
    #expect(device.rows.count == 4)
  }
}
