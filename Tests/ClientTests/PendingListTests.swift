import Ferry
import FerryReference
import FerryTestTraits
import Testing

@testable import Ferry

@Suite("What is pending, listed and counted", .timeLimit(.minutes(60)))
struct PendingListTests {
  @Test(
    "What waits and what is on its way are listed and counted; all of a type are submitted and cancelled at once",
    .reference("facts/1.5", "sync/P20")
  )
  func lists() async throws {
    let depot = try Depot(decide: { _, _ in })
    let database = depot.database
    for id in 1...3 as ClosedRange<Int64> { try depot.article(id, "Nail \(id)") }
    #expect(try Article.countPendingObjects(in: database) == 3)
    #expect(try Article.countPendingObjects(.create, in: database) == 3)
    #expect(try Article.countPendingObjects(.update, in: database) == 0)
    #expect(try Article.getPendingObjects(skip: 1, take: 1, in: database).count == 1)
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
    #expect(try Article.getReplayPendingObjects(skip: 2, take: 5, in: database).count == 1)
    try depot.article(4, "Bolt")
    #expect(try Article.countPendingObjects(in: database) == 4)
    #expect(try Article.countReplayPendingObjects(in: database) == 3)
    try Article.cancelPendingOperations(in: database)
    #expect(try Article.getPendingObjects(in: database).isEmpty)
    #expect(try Article.findAll(in: database).isEmpty)
    await database.close()
  }

  @Test("A negative skip or take is invalidQuery, of what is pending as of all objects")
  func negative() async throws {
    let depot = try Depot()
    let database = depot.database
    for id in 1...3 as ClosedRange<Int64> { try depot.article(id, "Nail \(id)") }
    let joined = RowQuery(from: Article.self).join(Article.Attributes.maker, outer: true)
    let asks: [String: (Int, Int?) throws -> Int] = [
      "findAll": { try Article.findAll(skip: $0, take: $1, in: database).count },
      "getPendingObjects": {
        try Article.getPendingObjects(skip: $0, take: $1, in: database).count
      },
      "getReplayPendingObjects": {
        try Article.getReplayPendingObjects(skip: $0, take: $1, in: database).count
      },
      "query of the model": {
        try Article.query("ORDER BY _id", [], skip: $0, take: $1, in: database).count
      },
      "executeQuery": {
        try database.executeQuery(
          RowQuery(from: Article.self).skip($0).take($1 ?? 9)
        ).count
      },
      "joined": {
        try Article.findWithQuery(joined.skip($0).take($1 ?? 9), in: database).count
      },
      "count": {
        try Article.countWithQuery(
          RowQuery(from: Article.self).skip($0).take($1 ?? 9), in: database)
      },
      "logRecords": {
        try database.logRecords(LogRecordQuery(skip: $0, take: $1)).count
      },
    ]
    for (name, ask) in asks {
      for (skip, take, word) in [(-1, nil, "skip -1"), (0, -5, "take -5")] as [(Int, Int?, String)]
      {
        let error = #expect(throws: FerryError.self, "\(name)") { try ask(skip, take) }
        #expect(error?.code == .invalidQuery && error?.message.contains(word) == true, "\(name)")
      }
      _ = try ask(0, 0)
    }
    #expect(try Article.findAll(skip: 2, take: 5, in: database).map(\.id) == [3])
    await database.close()
  }
}
