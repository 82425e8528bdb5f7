import FerryHTTPClient
import FerryTestTraits
import FerryVault
import FerryWorld
import Foundation
import Testing

@testable import FerryApplications
@testable import FerryRegistration
@testable import FerryServer

/// What apps of the reference do with its REST and messaging SDKs, done with `ApplicationRegistration`.
@Suite("Calls of an app to the register", .timeLimit(.minutes(60)))
struct AppCallTests {
  private func app(
    _ desk: Desk, id: String? = nil, user: String = "anna"
  ) -> ApplicationRegistration {
    var profile = RegistrationProfile(
      server: "https://gate.example.com", application: Desk.flights,
      credentials: RegistrationProfile.Credentials(user: user, password: "of-\(user)"))
    profile.connectionID = id
    return ApplicationRegistration(
      profile, stateFile: "\(desk.folder)/\(user).json", transport: DeskTransport(desk),
      world: desk.world)
  }

  @Test(
    "One address is the profile; register gives the id, with the name of the application at its end",
    .reference(
      "ios/APP-1", "ios/RST-3", "ios/RUM-1", "ios/RUM-2", "ios/RUM-8", "adr/RST-9", "adr/RST-10"))
  func register() async throws {
    let desk = try await Desk()
    let app = app(desk)
    #expect(try await app.connectionID == nil)
    let settings = try await app.register()
    let id = try #require(try await app.connectionID)
    #expect(settings.connectionID == id && id.hasSuffix("__\(Desk.flights)"))
    // Several registrations are told apart by the value that each call belongs to.
    let other = self.app(desk, user: "berta")
    try await other.register()
    #expect(try await other.connectionID != id)
  }

  @Test("An app chooses its connection id before it registers", .reference("adr/RST-3"))
  func chosen() async throws {
    let desk = try await Desk()
    let app = app(desk, id: "phone-of-anna")
    #expect(try await app.register().connectionID == "phone-of-anna")
  }

  @Test(
    "Deleting the connection ends it, and a user who is not registered is told so",
    .reference("ios/RUM-4", "adr/RST-12"))
  func deleted() async throws {
    let desk = try await Desk()
    let app = app(desk)
    try await app.register()
    let id = try #require(try await app.connectionID)
    try await app.unregister()
    #expect(try await desk.host.connection(id) == nil)
    let code = await #expect(throws: RegistrationError.self) { try await app.settings() }?.code
    #expect(code == .notRegistered)
  }

