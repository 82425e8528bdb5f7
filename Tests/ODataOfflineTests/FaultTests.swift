import Ferry
import FerryODataOffline
import FerryTestTraits
import Testing

/// What goes wrong has a name and a cure.
@Suite("Faults of an offline store", .timeLimit(.minutes(60)))
struct FaultTests {
  private func code(_ body: () async throws -> Void) async -> FerryError.Code? {
    do { try await body() } catch { return (error as? FerryError)?.code }
    return nil
  }

  @Test("A folder has one store at a time, one service, and is free again after close")
  func folder() async throws {
    let (service, depots) = (try DepotService(items: 1), try Depots())
    let store = try await depots.open(service)
    #expect(await code { _ = try await depots.open(service) } == .inUse)
    await store.close()
    await store.close()
    #expect(await code { try await store.synchronize() } == .closed)
    #expect(
      await code {
        _ = try await OfflineStore.open(
          "https://other.test/odata", package: Depot.package, at: depots.path(),
          defining: ["Items"], transport: service)
      } == .otherOwner)
    let again = try await depots.open(service)
    try await again.synchronize()
    #expect(try await again.names == ["item 1"])
    await again.close()
    #expect(await code { _ = try await depots.open(service, at: "no/such/folder") } == .readOnly)
  }

  @Test(
    "An address that is none is refused",
    arguments: ["depot.test", "http://depot.test/odata", "https://depot.test/odata?x=1", ""])
  func address(text: String) async throws {
    let depots = try Depots()
    let service = try DepotService()
    #expect(
      await code {
        _ = try await OfflineStore.open(
          text, package: Depot.package, at: depots.path(), defining: ["Items"],
          transport: service)
      } == .badAddress)
  }

  @Test("A first synchronization without a network fails at once, and the next one brings the rows")
  func firstOffline() async throws {
    let (service, depots) = (try DepotService(items: 2), try Depots())
    service.setDown(true)
    let store = try await depots.open(service)
    #expect(await code { try await store.synchronize() } == .offline)
    service.setDown(false)
    service.fail(readsOf: "Items", with: 500)
    #expect(await code { try await store.synchronize() } == .offline)
    #expect(try await store.names == [], "half of the rows are not shown")
    service.fail(readsOf: "Items", with: nil)
    try await store.synchronize()
    #expect(try await store.names == ["item 1", "item 2"])
    await store.close()
  }

  @Test("A load that breaks takes nothing off the device")
  func brokenLoad() async throws {
    let (service, depots) = (try DepotService(items: 3), try Depots())
    let store = try await depots.open(service)
    try await store.synchronize()
    service.fail(readsOf: "Items", with: 503)
    service.put(item: 3, "new name", stock: 1)
    let error = await #expect(throws: FerryError.self) { try await store.synchronize() }
    #expect(error?.code == .offline && error?.isTransient == true)
    #expect(error?.message.contains("503") == true, "\(String(describing: error))")
    #expect(try await store.names == ["item 1", "item 2", "item 3"])
    service.fail(readsOf: "Items", with: nil)
    try await store.synchronize()
    #expect(try await store.names == ["item 1", "item 2", "new name"])
    await store.close()
  }

  @Test("A synchronization that the app cancels says so, and the next one goes on")
  func cancelled() async throws {
    let (service, depots) = (try DepotService(items: 3), try Depots())
    let store = try await depots.open(service)
    let gate = service.hold()
    let task = Task { await code { try await store.synchronize() } }
    await gate.reached()
    task.cancel()
    #expect(await task.value == .cancelled)
    gate.open()
    try await store.synchronize()
    #expect(try await store.names == ["item 1", "item 2", "item 3"])
    await store.close()
  }
}
