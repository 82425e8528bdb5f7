import Ferry
import FerryModel
import FerryReference
import FerryTestTraits
import Foundation
import Observation
import Testing

@testable import Ferry

/// What has its own suites below `FerryDatabase`, called as an app calls it.
@Suite("The database as an app calls it", .timeLimit(.minutes(60)))
struct DatabaseTests {
  @Test(
    "cleanAllData empties what is shown, and keeps what is the device's where it shall",
    .reference("facts/1.4"))
  func cleaned() async throws {
    let depot = try Depot(model: Album.package)
    let (database, store) = (depot.database, depot.database.store)
    var sketch = Sketch(1, store)
    try sketch.create()
    var photo = Photo("harbour", store)
    try photo.create()
    let live = Photo.live(in: database).makeAsyncIterator()
    #expect(try await live.next()?.map(\.title) == ["harbour"])
    try database.cleanAllData(keepClientOnly: true)
    #expect(try await live.next()?.isEmpty == true)
    #expect(try await Sketch.count(in: database) == 1 && !database.hasPendingOperations)
    try database.cleanAllData()
    #expect(try await Sketch.count(in: database) == 0)
    await database.close()
  }

  @Test(
    "Vacuum gives the space of what was deleted back, and keeps what was not",
    .reference("facts/1.6"))
  func vacuum() async throws {
    let depot = try Depot()
    let database = depot.database
    let text = String(repeating: "x", count: 20_000)
    for id in 1...100 as ClosedRange<Int64> { try depot.article(id, "Nail", text: text) }
    let size = {
      try FileManager.default.attributesOfItem(atPath: depot.path)[.size] as? Int ?? 0
    }
    try database.vacuum()
    let full = try size()
    try database.cancelPendingOperations()
    try depot.article(1_000, "Bolt")
    try database.vacuum()
    #expect(full > 2_000_000)
    #expect(try size() < full / 4)
    #expect(try Article.findAll(in: database).map(\.name) == ["Bolt"])
    await database.close()
  }

  @Test(
    "Everything that is pending is submitted but what cannot be sent, or cancelled",
    .reference("facts/1.4"))
  func ofAllEntities() throws {
    let depot = try Depot()
    let database = depot.database
    try depot.maker(1, String(repeating: "x", count: 2_000_000), nil)
    try depot.article(7, "Nail")
    let error = #expect(throws: FerryError.self) { try database.submitPendingOperations() }
    #expect(error?.code == .tooLarge && error?.entity == "Maker")
    #expect(try Article.countReplayPendingObjects(in: database) == 1)
    #expect(try Maker.countReplayPendingObjects(in: database) == 0)
    try database.cancelPendingOperations()
    #expect(try !database.hasPendingOperations)
    #expect(try Maker.count(in: database) == 0 && Article.count(in: database) == 0)
  }

  @Test("The app's own log records are there until the server has them", .reference("facts/1.4"))
  func ownLogRecords() throws {
    let depot = try Depot()
    let database = depot.database
    let record = try database.createLogRecord(.warn, "the map is old", code: 7)
    #expect(try database.createdLogRecords == [record])
    #expect(record.message == "the map is old" && record.component.isEmpty)
    #expect(try database.submitLogRecords())
    #expect(try !database.submitLogRecords())
    #expect(try database.createdLogRecords == [record])
  }

  @Test("A suspended subscription says so, until it is resumed", .reference("facts/1.4"))
  func suspended() async throws {
    let depot = try Depot()
    let database = depot.database
    try await database.onlineLogin(user: "nancy", password: "p")
    try database.subscribe()
    try await database.synchronize()
    #expect(try !database.isSubscriptionSuspended)
    database.suspendSubscription()
    // What was asked for is done in order.
    _ = await database.isBackground
    #expect(try database.isSubscriptionSuspended && database.isSubscribed)
    let error = await #expect(throws: FerryError.self) { try await database.synchronize() }
    #expect(error?.code == .notSubscribed && error?.hint == "Call resumeSubscription first.")
    database.resumeSubscription()
    _ = await database.isBackground
    #expect(try !database.isSubscriptionSuspended)
    await database.close()
  }

  @Test("A live value whose query fails says why, and keeps what it showed")
  @MainActor func failedLiveValue() async throws {
    let depot = try Depot()
    let query = RowQuery(from: Article.self).where(AttributeTest("nmae", .isNull))
    let value = LiveValue(Article.live(query, in: depot.database), initially: [])
    let (told, continuation) = AsyncStream.makeStream(of: Void.self)
    var tellings = told.makeAsyncIterator()
    withObservationTracking {
      _ = value.failure
    } onChange: {
      continuation.yield()
    }
    _ = await tellings.next()
    while value.failure == nil { await Task.yield() }
    #expect(value.failure?.code == .invalidQuery && value.failure?.hint.contains("name") == true)
    #expect(value.value.isEmpty && !value.isLoaded)
    await depot.database.close()
  }
}
