import Ferry
import FerryModel
import FerryReference
import FerryTestTraits
import FerryWire
import FerryWorld
import Foundation
import Testing

@testable import Ferry

@Suite("Synchronization groups of a database", .timeLimit(.minutes(60)))
struct GroupTests {
  /// Makers in the group `default`, articles in `goods`.
  private static func model() -> Package {
    let article = Article.entity
    return Package(
      name: "Warehouse", version: "1.0",
      entities: [
        Maker.entity,
        Entity(
          name: article.name, table: article.table, attributes: article.attributes,
          key: article.key, keyOrigin: article.keyOrigin, relationships: article.relationships,
          operations: article.operations, partition: nil, group: "goods"),
      ], groups: ["default", "goods"].map { SynchronizationGroup(name: $0) })
  }

  @Test("What is pending of one group is submitted and cancelled alone", .reference("facts/1.4"))
  func pending() throws {
    let depot = try Depot(model: GroupTests.model())
    let database = depot.database
    try depot.maker(1, "Ada", nil)
    try depot.article(7, "Nail", maker: 1)
    #expect(try database.isReplayQueueEmpty && database.hasPendingOperations)
    try database.submitPendingOperations(group: "goods")
    #expect(try Article.countReplayPendingObjects(in: database) == 1)
    #expect(try Maker.countReplayPendingObjects(in: database) == 0)
    #expect(try !database.isReplayQueueEmpty)
    try database.cancelPendingOperations(group: "default")
    #expect(try Maker.count(in: database) == 0 && Article.count(in: database) == 1)
    try database.cancelPendingOperations(group: "goods")
    #expect(try !database.hasPendingOperations && database.isReplayQueueEmpty)
  }

  @Test(
    "What cannot be sent of one entity of a group holds up none of the others",
    .reference("facts/1.4"))
  func allButOne() throws {
    let depot = try Depot()
    let database = depot.database
    try depot.maker(1, String(repeating: "x", count: 2_000_000), nil)
    try depot.maker(2, "Bo", nil)
    try depot.article(7, "Nail")
    let error = #expect(throws: FerryError.self) {
      try database.submitPendingOperations(group: "default")
    }
    #expect(error?.code == .tooLarge && error?.entity == "Maker")
    #expect(error?.message.contains("1 pending object could not be submitted") == true)
    #expect(try Article.countReplayPendingObjects(in: database) == 1)
    #expect(try Maker.getReplayPendingObjects(in: database).map(\.id) == [2])
    try database.cancelPendingOperations(group: "default")
    #expect(try Maker.count(in: database) == 0 && Article.count(in: database) == 0)
  }

  @Test("A group without partitions does not go back to an older checkpoint")
  func olderCheckpoint() throws {
    let device = try Device(GroupTests.model()).loggedIn()
    let shore = Shore(GroupTests.model())
    try device.exchange(shore)
    let inbox = Inbox(device.store)
    func batch(_ version: Int64) throws -> ImportBatch? {
      try inbox.close(
        Checkpoint(
          group: "goods", era: shore.era, version: version, partitions: [], answers: [],
          rightsVersion: "1", unavailable: []))
    }
    // Two requests were on their way together; that which was answered first comes last.
    let newer = try #require(try batch(15))
    _ = try Import(device.store).run(newer)
    #expect(try batch(14) == nil)
    #expect(try batch(15) != nil && batch(16) != nil)
  }

  @Test(
    "A group that the model does not have is an error that names the nearest",
    .reference("facts/1.4"))
  func unknown() throws {
    let database = try Depot(model: GroupTests.model()).database
    let asks: [() throws -> Void] = [
      { try database.submitPendingOperations(group: "good") },
      { try database.cancelPendingOperations(group: "good") },
      { _ = try database.isSynchronized(group: "good") },
      { _ = try database.lastSynchronizationTime(group: "good") },
    ]
    for ask in asks {
      let error = #expect(throws: FerryError.self) { try ask() }
      #expect(error?.code == .invalidQuery && error?.hint == "Did you mean \"goods\"?")
    }
  }

  @Test("A group is synchronized, and when it was last, after an import", .reference("facts/1.4"))
  func lastTime() async throws {
    let depot = try Depot { shore, operation in shore.accept(operation.id) }
    let database = depot.database
    #expect(try database.lastSynchronizationTime(group: "default") == nil)
    let before = Date(SystemClock().now)
    try await database.onlineLogin(user: "nancy", password: "p")
    try database.subscribe()
    try await database.synchronize()
    let time = try #require(try database.lastSynchronizationTime(group: "default"))
    #expect(try database.isSynchronized(group: "default"))
    #expect(time >= before && time <= Date(SystemClock().now))
    var article = try depot.article(7, "Nail")
    try article.submitPending()
    #expect(try !database.isReplayQueueEmpty)
    for _ in 0..<3 { try await database.synchronize() }
    #expect(try database.isReplayQueueEmpty && !database.hasPendingOperations)
    await database.close()
  }
}
