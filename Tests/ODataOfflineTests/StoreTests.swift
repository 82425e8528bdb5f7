import Ferry
import FerryODataOffline
import FerryTestTraits
import FerryWorld
import Testing

/// The whole circle in one process, against a service of OData.
@Suite("An offline store", .timeLimit(.minutes(60)))
struct StoreTests {
  @Test("Objects of a service are read, changed without a network, and sent")
  func circle() async throws {
    let (service, depots) = (try DepotService(items: 3), try Depots())
    let store = try await depots.open(service)
    #expect(try await store.names == [], "nothing is asked before synchronize()")
    #expect(service.takeReads() == [])
    try await store.synchronize()
    #expect(try await store.names == ["item 1", "item 2", "item 3"])
    #expect(try await Shelf.count(in: store.database) == 2)

    service.setDown(true)
    var item = try #require(try await Item.find(key: ObjectKey([.integer(2)]), in: store.database))
    item.stock = 40
    item = try await item.save()
    let made = Item(id: 9, name: "made in a tunnel", in: store.database)
    _ = try await made.save()
    #expect(item.isPending)
    #expect(try await store.names == ["item 1", "item 2", "item 3", "made in a tunnel"])
    let error = await #expect(throws: FerryError.self) { try await store.synchronize() }
    #expect(error?.code == .offline && error?.isTransient == true)
    #expect(error?.message.contains("nobody answers") == true, "\(String(describing: error))")

    service.setDown(false)
    service.put(item: 1, "renamed by others", stock: 0)
    try await store.synchronize()
    #expect(Set(service.changes) == ["PATCH Items(2)", "POST Items(9)"])
    #expect(service.value("Stock", of: 2) == .int32(40))
    #expect(
      try await store.names == ["renamed by others", "item 2", "item 3", "made in a tunnel"])
    #expect(try Item.pendingCount(in: store.database) == 0)
    await store.close()
  }

  @Test("What the service refuses is pending with the service's own words")
  func refusal() async throws {
    let (service, depots) = (try DepotService(items: 2), try Depots())
    service.refuse("The shelf holds 100 at most.") { $0["Stock"]?.integer ?? 0 > 100 }
    let store = try await depots.open(service)
    try await store.synchronize()
    var item = try #require(try await Item.find(key: ObjectKey([.integer(1)]), in: store.database))
    item.stock = 101
    item = try await item.save()
    try await store.synchronize()
    item = try await store.database.refresh(item)
    let refusal = try #require(try await store.database.refusal(of: item))
    #expect(item.isPending && item.replayFailed && item.stock == 101)
    #expect(refusal.message == "The shelf holds 100 at most.")
    #expect(refusal.attribute == "stock")
    #expect(service.changes == [])

    item.stock = 99
    item = try await item.save()
    try await store.synchronize()
    #expect(service.value("Stock", of: 1) == .int32(99))
    #expect(try await store.database.refresh(item).isPending == false)
    await store.close()
  }

  @Test("After a sudden end everything saved is there and is sent once")
  func reopened() async throws {
    let (service, depots) = (try DepotService(items: 2), try Depots())
    let store = try await depots.open(service)
    try await store.synchronize()
    service.setDown(true)
    var item = try #require(try await Item.find(key: ObjectKey([.integer(1)]), in: store.database))
    item.stock = 7
    _ = try await item.save()
    try depots.copy("store", to: "after")
    await store.close()

    let again = try await depots.open(service, at: "after")
    #expect(try await again.names == ["item 1", "item 2"])
    let found = try #require(try await Item.find(key: ObjectKey([.integer(1)]), in: again.database))
    #expect(found.isPending && found.stock == 7)
    service.setDown(false)
    try await again.synchronize()
    #expect(service.changes == ["PATCH Items(1)"])
    #expect(service.value("Stock", of: 1) == .int32(7))
    #expect(try await again.database.refresh(found).isPending == false)
    await again.close()
    let third = try await depots.open(service, at: "after")
    #expect(try await third.names == ["item 1", "item 2"])
    try await third.synchronize()
    #expect(service.changes == ["PATCH Items(1)"])
    await third.close()
  }

  @Test("An app that was not started for months goes on: nobody logs in", arguments: [20, 70, 200])
  func afterMonths(days: Int) async throws {
    let (service, depots) = (try DepotService(items: 2), try Depots())
    let store = try await depots.open(service)
    try await store.synchronize()
    service.setDown(true)
    var item = try #require(try await Item.find(key: ObjectKey([.integer(1)]), in: store.database))
    item.stock = 7
    _ = try await item.save()
    await store.close()
    service.setDown(false)
    service.put(item: 2, "renamed by others", stock: 1)

    let clock = LaterClock(ahead: .seconds(days * 86_400))
    let again = try await depots.open(
      service, world: World(clock: clock, chance: SystemChance(), log: SilentLog()))
    try await again.synchronize()
    #expect(try await again.names == ["item 1", "renamed by others"])
    #expect(service.changes == ["PATCH Items(1)"])
    await again.close()
  }

  @Test("What others delete and make is deleted and made on the device")
  func others() async throws {
    let (service, depots) = (try DepotService(items: 4), try Depots())
    let store = try await depots.open(service)
    try await store.synchronize()
    service.remove(item: 2)
    service.put(item: 5, "item 5", stock: 1)
    try await store.synchronize()
    #expect(try await store.names == ["item 1", "item 3", "item 4", "item 5"])
    await store.close()
    // Another process knows nothing of what was compared.
    service.remove(item: 3)
    let again = try await depots.open(service)
    try await again.synchronize()
    #expect(try await again.names == ["item 1", "item 4", "item 5"])
    await again.close()
  }
}
