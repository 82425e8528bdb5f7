import FerryHTTPClient
import FerryTestTraits
import FerryVault
import FerryWorld
import Foundation
import Testing

@testable import FerryApplications
@testable import FerryRegistration
@testable import FerryServer

extension Desk {
  /// An app of a user that registers at the desk.
  func app(
    _ user: String = "anna", password: String? = nil, file: String? = nil,
    _ change: (inout RegistrationProfile) -> Void = { _ in }
  ) -> ApplicationRegistration {
    var profile = RegistrationProfile(
      server: "https://gate.example.com", application: Desk.flights,
      credentials: RegistrationProfile.Credentials(
        user: user, password: password ?? "of-\(user)"))
    change(&profile)
    return ApplicationRegistration(
      profile, stateFile: "\(folder)/\(file ?? user).json", transport: DeskTransport(self),
      world: world)
  }

  /// Changes properties of a connection as its administrator.
  func administer(_ id: String, _ changes: [String: PropertyValue]) async throws {
    var connection = try #require(try await host.connection(id))
    var values = ConnectionValues.read(connection.properties)
    for (name, value) in changes { values[name] = value }
    connection.properties = ConnectionValues.write(values)
    #expect(try await host.update(connection, from: connection.changes))
  }
}

@Suite("Samples of the reference: settings of an app", .timeLimit(.minutes(60)))
struct SampleSettingsTests {
  @Test(
    "A device token is written as a setting, and read back alone and among all settings",
    .reference("ios/CS-42", "ios/CS-48", "ios/CS-60", "ios/CS-62", "ios/RSE-1"))
  func written() async throws {
    let desk = try await Desk()
    // Name and password are given once, for all that follows.
    let app = desk.app()
    let before = try await app.register()
    #expect(before["ApnsDeviceToken"] == nil)
    try await app.update(["ApnsDeviceToken": "2134hjbuh243g32234bhjb786"])
    let all = try await app.settings()
    #expect(all["ApnsDeviceToken"] == .text("2134hjbuh243g32234bhjb786"))
    #expect(all.changes(since: before) == ["ApnsDeviceToken", "ETag"])
    // Another start of the app reads the same.
    #expect(try await desk.app().settings() == all)
    let id = try #require(all.connectionID)
    #expect(await desk.value("ApnsDeviceToken", of: id) == "2134hjbuh243g32234bhjb786")
  }

