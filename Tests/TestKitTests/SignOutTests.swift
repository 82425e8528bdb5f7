import Ferry
import Foundation
import Testing

@testable import Ferry
@testable import FerryTestKit

@Suite("Signing out", .timeLimit(.minutes(60)))
struct SignOutTests {
  private typealias Customer = Trade.Customer

  /// Nancy's database with one customer, and what it knows of her.
  private func signedIn(_ server: TestServer) async throws -> FerryDatabase {
    let database = try server.newDatabase(user: "nancy")
    try await database.signIn(user: "nancy", password: "secret")
    try await database.synchronize()
    return database
  }

  private func refuses(_ database: FerryDatabase) async {
    await #expect { try await database.signOut() } throws: {
      ($0 as? FerryError)?.code == .pendingChanges
    }
  }

  @Test("A sign-out refuses to lose changes; with discardingPending nothing of the user is left")
  func discarding() async throws {
    let server = try await Trade.server()
    let database = try await signedIn(server)
    await server.setReachable(false)
    try await Trade.customer("Ben", in: database).save()
    await refuses(database)
    #expect(try await Customer.count(in: database) == 2)
    let names = Customer.live(in: database).makeAsyncIterator()
    #expect(try await names.next()?.count == 2)
    try await database.signOut(discardingPending: true)
    #expect(try await names.next()?.isEmpty == true)
    #expect(try !database.hasPendingOperations && !database.isSubscribed)
    #expect(database.state.login == .needed)
    for file in ["", "-wal"] {
      let bytes = FileManager.default.contents(atPath: database.store.path + file) ?? Data()
      for name in ["Ada", "Ben"] { #expect(bytes.range(of: Data(name.utf8)) == nil) }
    }
    await server.stop()
  }

  @Test("After a sign-out another user signs in, and a discarded create is never performed")
  func anotherUser() async throws {
    let server = try await Trade.server()
    let database = try await signedIn(server)
    await server.setReachable(false)
    try await Trade.customer("Ben", in: database).save()
    try await database.signOut(discardingPending: true)

    await server.setReachable(true)
    server.acceptLogin(user: "otto")
    try await server.database(user: "otto").close()
    try await database.signIn(user: "otto", password: "secret")
    try await database.synchronize(awaitingAnswers: true)
    #expect(try await Customer.find(in: database).map(\.name) == ["Ada"])
    #expect(server.rows(of: Customer.self).count == 1)
    // With nothing pending it needs no word, and Nancy may come again.
    try await database.signOut()
    #expect(try await Customer.count(in: database) == 0)
    try await database.signIn(user: "nancy", password: "secret")
    try await database.synchronize()
    #expect(try await Customer.count(in: database) == 1)
    await server.stop()
  }

  @Test("A change that is on its way stops a sign-out until it is answered")
  func unanswered() async throws {
    let server = try await Trade.server()
    let database = try await signedIn(server)
    server.holdReplays()
    let customer = try await Trade.customer("Ben", in: database).save()
    try await database.synchronize(awaitingAnswers: false)
    await refuses(database)
    server.releaseReplays()
    guard case .accepted = try await customer.replayOutcome() else {
      Issue.record("the create was not accepted")
      return
    }
    try await database.signOut()
    #expect(try await Customer.count(in: database) == 0)
    #expect(server.rows(of: Customer.self).count == 2)
    await server.stop()
  }

  @Test("What is under way brings nothing back, and whoever waits for it gets cancelled")
  func underWay() async throws {
    let server = try await Trade.server()
    let database = try server.newDatabase(user: "nancy")
    try await database.onlineLogin(user: "nancy", password: "secret")
    try database.subscribe()
    try await database.synchronize()
    server.holdReplays()
    let customer = try await Trade.customer("Ben", in: database).save()
    let waiting = Task { try await database.synchronize(awaitingAnswers: true) }
    let outcome = Task { try await customer.replayOutcome() }
    while !(await database.runner.isWaitedFor) { await Task.yield() }
    try await database.signOut(discardingPending: true)
    await #expect { try await waiting.value } throws: {
      ($0 as? FerryError)?.code == .cancelled
    }
    guard case .cancelled = try await outcome.value else {
      Issue.record("the outcome is not cancelled")
      return
    }
    server.releaseReplays()
    #expect(try await Customer.count(in: database) == 0)
    #expect(!(await database.isBackground))
    await server.stop()
  }

  @Test("The server hears of a sign-out without a network when it can be reached again")
  func serverHears() async throws {
    let server = try await Trade.server()
    let database = try await signedIn(server)
    await server.setReachable(false)
    try await database.signOut()
    await server.setReachable(true)
    await database.runner.sendOwedLogout()
    #expect(server.network.addresses.last?.hasSuffix("/logout") == true)
    await server.stop()
  }
}
