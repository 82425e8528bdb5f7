import Ferry
import FerryTestKit
import Foundation
import Testing

@Suite("Signing in", .timeLimit(.minutes(60)))
struct SignInTests {
  private typealias Customer = Trade.Customer

  /// A database that nobody has signed in.
  private func fresh(_ server: TestServer) throws -> FerryDatabase {
    try server.newDatabase(user: "nancy")
  }

  @Test("One call signs in, subscribes, and keeps the data fresh")
  func signIn() async throws {
    let server = try await Trade.server()
    let database = try fresh(server)
    #expect(database.state.login == .needed)
    let names = Customer.live(in: database).makeAsyncIterator()
    #expect(try await names.next()?.isEmpty == true)
    try await database.signIn(user: "nancy", password: "secret")
    #expect(database.state.login == .done)
    #expect(try await names.next()?.map(\.name) == ["Ada"])
    try await server.insert(Customer.self, ["id": 2, "name": "Ben"])
    #expect(try await names.next()?.count == 2)
    await server.stop()
  }

  @Test("A right password is no event that a login is needed, and no failure in any state")
  func quiet() async throws {
    let server = try await Trade.server()
    let database = try fresh(server)
    let events = database.events
    let states = database.states
    try await database.signIn(user: "nancy", password: "secret")
    try await database.synchronize()
    await database.close()
    for await event in events {
      if case .signInNeeded(let error) = event { Issue.record("\(error)") }
    }
    for await state in states { #expect(state.failure == nil) }
    await server.stop()
  }

  @Test("Without a network it goes on by itself: the user is signed in and has data afterwards")
  func offline() async throws {
    let server = try await Trade.server()
    let database = try fresh(server)
    await server.setReachable(false)
    await #expect { try await database.signIn(user: "nancy", password: "secret") } throws: {
      ($0 as? FerryError)?.code == .offline
    }
    let names = Customer.live(in: database).makeAsyncIterator()
    #expect(try await names.next()?.isEmpty == true)
    await server.setReachable(true)
    database.networkIsBack()
    #expect(try await names.next()?.map(\.name) == ["Ada"])
    await server.stop()
  }

  @Test("Without a login the hint names signIn")
  func hint() async throws {
    let server = try await Trade.server()
    let database = try fresh(server)
    try database.subscribe()
    await #expect { try await database.synchronize() } throws: {
      ($0 as? FerryError)?.hint == "Call signIn."
    }
    await server.stop()
  }

  @Test("A refused password is notLoggedIn, and the next one signs in")
  func refused() async throws {
    let server = try await Trade.server()
    let database = try fresh(server)
    server.refuseLogin(user: "nancy")
    await #expect { try await database.signIn(user: "nancy", password: "no") } throws: {
      ($0 as? FerryError)?.code == .notLoggedIn
    }
    server.acceptLogin(user: "nancy")
    try await database.signIn(user: "nancy", password: "secret")
    try await database.synchronize()
    #expect(try await Customer.count(in: database) == 1)
    await server.stop()
  }
}
