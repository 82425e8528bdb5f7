import FerryTestKit
import Foundation
import Testing

@testable import Ferry

@Suite("Who may sign in, and what a refusal leaves", .timeLimit(.minutes(60)))
struct SecondSignInTests {
  private typealias Customer = Trade.Customer
  private let server: TestServer
  private let database: FerryDatabase

  init() async throws {
    server = try await Trade.server()
    database = try server.newDatabase(user: "nancy")
    try await database.signIn(user: "nancy", password: "secret")
  }

  private func device() throws -> String {
    try database.store.withSnapshot { transaction throws(FerryError) in
      try transaction.setting(.device) ?? ""
    }
  }

  /// The code with which a sign-in is refused.
  private func refusal(of user: String) async -> FerryError.Code? {
    do throws(FerryError) {
      try await database.signIn(user: user, password: "secret")
      return nil
    } catch { return error.code }
  }

  /// A change is sent by itself, and no event asks for a login before that.
  private func expectSent(_ events: AsyncStream<DatabaseEvent>) async throws {
    try await Trade.customer("Ben", in: database).save()
    for await event in events {
      switch event {
      case .accepted: return
      case .signInNeeded(let error), .helpNeeded(let error): Issue.record("\(error)")
      default: break
      }
    }
    Issue.record("the change was not sent")
  }

  @Test("Another user is refused at once, and the first user's changes go on")
  func other() async throws {
    let events = database.events
    _ = try server.newDatabase(user: "bob")
    #expect(await refusal(of: "bob") == .otherOwner)
    // The register has no device of bob's that could be locked.
    #expect(
      try await server.decide("lock", user: "bob", device: device(), reason: "test") == 409)
    let status = try await database.status()
    #expect(!status.isSignInNeeded && status.failure == nil && status.offlineSince == nil)
    try await expectSent(events)
    await server.stop()
  }

  @Test("Without a network another user is refused as well, and is not tried later")
  func offline() async throws {
    let events = database.events
    await server.setReachable(false)
    for await state in database.states where state.offlineSince != nil { break }
    #expect(await refusal(of: "bob") == .otherOwner)
    #expect(database.state.login == .done)
    await server.setReachable(true)
    database.networkIsBack()
    try await expectSent(events)
    #expect(database.state.offlineSince == nil && database.state.failure == nil)
    await server.stop()
  }

  @Test("A wrong password beside a user who is signed in is thrown, and nothing pauses")
  func wrongPassword() async throws {
    let events = database.events
    server.refuseLogin(user: "nancy")
    #expect(await refusal(of: "nancy") == .notLoggedIn)
    let status = try await database.status()
    #expect(!status.isSignInNeeded && status.failure == nil)
    #expect(database.state.login == .done)
    try await expectSent(events)
    await server.stop()
  }

  @Test("After signing out another user signs in, and a refused one is asked for as the state says")
  func signedOut() async throws {
    try await database.signOut()
    let events = database.events
    _ = try server.newDatabase(user: "bob")
    server.refuseLogin(user: "bob")
    #expect(await refusal(of: "bob") == .notLoggedIn)
    for await event in events {
      guard case .signInNeeded(let error) = event else { continue }
      #expect(error.code == .notLoggedIn)
      #expect(database.state.login == .needed)
      break
    }
    #expect(try await database.status().isSignInNeeded)
    server.acceptLogin(user: "bob")
    #expect(await refusal(of: "bob") == nil)
    await server.stop()
  }

  @Test("A locked device hears why, as event and in its state, and is not asked to log in")
  func locked() async throws {
    let events = database.events
    #expect(
      try await server.decide("lock", user: "nancy", device: device(), reason: "lost in Oslo")
        == 200)
    try await Trade.customer("Ben", in: database).save()
    for await event in events {
      if case .signInNeeded(let error) = event { Issue.record("\(error)") }
      guard case .helpNeeded(let error) = event else { continue }
      #expect(error.code == .deviceLocked && error.message.contains("lost in Oslo"))
      #expect(error.reaction == .askForHelp)
      break
    }
    let status = try await database.status()
    #expect(!status.isSignInNeeded && status.failure?.code == .deviceLocked)
    #expect(status.pendingCount == 1 && status.offlineSince == nil)
    await server.stop()
  }

  @Test("A wiped device hears that the operator did it, and is not asked to log in")
  func wiped() async throws {
    let events = database.events
    try await database.synchronize()
    #expect(
      try await server.decide("wipe", user: "nancy", device: device(), reason: "stolen") == 200)
    for await event in events {
      if case .signInNeeded(let error) = event { Issue.record("\(error)") }
      guard case .helpNeeded(let error) = event else { continue }
      #expect(error.code == .wiped && error.reaction == .askForHelp)
      break
    }
    #expect(database.state.failure?.code == .wiped && database.state.login == .done)
    await server.stop()
  }
}
