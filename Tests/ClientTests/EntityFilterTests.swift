import Ferry
import FerryModel
import FerryReference
import FerryTestTraits
import Testing

@testable import Ferry

@Suite("Objects by their state")
struct EntityFilterTests {
  @Test(
    "Created, updated and deleted, and not; what is deleted no query sees", .reference("facts/1.3"))
  func states() async throws {
    let shore = Shore(Warehouse.package())
    for id in 1...3 {
      shore.put(Maker.entity, [.integer(Int64(id)), .text("Ada"), .null, .null])
    }
    let depot = try Depot(shore: shore)
    let database = depot.database
    try await database.onlineLogin(user: "nancy", password: "p")
    try database.subscribe()
    try await database.synchronize()
    var makers = try Maker.findAll(orderBy: [.ascending(Maker.Attributes.id)], in: database)
    makers[1].record.set(2, "Rome")
    try makers[1].update()
    try await makers[2].delete()
    try depot.maker(4, "Di", nil)
    let ids = { (filter: EntityFilter) in
      try Maker.findWithQuery(
        RowQuery(from: Maker.self).entityFilter(filter).orderBy(.ascending("id")), in: database
      ).map(\.id)
    }
    let cases: [(EntityFilter, [Int64])] = [
      (.pending, [2, 4]), (.notPending, [1]), (.created, [4]), (.notCreated, [1, 2]),
      (.updated, [2]), (.notUpdated, [1, 4]), (.deleted, []), (.notDeleted, [1, 2, 4]),
      ([.pending, .notCreated], [2]), ([.notCreated, .notUpdated], [1]), (.all, [1, 2, 4]),
    ]
    for (filter, expected) in cases { #expect(try ids(filter) == expected, "\(filter)") }
    #expect(try Maker.getPendingObjects(.delete, in: database).map(\.id) == [3])
    await database.close()
  }
}
