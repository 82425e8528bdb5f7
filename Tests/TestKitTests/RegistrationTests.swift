import Ferry
import FerryReference
import FerryTestKit
import FerryTestTraits
import Foundation
import Synchronization
import Testing

@testable import Ferry
@testable import FerryTestKit

/// Writes down each status of registration and connection.
private final class ApplicationWitness: CallbackHandler {
  private let lines = Mutex<[String]>([])
  var heard: [String] { lines.withLock { $0 } }

  func onConnectionStatusChange(_ status: ConnectionStatus) {
    lines.withLock { $0.append("\(status)") }
  }
  func onRegistrationStatusChange(_ status: RegistrationStatus, error: FerryError?) {
    lines.withLock { $0.append("\(status)") }
  }

  /// Waits until this was heard last.
  func hears(_ wanted: String) async {
    let patience = Patience()
    while heard.last != wanted, await patience.lasts() {}
  }
}

/// Application connections: registered, started, stopped and removed (facts/1.2, 2.10).
@Suite("Registration of the application", .timeLimit(.minutes(60)))
struct RegistrationTests: TradeSuite {
  private let witness = ApplicationWitness()

  private func database(_ server: TestServer) throws -> FerryDatabase {
    try unregistered(server, witness)
  }

  @Test(
    "Registering, starting, stopping and unregistering are told in the documented order",
    .reference("facts/1.2"))
  func orders() async throws {
    let server = try await Trade.server()
    await server.setTemplate("field", ["custom.color": .text("green")])
    let database = try database(server)
    try await database.registerApplication(within: .seconds(600))
    #expect(witness.heard == ["registering", "connecting", "connected", "registered"])
    #expect(try database.applicationSettings.text("custom.color") == "green")
    // Done already: nothing is told.
    try await database.registerApplication(within: .seconds(600))
    try await database.startConnection(within: .seconds(600))
    try await database.startConnection()
    #expect(witness.heard.count == 4)
    try await database.stopConnection()
    try await database.stopConnection()
    #expect(witness.heard.dropFirst(4) == ["disconnecting", "disconnected"])
    try await database.startConnection(within: .seconds(600))
    #expect(witness.heard.dropFirst(6) == ["connecting", "connected"])
    try database.subscribe()
    try await database.synchronize()
    try move("Jena", in: database)
    try await database.unregisterApplication()
    #expect(
      witness.heard.dropFirst(8) == [
        "disconnecting", "disconnected", "unregistering", "unregistered",
      ])
    #expect(try !database.isSubscribed)
    #expect(try database.applicationSettings.values.isEmpty)
    #expect(try Trade.Order.findAll(in: database).count == 1, "what was downloaded stays")
    await server.stop()
  }

  @Test("A registration without a network waits and goes on by itself", .reference("facts/1.2"))
  func offline() async throws {
    let server = try await Trade.server()
    let database = try database(server)
    await server.setReachable(false)
    // A limit of zero does not wait: whoever waits without a network gets an error.
    try await database.registerApplication()
    await witness.hears("connectionError")
    #expect(witness.heard == ["registering", "connecting", "connectionError"])
    #expect(try await database.registrationStatus == .registering)
    await server.setReachable(true)
    database.networkIsBack()
    await witness.hears("registered")
    #expect(witness.heard.dropFirst(3) == ["connected", "registered"])
    await server.stop()
  }

  @Test(
    "A missing property, an unregistered start and a late answer are three errors",
    .reference("facts/1.2", "facts/1.8"))
  func errors() async throws {
    let server = try await Trade.server()
    let database = try server.newDatabase(user: "nancy")
    await #expect { try await database.registerApplication() } throws: {
      ($0 as? FerryError)?.code == .connectionProperty
    }
    await #expect { try await database.startConnection() } throws: {
      ($0 as? FerryError)?.code == .notRegistered
    }
    try database.updateSynchronizationProfile { profile in
      profile.user = "nancy"
      profile.password = "secret"
    }
    await server.setReachable(false)
    await #expect { try await database.registerApplication(within: .milliseconds(1)) } throws: {
      [.timedOut, .offline].contains(($0 as? FerryError)?.code)
    }
    #expect(try await database.registrationStatus == .registering, "it goes on by itself")
    await server.stop()
  }

  @Test("An activation code lets one device in, once, without a password", .reference("facts/2.10"))
  func activation() async throws {
    let server = try await Trade.server()
    let database = try server.newDatabase(user: "nancy", handler: witness)
    try database.updateSynchronizationProfile { $0.user = "nancy" }
    let code = try await server.activationCode(user: "nancy")
    await #expect {
      try await database.registerApplication(
        activationCode: "AAAA-AAAA-AAAA", within: .seconds(600))
    } throws: { ($0 as? FerryError)?.code == .notLoggedIn }
    #expect(witness.heard == ["registering", "connecting", "registrationError"])
    #expect(try await database.registrationStatus == .unregistered)
    try await database.registerApplication(
      activationCode: code.lowercased(), within: .seconds(600))
    try database.subscribe()
    try await database.synchronize()
    #expect(try Trade.Order.findAll(in: database).count == 1)
    let other = try server.newDatabase(user: "nancy")
    try other.updateSynchronizationProfile { $0.user = "nancy" }
    await #expect {
      try await other.registerApplication(activationCode: code, within: .seconds(600))
    } throws: { ($0 as? FerryError)?.code == .notLoggedIn }
    await server.stop()
  }

  @Test(
    "Who guesses activation codes is locked out, and then the right one is not tried",
    .reference("facts/2.10"))
  func guessed() async throws {
    let server = try await Trade.server()
    let database = try server.newDatabase(user: "nancy", handler: witness)
    try database.updateSynchronizationProfile { $0.user = "nancy" }
    let code = try await server.activationCode(user: "nancy")
    // However long a guess takes, the lockout does not end.
    server.clock.stop()
    var guesses = 0
    var answer: FerryError?
    while answer?.isTransient != true, guesses < 50 {
      guesses += 1
      do throws(FerryError) {
        try await database.registerApplication(
          activationCode: "AAAA-AAAA-AA\(guesses + 10)", within: .seconds(600))
      } catch { answer = error }
    }
    #expect(guesses < 12, "\(String(describing: answer))")
    #expect(answer?.message.contains("too many") == true, "\(String(describing: answer))")
    await #expect(throws: FerryError.self) {
      try await database.registerApplication(activationCode: code, within: .seconds(600))
    }
    #expect(try Trade.Order.findAll(in: database).isEmpty)
    await server.stop()
  }

  @Test("A code that met no network registers after a restart of the app", .reference("facts/2.10"))
  func activationAfterRestart() async throws {
    let server = try await Trade.server()
    let database = try server.newDatabase(user: "nancy")
    try database.updateSynchronizationProfile { $0.user = "nancy" }
    let code = try await server.activationCode(user: "nancy")
    await server.setReachable(false)
    try await database.registerApplication(activationCode: code)
    let again = try await server.reopen(database, handler: witness)
    await server.setReachable(true)
    again.networkIsBack()
    await witness.hears("registered")
    #expect(try await again.registrationStatus == .registered)
    await server.stop()
  }

  @Test("Two templates that match refuse the registration and name both", .reference("facts/2.10"))
  func ambiguous() async throws {
    let server = try await Trade.server()
    await server.setTemplates(["field", "office"])
    let database = try database(server)
    await #expect { try await database.registerApplication(within: .seconds(600)) } throws: {
      let error = $0 as? FerryError
      return error?.code == .notAllowed
        && error?.message.contains("field and office") == true
    }
    #expect(witness.heard.last == "registrationError")
    await server.stop()
  }

  @Test("A logout ends the session on the device at once, and at the server when it is reached")
  func logout() async throws {
    let server = try await Trade.server()
    let database = try await server.database(user: "nancy")
    let token = try await database.runner.refreshToken()
    await server.setReachable(false)
    try await database.logout()
    await #expect { try await database.synchronize(within: .seconds(600)) } throws: {
      ($0 as? FerryError)?.code == .notLoggedIn
    }
    try move("Jena", in: database)
    #expect(try await database.runner.endedToken() == token)
    let again = try await server.reopen(database)
    await server.setReachable(true)
    let patience = Patience()
    while try await again.runner.endedToken() != nil, await patience.lasts() {}
    let device = try await again.runner.deviceID() ?? ""
    let body = Array(#"{"refreshToken":"\#(token ?? "")","device":"\#(device)"}"#.utf8)
    #expect(try await server.ask("token", body, [:]).status == 401)
    try await again.onlineLogin(user: "nancy", password: "")
    try await again.synchronize(awaitingAnswers: true)
    #expect(try city(again) == "Jena", "what was pending is sent after the next login")
    await server.stop()
  }
}

extension SessionRunner {
  fileprivate func refreshToken() throws(FerryError) -> String? {
    try session.token(.refreshToken)
  }
  fileprivate func endedToken() throws(FerryError) -> String? { try session.endedToken() }
  fileprivate func deviceID() throws(FerryError) -> String? { try session.setting(.device) }
}
