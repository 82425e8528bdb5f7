import Ferry
import FerryODataOffline
import FerryTestTraits
import Foundation
import Testing

@Suite("The guide of offline stores", .timeLimit(.minutes(60)))
struct GuideTests {
  @Test("It shows the code of its compiled sample")
  func sameCode() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    func text(_ path: String) throws -> String {
      try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }
    let sample = try text("Tests/ODataOfflineTests/GuideSample.swift")
    let start = try #require(sample.range(of: "// README begins\n"))
    let end = try #require(sample.range(of: "// README ends"))
    let code = String(sample[start.upperBound..<end.lowerBound])
    #expect(!code.isEmpty)
    #expect(try text("Documentation/OfflineOData.md").contains("```swift\n\(code)```"))
  }

  @Test("Its code works: a count in a tunnel, a refusal and a synchronization")
  func sample() async throws {
    let (service, depots) = (try DepotService(items: 12), try Depots())
    service.refuse("The shelf holds 100 at most.") { $0["Stock"]?.integer ?? 0 > 100 }
    let offline = try await openDepot(at: depots.path("guide"), service: "https://127.0.0.1:9/")
    #expect(try await offline.names == [])
    await offline.close()

    let store = try await depots.open(service, ["Items?$filter=Stock lt 10", "Shelves"])
    #expect(try await bringUpToDate(store) == [])
    let items = try await Item.find(orderBy: [.ascending(Item.Attributes.id)], in: store.database)
    #expect(items.count == 10)
    service.setDown(true)
    #expect(try await count(items[0], 101, in: store).isPending)
    #expect(try await count(items[1], 9, in: store).isPending)
    service.setDown(false)
    #expect(try await bringUpToDate(store) == ["The shelf holds 100 at most."])
    #expect(service.changes == ["PATCH Items(2)"])
    await store.close()
  }
}
