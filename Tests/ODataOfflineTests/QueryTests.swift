import Ferry
import FerryODataOffline
import FerryTestTraits
import Testing

/// Which rows are on the device.
@Suite("Defining queries", .timeLimit(.minutes(60)))
struct QueryTests {
  @Test("Only rows for which the condition holds are there; others enter and leave")
  func condition() async throws {
    let (service, depots) = (try DepotService(items: 6), try Depots())
    let store = try await depots.open(service, ["Items?$filter=Stock ge 3"])
    try await store.synchronize()
    #expect(try await store.names == ["item 4", "item 5", "item 6"])
    #expect(try await Shelf.count(in: store.database) == 0, "no query names shelves")
    #expect(
      service.takeReads().allSatisfy { !$0.hasPrefix("Items") || $0.contains("$filter=") },
      "no other row is fetched")

    service.put(item: 1, "enters", stock: 8)
    service.put(item: 5, "leaves", stock: 2)
    try await store.synchronize()
    #expect(try await store.names == ["enters", "item 4", "item 6"])
    await store.close()
  }

  @Test(
    "What the app itself changes so that the condition does not hold leaves when it is accepted")
  func ownChange() async throws {
    let (service, depots) = (try DepotService(items: 5), try Depots())
    let store = try await depots.open(service, ["Items?$filter=Stock%20ge%203"])
    try await store.synchronize()
    var item = try #require(try await Item.find(key: ObjectKey([.integer(4)]), in: store.database))
    item.stock = 1
    item = try await item.save()
    #expect(try await store.names == ["item 4", "item 5"], "it is pending")
    let outside = Item(id: 70, name: "outside", stock: 0, in: store.database)
    _ = try await outside.save()
    let inside = Item(id: 71, name: "inside", stock: 9, in: store.database)
    _ = try await inside.save()
    try await store.synchronize()
    #expect(Set(service.changes) == ["PATCH Items(4)", "POST Items(70)", "POST Items(71)"])
    #expect(try await store.names == ["item 5", "inside"])
    #expect(try Item.pendingCount(in: store.database) == 0)
    await store.close()
  }

  @Test("Queries may be others at the next start: rows come and go, pending changes stay")
  func otherQueries() async throws {
    let (service, depots) = (try DepotService(items: 6), try Depots())
    let first = try await depots.open(service, ["Items?$filter=Stock le 1", "Shelves"])
    try await first.synchronize()
    #expect(try await first.names == ["item 1", "item 2"])
    #expect(try await Shelf.count(in: first.database) == 2)
    service.setDown(true)
    var item = try #require(try await Item.find(key: ObjectKey([.integer(1)]), in: first.database))
    item.name = "changed on the way"
    _ = try await item.save()
    await first.close()

    let second = try await depots.open(
      service, ["Items?$filter=Stock eq 4", "Items?$filter=Stock eq 5"])
    #expect(try await second.names == ["changed on the way", "item 2"], "without a network")
    service.setDown(false)
    try await second.synchronize()
    #expect(service.changes == ["PATCH Items(1)"])
    #expect(try await second.names == ["item 5", "item 6"])
    #expect(try await Shelf.count(in: second.database) == 0)
    await second.close()

    let third = try await depots.open(service)
    try await third.synchronize()
    #expect(try await third.names.count == 6)
    #expect(try await third.names.first == "changed on the way")
    #expect(try await Shelf.count(in: third.database) == 2)
    await third.close()
  }

  @Test(
    "A query that is none is refused with its cure",
    arguments: [
      ("", "is not the name of a set"), ("Itms", "Items"), ("Items?$top=3", "$filter alone"),
      ("Items?$filter=Stock ge", "Correct the condition"), ("Items(3)", "is not the name of a set"),
      ("Items?$filter=Stock ge 3&$top=1", "Correct the condition"),
    ])
  func wrong(query: String, word: String) async throws {
    let (service, depots) = (try DepotService(), try Depots())
    let error = await #expect(throws: FerryError.self) {
      _ = try await depots.open(service, ["Items", query])
    }
    #expect(error?.code == .invalidQuery)
    #expect(
      error.map { ($0.message + $0.hint).contains(word) } == true, "\(String(describing: error))")
  }

  @Test("A condition that the service does not understand is said by name")
  func unknownProperty() async throws {
    let (service, depots) = (try DepotService(items: 1), try Depots())
    let store = try await depots.open(service, ["Items?$filter=Weight gt 3"])
    let error = await #expect(throws: FerryError.self) { try await store.synchronize() }
    #expect(error?.code == .incompatibleModel)
    #expect(error?.message.contains("Weight") == true, "\(String(describing: error))")
    #expect(error?.hint == "Correct the defining query.")
    await store.close()
  }
}
