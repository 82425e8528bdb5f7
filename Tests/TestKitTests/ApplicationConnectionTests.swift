import Ferry
import FerryReference
import FerryTestKit
import FerryTestTraits
import Foundation
import Synchronization
import Testing

@testable import Ferry
@testable import FerryTestKit

/// Writes down each status, and each change of settings.
private final class ConnectionWitness: CallbackHandler {
  private let lines = Mutex<[String]>([])
  let told: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation

  init() { (told, continuation) = AsyncStream.makeStream(of: String.self) }

  var heard: [String] { lines.withLock { $0 } }

  private func hear(_ line: String) {
    lines.withLock { $0.append(line) }
    continuation.yield(line)
  }

  /// Waits until this is heard.
  func hears(_ wanted: String) async {
    for await line in told where line == wanted { return }
  }

  func onConnectionStatusChange(_ status: ConnectionStatus) { hear("\(status)") }
  func onRegistrationStatusChange(_ status: RegistrationStatus, error: FerryError?) {
    hear("\(status)\(error.map { " \($0.code.rawValue)" } ?? "")")
  }
  func onApplicationSettingsChanged(names: [String]) {
    hear("changed \(names.joined(separator: " "))")
  }
}

/// The application connection as the guides of the OData SDK describe it.
@Suite("The application connection", .timeLimit(.minutes(60)))
struct ApplicationConnectionTests: TradeSuite {
  private let witness = ConnectionWitness()

  private func database(_ server: TestServer) throws -> FerryDatabase {
    try unregistered(server, witness)
  }

