import Ferry
import FerryReference
import FerryTestKit
import FerryTestTraits
import Foundation
import Synchronization
import Testing

@testable import Ferry
@testable import FerryTestKit

/// Writes down what changed in the settings.
private final class SettingsWitness: CallbackHandler {
  private let lines = Mutex<[[String]]>([])
  var heard: [[String]] { lines.withLock { $0 } }

  func onApplicationSettingsChanged(names: [String]) { lines.withLock { $0.append(names) } }

  /// Waits until so many changes came.
  func hears(_ count: Int) async {
    let patience = Patience()
    while heard.count < count, await patience.lasts() {}
  }
}

/// Settings of the server's connection template, and the profile that overrides them.
@Suite("Settings of the application connection", .timeLimit(.minutes(60)))
struct SettingsTests: TradeSuite {
  @Test(
    "Settings of the template come after the login, and whenever they change",
    .reference("sync/I2", "sync/Q9"))
  func travel() async throws {
    let server = try await Trade.server()
    await server.setTemplate("field", ["custom.color": .text("green")])
    let witness = SettingsWitness()
    let database = try await server.database(user: "nancy", handler: witness)
    #expect(try database.applicationSettings.text("custom.color") == "green")
    #expect(try database.applicationSettings.template == "field")
    #expect(witness.heard == [["custom.color"]])
    database.startBackgroundSynchronization()
    // The same settings once more are no news.
    try await database.synchronize()
    #expect(witness.heard.count == 1)
    await server.setTemplate("field", ["custom.color": .text("blue"), "custom.rows": .integer(9)])
    await witness.hears(2)
    #expect(witness.heard.last == ["custom.color", "custom.rows"])
    #expect(try database.applicationSettings.integer("custom.rows") == 9)
    let again = try await server.reopen(database)
    #expect(try again.applicationSettings.text("custom.color") == "blue", "kept without a network")
    await server.stop()
  }

  @Test(
    "A device whose template is deleted keeps its settings and goes on, and hears of it when it is back",
    .reference("sync/Q9")
  )
  func deletedTemplate() async throws {
    let server = try await Trade.server()
    await server.setTemplate("field", ["custom.color": .text("green")])
    let witness = SettingsWitness()
    let database = try await server.database(user: "nancy", handler: witness)
    try move("Jena", in: database)
    await server.set([])
    try await database.synchronize()
    #expect(try cities(server) == ["Jena"], "what was pending goes out all the same")
    // Another template is for other devices: this one is registered by "field".
    await server.setTemplate("office", ["custom.color": .text("red")])
    try await database.synchronize()
    #expect(try database.applicationSettings.template == "field")
    #expect(try database.applicationSettings.text("custom.color") == "green")
    #expect(witness.heard.count == 1)
    // Back with a value of another type: asked for as a text it is none.
    await server.setTemplate("field", ["custom.color": .integer(7)])
    try await database.synchronize()
    #expect(witness.heard.last == ["custom.color"])
    #expect(try database.applicationSettings.text("custom.color") == nil)
    #expect(try database.applicationSettings.integer("custom.color") == 7)
    await server.stop()
  }

  @Test(
    "In a replication-based database settings come, and no rows with them", .reference("sync/R23"))
  func replicationBased() async throws {
    let server = try await Trade.server()
    await server.setTemplate("field", ["custom.color": .text("green")])
    let witness = SettingsWitness()
    let database = try await server.database(
      user: "nancy", handler: witness, settings: Trade.replication)
    database.startBackgroundSynchronization()
    try await server.insert(Trade.Order.self, ["id": 11, "customer": 1, "city": "Ulm"])
    await server.setTemplate("field", ["custom.color": .text("blue")])
    await witness.hears(2)
    #expect(try database.applicationSettings.text("custom.color") == "blue")
    #expect(try Trade.Order.findAll(in: database).count == 1)
    await server.stop()
  }

  @Test(
    "User and password of the profile are set before the login, which uses them",
    .reference("sync/I1", "sync/I4", "sync/S4-a"))
  func credentials() async throws {
    let server = try await Trade.server()
    let database = try server.newDatabase(user: "nancy")
    await #expect(throws: FerryError.self) { try await database.onlineLogin() }
    try database.updateSynchronizationProfile { profile in
      profile.user = "nancy"
      profile.password = "secret"
    }
    try await database.onlineLogin()
    try database.subscribe()
    try await database.synchronize()
    #expect(try Trade.Order.findAll(in: database).count == 1)
    let again = try await server.reopen(database)
    let profile = try again.synchronizationProfile
    #expect(profile.user == "nancy" && profile.password == nil, "a password is never written")
    await server.stop()
  }