  @Test(
    "All settings and one of them are read; several are written, and one read-only key refuses all",
    .reference("ios/RSE-3", "ios/RSE-4", "ios/RSE-5", "adr/RST-13"))
  func settings() async throws {
    let desk = try await Desk()
    let app = app(desk)
    try await app.register()
    try await app.update(["CustomCustom1": "gate 7", "DeviceModel": "iPhone 17"])
    let all = try await app.settings()
    #expect(all.values.count > 20 && all["CustomCustom1"] == .text("gate 7"))
    let refused = await #expect(throws: RegistrationError.self) {
      try await app.update(["CustomCustom1": "gate 8", "ConnectionLogLevel": "DEBUG"])
    }
    #expect(refused?.code.rawValue == 70_005)
    let empty = await #expect(throws: RegistrationError.self) { try await app.update([:]) }
    #expect(empty?.code.rawValue == 70_004)
    #expect(try await app.settings()["CustomCustom1"] == .text("gate 7"))
  }

  @Test(
    "The settings name where the data is, and where services push",
    .reference(
      "ios/SET-1", "ios/SET-2", "ios/RSE-6", "ios/RSE-7", "adr/STG-1", "adr/STG-2", "adr/RST-15"))
  func endpoints() async throws {
    let desk = try await Desk()
    let app = app(desk)
    let settings = try await app.register()
    let id = try #require(settings.connectionID)
    #expect(settings.applicationEndpoint == "https://gate.example.com/flights/")
    let push = try #require(settings.pushEndpoint)
    #expect(push == "https://gate.example.com/Notification/\(id)")
    let path = push.dropFirst("https://gate.example.com".count)
    #expect(await desk.send("POST", String(path), user: "sapgw", body: "late").status == 201)
    var payloads = app.payloads.makeAsyncIterator()
    #expect(try await payloads.next()?.data == "late")
  }

  @Test(
    "A token of a push service is a setting, and so is the sender's id for the app",
    .reference("ios/PSH-3", "ios/RSE-10", "adr/RST-17"))
  func tokens() async throws {
    let desk = try await Desk()
    var template = ConnectionTemplate(
      name: "standard", values: ["push.gcmSenderId": .text("flights-42")])
    template.package = Desk.flights
    desk.templates.set([template])
    let app = app(desk)
    let settings = try await app.register()
    #expect(settings["AndroidGcmSenderId"] == .text("flights-42"))
    try await app.update(["ApnsDeviceToken": "0a1b2c", "ApnsPushEnable": true])
    try await app.update(["AndroidGcmRegistrationId": "fcm:1", "AndroidGcmPushEnabled": true])
    let now = try await app.settings()
    #expect(now["ApnsDeviceToken"] == .text("0a1b2c"))
    #expect(now["AndroidGcmRegistrationId"] == .text("fcm:1"))
  }

  @Test(
    "The vault takes the administrator's password policy once the app says that it can follow one",
    .reference(
      "ios/SET-6", "ios/RSE-9", "adr/STG-3", "adr/RST-16", "adr/SV-18"))
  func policy() async throws {
    let desk = try await Desk()
    let app = app(desk)
    try await app.register()
    let id = try #require(try await app.connectionID)
    func enable() async throws {
      var connection = try #require(try await desk.host.connection(id))
      var values = ConnectionValues.read(connection.properties)
      values["PasswordPolicyEnabled"] = .boolean(true)
      values["PasswordPolicyMinLength"] = .integer(12)
      values["PasswordPolicyDigitRequired"] = .boolean(true)
      values["PasswordPolicyRetryLimit"] = .integer(5)
      connection.properties = ConnectionValues.write(values)
      #expect(try await desk.host.update(connection, from: connection.changes))
    }
    try await enable()
    let early = await #expect(throws: RegistrationError.self) {
      try await app.settings().passwordPolicy()
    }
    #expect(early?.code.rawValue == 70_002)
    try await app.update(["CapabilitiesPasswordPolicy": true])
    let policy = try await app.settings().passwordPolicy()
    #expect(policy.minLength == 12 && policy.hasDigits && !policy.hasUpper)
    #expect(policy.retryLimit == 5 && policy.lockTimeout == .seconds(300))
    let vault = try DataVaults(folder: "\(desk.folder)/vaults").createVault(
      "flights", password: "long enough 1", salt: "salt")
    try vault.setPasswordPolicy(policy)
    let short = #expect(throws: DataVaultError.self) {
      try vault.changePassword(
        "long enough 1", currentSalt: "salt", newPassword: "short 1", newSalt: "salt")
    }
    #expect(short?.violation == .underMinimumLength)
  }

  @Test(
    "An app lists what is in its bundle, with the size that it has there", .reference("adr/BUN-4"))
  func bundleEntries() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("ferry-bundle-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Data(ZipMaker.bundle("brand", "1.0", [1, 2, 3]).bytes).write(
      to: URL(filePath: "\(folder)/one.zip"))
    var application = Desk.plain
    application.bundles = folder
    let desk = try await Desk([application])
    let app = app(desk)
    try await app.register()
    let bundle = try await app.bundle("brand:1.0", to: "\(folder)/app.bundle")
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "python3", "-c",
      "import sys, zipfile\nfor e in zipfile.ZipFile(sys.argv[1]).infolist(): print(e.filename, e.compress_size)",
      bundle.path,
    ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(text == "META-INF/MANIFEST.MF 27\nlogo.png 3\n")
  }
}
