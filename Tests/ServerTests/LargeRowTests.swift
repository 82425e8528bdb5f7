import FerryConnector
import FerryModel
import FerryWire
import Testing

@testable import FerryServer

@Suite struct LargeRowTests {
  @Test("A row that fits into no frame is left out with its cure; one that just fits arrives")
  func large() throws {
    let bench = try Bench()
    for (id, count) in [(Int64(1), WireLimits.rowBytes), (2, WireLimits.rowBytes + 1), (3, 1)] {
      bench.business.put(
        Shop.product, [.integer(id), .text(String(repeating: "x", count: count))])
    }
    try bench.load()
    let reason = try #require(try bench.service.why("Product", "2").rejectedReason)
    #expect(reason.contains("name") && reason.contains("bigString"), "\(reason)")
    let device = Device(bench)
    let exchange = bench.service.exchange(device.body(), by: device.identity)
    while try device.drain(exchange, atMost: 1) == false, device.checkpoint == nil {}
    #expect(Set(device.rows.keys.map(\.key.text)) == ["1", "3"])
  }
}