  @Test(
    "Server, protocol and port are the template's, or the profile's",
    .reference("sync/I2", "sync/I3", "sync/S4-b"))
  func override() async throws {
    let server = try await Trade.server()
    await server.setTemplate(
      "field",
      [
        "connection.server": .text("127.0.0.1"), "connection.port": .integer(8_081),
        "connection.protocol": .text("http"),
      ])
    let database = try await server.database(user: "nancy")
    var profile = try database.synchronizationProfile
    #expect(profile.serverName == "127.0.0.1" && profile.portNumber == 8_081)
    #expect(profile.networkProtocol == .http)
    try database.updateSynchronizationProfile { profile in
      profile.serverName = "other.example.com"
      profile.networkProtocol = .https
      profile.portNumber = 8_443
    }
    // While it is open, and for the next request.
    try await database.synchronize()
    #expect(server.network.addresses.last?.hasPrefix("https://other.example.com:8443/") == true)
    await server.setTemplate("field", ["connection.port": .integer(9)])
    try await database.synchronize()
    profile = try database.synchronizationProfile
    #expect(profile.serverName == "other.example.com" && profile.portNumber == 8_443)
    try database.updateSynchronizationProfile { $0.useTemplate() }
    #expect(try database.synchronizationProfile.portNumber == 9)
    #expect {
      try database.updateSynchronizationProfile { $0.serverName = "far.example.com" }
    } throws: { ($0 as? FerryError)?.code == .badAddress }
    #expect(try database.synchronizationProfile.portNumber == 9, "nothing of a bad change is kept")
    await server.stop()
  }

  @Test(
    "A database changes from message-based to replication-based and back",
    .reference("sync/R21", "facts/1.1"))
  func otherKind() async throws {
    let server = try await Trade.server()
    let database = try await server.database(user: "nancy")
    database.startBackgroundSynchronization()
    try database.updateSynchronizationProfile { $0.synchronization = .replicationBased }
    // With it on, a notice of the server would begin a session.
    database.stopBackgroundSynchronization()
    try move("Jena", in: database)
    try await server.insert(Trade.Order.self, ["id": 11, "customer": 1, "city": "Ulm"])
    try await otherDevice(server)
    #expect(try cities(server) == ["Bonn", "Ulm"], "nothing is sent by itself")
    #expect(try Trade.Order.findAll(in: database).count == 1, "and nothing comes")
    try await database.synchronize(groups: ["orders"], awaitingAnswers: true)
    #expect(try cities(server) == ["Jena", "Ulm"])
    try move("Gera", in: database)
    database.startBackgroundSynchronization()
    try database.updateSynchronizationProfile { $0.synchronization = .messageBased }
    let patience = Patience()
    while try cities(server) != ["Gera", "Ulm"], await patience.lasts() {}
    #expect(try cities(server) == ["Gera", "Ulm"], "what waited is sent by itself")
    await server.stop()
  }

  private func cities(_ server: TestServer) throws -> [String] {
    try server.rows(of: Trade.Order.self).map { try $0["city"] as String }.sorted()
  }
}

extension SettingsTests {
  @Test(
    "Notices of a group are switched off, take their time, and are locked by the operator",
    .reference("facts/2.8")
  )
  func notices() async throws {
    let server = try await Trade.server()
    let witness = StatusWitness()
    let database = try await device(server, witness)
    try database.setNotices(GroupNotices(isEnabled: false), of: "orders")
    database.startBackgroundSynchronization()
    try await server.insert(Trade.Order.self, ["id": 11, "customer": 1, "city": "Ulm"])
    try await server.insert(Trade.Customer.self, ["id": 2, "name": "Ben"])
    await witness.hears(.finishing)
    #expect(witness.groups.allSatisfy { $0 == ["master"] }, "\(witness.groups)")
    #expect(try Trade.Order.findAll(in: database).count == 1)
    try database.setNotices(GroupNotices(), of: "orders")
    // What changes before the channel has opened anew is no notice.
    let patience = Patience()
    var id: Int64 = 12
    while try Trade.Order.findAll(in: database).count < 3, !patience.hasEnded {
      try await server.insert(Trade.Order.self, ["id": id, "customer": 1, "city": "Rom"])
      try await otherDevice(server)
      id += 1
    }
    #expect(try Trade.Order.findAll(in: database).count >= 3)
    #expect(throws: FerryError.self) {
      try database.setNotices(GroupNotices(intervalMinutes: -1), of: "orders")
    }
    #expect(throws: FerryError.self) { _ = try database.notices(of: "order") }
    await server.setTemplate(
      "field",
      [
        "synchronization.orders.locked": .boolean(true),
        "synchronization.orders.interval": .integer(60),
      ])
    try await database.synchronize()
    let locked = try database.notices(of: "orders")
    #expect(locked.isLocked && locked.isEnabled && locked.intervalMinutes == 60)
    #expect { try database.setNotices(GroupNotices(), of: "orders") } throws: {
      ($0 as? FerryError)?.code == .notAllowed
    }
    await server.stop()
  }
}
