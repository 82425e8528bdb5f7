import Ferry
import Testing

@testable import Ferry

@Suite("What is pending, listed and counted", .timeLimit(.minutes(30)))
struct PendingListTests {
  @Test(
    "facts/1.5: what waits and what is on its way are listed and counted; all of a type are submitted and cancelled at once (sync/P20)"
  )
  func lists() async throws {
    let depot = try Depot(decide: { _, _ in })
    let database = depot.database
    for id in 1...3 as ClosedRange<Int64> { try depot.article(id, "Nail \(id)") }
    #expect(try Article.countPendingObjects(in: database) == 3)
    #expect(try Article.countPendingObjects(.create, in: database) == 3)
    #expect(try Article.countPendingObjects(.update, in: database) == 0)
    #expect(try Article.getPendingObjects(in: database, skip: 1, take: 1).count == 1)
    #expect(try Article.countReplayPendingObjects(in: database) == 0)
    #expect(try !database.isSynchronized(group: "default"))
    var first = try #require(try Article.getPendingObjects(in: database).first)
    try first.submitPending()
    try await database.onlineLogin(user: "nancy", password: "p")
    try database.subscribe()
    try await database.synchronize()
    #expect(try database.isSynchronized(group: "default"))
    let onTheirWay = try Article.getReplayPendingObjects(in: database)
    #expect(onTheirWay.map(\.name) == [first.name])
    try Article.submitPendingOperations(in: database)
    #expect(try Article.countReplayPendingObjects(in: database) == 3)
    #expect(try Article.getReplayPendingObjects(in: database, skip: 2, take: 5).count == 1)
    try depot.article(4, "Bolt")
    #expect(try Article.countPendingObjects(in: database) == 4)
    #expect(try Article.countReplayPendingObjects(in: database) == 3)
    try Article.cancelPendingOperations(in: database)
    #expect(try Article.getPendingObjects(in: database).isEmpty)
    #expect(try Article.findAll(in: database).isEmpty)
    await database.close()
  }

  @Test("A negative skip is 0 and a negative take all, of what is pending as of all objects")
  func negative() async throws {
    let depot = try Depot()
    let database = depot.database
    for id in 1...3 as ClosedRange<Int64> { try depot.article(id, "Nail \(id)") }
    for take in [nil, -1] as [Int?] {
      #expect(try Article.findAll(in: database, skip: -1, take: take).count == 3)
      #expect(try Article.getPendingObjects(in: database, skip: -1, take: take).count == 3)
    }
    #expect(try Article.getPendingObjects(in: database, skip: 1, take: -5).count == 2)
    #expect(try Article.getPendingObjects(in: database, skip: -5, take: 0).isEmpty)
    await database.close()
  }
}
