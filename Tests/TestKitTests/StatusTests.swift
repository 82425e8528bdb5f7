import Ferry
import Foundation
import Testing

@testable import FerryTestKit

@Suite("The status that a screen shows", .timeLimit(.minutes(60)))
struct StatusTests {
  private typealias Customer = Trade.Customer

  /// The first status from now on that passes the test.
  private func status(
    _ statuses: LiveStatus.Iterator, _ test: (DatabaseStatus) -> Bool
  ) async throws -> DatabaseStatus {
    while let status = try await statuses.next() {
      if test(status) { return status }
    }
    throw FerryError(.closed, "the statuses ended", hint: "None.")
  }

  @Test("It shows how current the data is, what waits, what was refused, and offline since")
  func follows() async throws {
    let server = try await Trade.server()
    let database = try server.newDatabase(user: "nancy")
    let statuses = database.liveStatus.makeAsyncIterator()
    let first = try #require(try await statuses.next())
    #expect(first.isSignInNeeded && first.asOf == nil && first.offlineSince == nil)
    #expect(first.pendingCount == 0 && first.refused.isEmpty)
    let begin = Date(server.clock.now)
    try await database.signIn(user: "nancy", password: "secret")
    let current = try await status(statuses) { $0.asOf != nil && !$0.isSignInNeeded }
    #expect(current.asOf.map { $0 >= begin } == true)

    await server.setReachable(false)
    let ben = try await Trade.customer("Ben", in: database).save()
    let offline = try await status(statuses) { $0.offlineSince != nil && $0.pendingCount == 1 }
    #expect(offline.offlineSince.map { $0 >= begin } == true && offline.refused.isEmpty)
    // What the screen shows while it is offline is as old as before.
    #expect(offline.asOf.map { $0 >= begin } == true)

    server.refuse(Customer.self, of: [.create], "No Bens.") { _ in true }
    await server.setReachable(true)
    database.networkIsBack()
    let refused = try await status(statuses) { !$0.refused.isEmpty && $0.offlineSince == nil }
    #expect(refused.refused == [ObjectReference(ben)] && refused.pendingCount == 0)

    var again = try #require(try await refused.refused[0].as(Customer.self, in: database))
    try again.cancelPending()
    let empty = try await status(statuses) { $0.refused.isEmpty }
    #expect(empty.pendingCount == 0)
    await server.stop()
    #expect(try await statuses.next() == nil)
  }

  @Test("A view follows it, and equal statuses are not repeated")
  @MainActor func observed() async throws {
    let server = try await Trade.server()
    let database = try await server.database(user: "nancy")
    let shown = LiveValue(database.liveStatus, initially: DatabaseStatus())
    while !shown.isLoaded { await Task.yield() }
    #expect(shown.value.pendingCount == 0 && !shown.value.isSignInNeeded)
    let statuses = database.liveStatus.makeAsyncIterator()
    _ = try await statuses.next()
    server.holdReplays()
    // A draft, and then the same draft: the second save changes nothing of the status.
    let ben = try await Trade.customer("Ben", in: database).save(.later)
    try await ben.save(.later)
    try await Trade.customer("Cy", in: database).save(.later)
    while shown.value.pendingCount < 2 { await Task.yield() }
    var counts: [Int] = []
    while counts.last != 2, let next = try await statuses.next() {
      counts.append(next.pendingCount)
    }
    #expect(counts == [1, 2] || counts == [2])
    await server.stop()
  }
}