  @Test(
    "The token of Google's service is stored, and a refusal comes with its code and text",
    .reference("adr/A35", "adr/A38"))
  func googleToken() async throws {
    let desk = try await Desk()
    let app = desk.app()
    let early = await #expect(throws: RegistrationError.self) {
      try await app.update(["AndroidGcmRegistrationId": "1234565"])
    }
    #expect(early?.code == .notRegistered && early?.message.isEmpty == false)
    try await app.register()
    try await app.update(["AndroidGcmRegistrationId": "1234565"])
    #expect(try await app.settings()["AndroidGcmRegistrationId"] == .text("1234565"))
    let refused = await #expect(throws: RegistrationError.self) {
      try await app.update(["AndroidGcmRegistrationId": "2", "AndroidGcmSenderId": "3"])
    }
    #expect(refused?.code.rawValue == 70_005)
    #expect(refused?.message.contains("AndroidGcmSenderId") == true)
    #expect(try await app.settings()["AndroidGcmRegistrationId"] == .text("1234565"))
  }

  @Test(
    "The settings have the endpoint of the application, and the one to push to with the connection id",
    .reference("ios/CS-44", "ios/CS-45", "ios/CS-59", "adr/A33"))
  func endpoints() async throws {
    let desk = try await Desk()
    let app = desk.app()
    try await app.register()
    let id = try #require(try await app.connectionID)
    let settings = try await app.settings()
    #expect(settings.applicationEndpoint == "https://gate.example.com/flights/")
    let push = try #require(settings.pushEndpoint)
    #expect(push.hasSuffix("/\(id)"))
    // A service that knows nothing but this address reaches the app.
    let path = String(push.dropFirst("https://gate.example.com".count))
    #expect(await desk.send("POST", path, user: "sapgw", body: "late").status == 201)
    var payloads = app.payloads.makeAsyncIterator()
    #expect(try await payloads.next()?.data == "late")
  }

  @Test(
    "The app says that it can follow a password policy, and then gets the policy",
    .reference("ios/CS-46", "adr/A34"))
  func passwordPolicy() async throws {
    let desk = try await Desk()
    let app = desk.app()
    let id = try #require(try await app.register().connectionID)
    try await desk.administer(
      id, ["PasswordPolicyEnabled": true, "PasswordPolicyMinLength": 8])
    let early = await #expect(throws: RegistrationError.self) {
      try await app.settings().passwordPolicy()
    }
    #expect(early?.code.rawValue == 70_002)
    // As the sample writes it: the text `true`.
    try await app.update(["CapabilitiesPasswordPolicy": "true"])
    let policy = try await app.settings().passwordPolicy()
    #expect(policy.minLength == 8 && !policy.hasDigits && policy.retryLimit == 10)
  }

  @Test(
    "A bundle is downloaded by the id in the settings, by name and version, and without a name",
    .reference("ios/CS-2", "ios/CS-43", "ios/SET-7", "ios/RSE-8", "adr/A32"))
  func bundles() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("ferry-sample-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for (name, version) in [("brand", "1.0"), ("vip", "2.0")] {
      try Data(ZipMaker.bundle(name, version, Array(name.utf8)).bytes).write(
        to: URL(filePath: "\(folder)/\(name).zip"))
    }
    var application = Desk.plain
    (application.bundles, application.bundle) = (folder, "brand:1.0")
    let desk = try await Desk([application])
    let app = desk.app()
    let id = try #require(try await app.register().connectionID)
    try await desk.administer(id, ["CustomizationBundleId": "vip:2.0"])
    let setting = try #require(try await app.settings()["CustomizationBundleId"]).text
    #expect(setting == "vip:2.0")
    let path = "\(folder)/app.bundle"
    let vip = ZipMaker.bundle("vip", "2.0", Array("vip".utf8)).bytes
    for (name, found, bytes) in [
      (setting, "vip:2.0", vip), (nil, "vip:2.0", vip),
      ("brand:1.0", "brand:1.0", ZipMaker.bundle("brand", "1.0", Array("brand".utf8)).bytes),
    ] {
      let bundle = try await app.bundle(name, to: path)
      #expect(bundle.id == found)
      #expect([UInt8](try Data(contentsOf: URL(filePath: path))) == bytes)
    }
    let none = await #expect(throws: RegistrationError.self) {
      try await app.bundle("brand:9", to: path)
    }
    #expect(none?.code.rawValue == 70_007)
  }

  @Test(
    "Deleting the user ends the connection; where the server cannot be reached, the error says so",
    .reference("ios/CS-70", "adr/A37"))
  func deleted() async throws {
    let desk = try await Desk()
    let app = desk.app()
    let id = try #require(try await app.register().connectionID)
    var away = DeskTransport(desk)
    away.before = { _ throws(TransportError) in
      throw TransportError(
        code: .cannotConnect, message: "away", hint: "none", isTransient: true,
        requestWasSent: false)
    }
    let offline = ApplicationRegistration(
      app.profile, stateFile: "\(desk.folder)/anna.json", transport: away, world: desk.world)
    let error = await #expect(throws: RegistrationError.self) { try await offline.unregister() }
    #expect(error?.code.rawValue == 558)
    #expect(try await desk.host.connection(id) != nil)
    #expect(try await offline.connectionID == id, "the call can be repeated")
    try await app.unregister()
    #expect(try await desk.host.connection(id) == nil)
    #expect(try await desk.app().connectionID == nil)
  }
}
