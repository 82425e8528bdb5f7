import FerryConnector
import FerryModel
import FerryWorld
import Foundation
import Testing

@testable import FerryServer

@Suite("A business system that cannot hold the rows it judged", .timeLimit(.minutes(60)))
struct HeldRowsTests {
  /// Two entities: everybody has the rows of one, the other's belong to tenants.
  private static let package = Package(
    name: "depots", version: "1.0",
    entities: [
      Shop.entity(
        "Depot", [("code", .string, false), ("tenant", .string, false)], key: [0],
        partition: .columns([PartitionColumn(attribute: "tenant", source: .claim("tenant"))])),
      Shop.entity("Country", [("code", .string, false)], key: [0]),
    ],
    groups: [SynchronizationGroup(name: "sales")])

  private func warnings(of connector: sending any Connector) async throws -> [String] {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("ferry-held-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let log = KeptLog()
    let world = World(clock: SystemClock(), chance: SystemChance(), log: log)
    let host = try await ServiceHost(world: world) { () throws(ServerError) in
      try Service(
        package: HeldRowsTests.package, folder: folder, world: world, synchronous: .normal)
    }
    let replay = ReplayHost(connector: connector, service: host, world: world)
    let (loads, load) = AsyncStream.makeStream(of: Void.self)
    let run = Task { await replay.run { load.yield() } }
    // It has begun to work when it asks for a load.
    for await _ in loads { break }
    await replay.stop()
    await run.value
    await host.stop()
    return log.lines.filter { $0.contains("cannot hold a row") }
  }

  @Test("The server warns at its start and names the entities; a connector that can is not named")
  func warned() async throws {
    let warnings = try await warnings(of: AwayConnector(AwayConnector.Switch()))
    #expect(warnings.count == 1)
    #expect(warnings.first?.contains("Depot") == true)
    #expect(warnings.first?.contains("Country") == false)
    let holding = AwayConnector(AwayConnector.Switch(), holdsJudgedRows: true)
    #expect(try await self.warnings(of: holding).isEmpty)
  }
}