  @Test(
    "The server is set before and after the registration, and its name and port are read back",
    .reference("ios/APP-2", "ios/SET-3", "ios/SET-4", "adr/CON-1", "adr/CON-5")
  )
  func serverReadBack() async throws {
    let server = try await Trade.server()
    let database = try database(server)
    try database.updateSynchronizationProfile { profile in
      profile.serverName = "first.example.com"
      profile.networkProtocol = .https
      profile.portNumber = 5_001
    }
    try await database.registerApplication(within: .seconds(300))
    #expect(
      server.network.addresses.allSatisfy { $0.hasPrefix("https://first.example.com:5001/") })
    var profile = try database.synchronizationProfile
    #expect(profile.serverName == "first.example.com" && profile.portNumber == 5_001)
    #expect(profile.networkProtocol == .https && profile.user == "nancy")
    try database.updateSynchronizationProfile { $0.serverName = "second.example.com" }
    try database.subscribe()
    try await database.synchronize()
    #expect(server.network.addresses.last?.hasPrefix("https://second.example.com:5001/") == true)
    let again = try await server.reopen(database)
    profile = try again.synchronizationProfile
    #expect(profile.serverName == "second.example.com" && profile.portNumber == 5_001)
    await server.stop()
  }

  @Test(
    "The registration is asynchronous, its handler hears each state, and the app asks whether it is registered",
    .reference(
      "ios/APP-6", "ios/APP-8", "ios/APP-9", "ios/LSN-5", "adr/REG-1", "adr/REG-4", "adr/REG-5",
      "adr/REG-8", "adr/LIF-3")
  )
  func registration() async throws {
    let server = try await Trade.server()
    let database = try server.newDatabase(user: "nancy", handler: witness)
    #expect(try await database.registrationStatus == .unregistered)
    await #expect { try await database.registerApplication() } throws: {
      ($0 as? FerryError)?.code == .connectionProperty
    }
    try database.updateSynchronizationProfile { $0.user = "nancy" }
    await #expect {
      try await database.registerApplication(
        activationCode: "AAAA-AAAA-AAAA", within: .seconds(300))
    } throws: { ($0 as? FerryError)?.code == .notLoggedIn }
    #expect(witness.heard.last?.hasPrefix("registrationError") == true)
    #expect(try await database.registrationStatus == .unregistered)
    try database.updateSynchronizationProfile { $0.password = "secret" }
    let before = witness.heard.count
    await server.setReachable(false)
    // Returns at once; the handler hears the rest.
    try await database.registerApplication()
    await witness.hears("connectionError")
    #expect(try await database.registrationStatus == .registering)
    await server.setReachable(true)
    database.networkIsBack()
    await witness.hears("registered")
    #expect(
      witness.heard.dropFirst(before) == [
        "registering", "connecting", "connectionError", "connected", "registered",
      ])
    #expect(try await database.registrationStatus == .registered)
    // Registered once more, nothing happens: there is no error for it.
    let told = witness.heard.count
    try await database.registerApplication(within: .seconds(300))
    #expect(witness.heard.count == told)
    await server.stop()
  }

  @Test(
    "An activation code registers a user whom the operator has made before",
    .reference("ios/APP-7", "adr/REG-3", "adr/SV-3")
  )
  func activation() async throws {
    let server = try await Trade.server()
    let database = try server.newDatabase(user: "nancy", handler: witness)
    try database.updateSynchronizationProfile { $0.user = "nancy" }
    let code = try await server.activationCode(user: "nancy")
    try await database.registerApplication(activationCode: code, within: .seconds(300))
    #expect(try await database.registrationStatus == .registered)
    #expect(witness.heard.last == "registered")
    let other = try server.newDatabase(user: "nancy")
    try other.updateSynchronizationProfile { $0.user = "nancy" }
    await #expect {
      try await other.registerApplication(activationCode: code, within: .seconds(300))
    } throws: { ($0 as? FerryError)?.code == .notLoggedIn }
    await server.stop()
  }

  @Test(
    "A deleted connection is gone at the server, and deleting it again does nothing",
    .reference("ios/APP-10", "adr/REG-6")
  )
  func deleted() async throws {
    let server = try await Trade.server()
    let database = try database(server)
    try await database.registerApplication(within: .seconds(300))
    try database.subscribe()
    try await database.synchronize()
    try await database.unregisterApplication()
    #expect(witness.heard.suffix(2) == ["unregistering", "unregistered"])
    #expect(try await database.registrationStatus == .unregistered)
    let (told, requests) = (witness.heard.count, server.network.addresses.count)
    try await database.unregisterApplication()
    #expect(witness.heard.count == told && server.network.addresses.count == requests)
    await #expect { try await database.startConnection() } throws: {
      ($0 as? FerryError)?.code == .notRegistered
    }
    await server.stop()
  }

  @Test(
    "The client stops with all its traffic, starts, and starts again",
    .reference("ios/PSH-8", "adr/LIF-1"))
  func stopAndStart() async throws {
    let server = try await Trade.server()
    let database = try database(server)
    try await database.registerApplication(within: .seconds(300))
    try database.subscribe()
    try await database.synchronize()
    for round in 1...2 {
      try await database.stopConnection()
      #expect(witness.heard.suffix(2) == ["disconnecting", "disconnected"])
      let requests = server.network.addresses.count
      try await server.insert(
        Trade.Order.self, ["id": Int64(20 + round), "customer": 1, "city": "Ulm"])
      #expect(
        server.network.addresses.dropFirst(requests) == [], "nothing leaves while it is stopped")
      try await database.startConnection(within: .seconds(300))
      #expect(witness.heard.suffix(2) == ["connecting", "connected"])
    }
    await server.stop()
  }

  @Test(
    "Settings come with the registration, and each later change reaches the listener by its name",
    .reference("ios/LSN-4", "ios/SRV-12", "adr/STG-4", "adr/LIF-5", "adr/SV-9")
  )
  func settings() async throws {
    let server = try await Trade.server()
    await server.setTemplate("field", ["custom.color": .text("green"), "trace.level": .integer(1)])
    let database = try database(server)
    try await database.registerApplication(within: .seconds(300))
    #expect(witness.heard.contains("changed custom.color trace.level"))
    #expect(try database.applicationSettings.text("custom.color") == "green")
    try database.subscribe()
    database.startBackgroundSynchronization()
    await witness.hears("connected")
    await server.setTemplate("field", ["custom.color": .text("green"), "trace.level": .integer(3)])
    await witness.hears("changed trace.level")
    #expect(try database.applicationSettings.integer("trace.level") == 3)
    await server.stop()
  }

  @Test("What the device keeps is wiped without a word to the server", .reference("adr/REG-7"))
  func wiped() async throws {
    let server = try await Trade.server()
    let database = try await server.database(user: "nancy")
    #expect(try Trade.Order.findAll(in: database).count == 1)
    await server.setReachable(false)
    let requests = server.network.addresses.count
    let path = server.file(of: database)
    await database.close()
    try FerryDatabase.delete(at: path)
    #expect(!FerryDatabase.exists(at: path))
    #expect(server.network.addresses.count == requests)
    await server.stop()
  }
}
