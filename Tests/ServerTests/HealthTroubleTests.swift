import FerryJSON
import FerryWorld
import Testing

@testable import FerryServer

@Suite struct HealthTroubleTests {
  @Test("What does not work beside the packages is in the health report, for operators alone")
  func troubles() throws {
    let bench = try Bench()
    let pulse = Pulse(world: bench.service.world)
    let meter = ServerMeter(bench.service.world)
    func report(_ meter: ServerMeter?) throws -> JSONNode {
      let report = HealthReport([(package: "shop", pulse: pulse)], of: meter)
      return try JSONNode.parse(report.json)
    }
    #expect(try report(meter)["troubles"] == nil)
    meter.troubles = ["APNs": "InvalidProviderToken"]
    let trouble = try report(meter)["troubles"]?.array?.first
    #expect(trouble?["part"]?.string == "APNs")
    #expect(trouble?["reason"]?.string == "InvalidProviderToken")
    #expect(try report(nil)["troubles"] == nil)
    meter.troubles = [:]
    #expect(try report(meter)["troubles"] == nil)
  }
}
