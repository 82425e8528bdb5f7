import FerryHTTP
import FerryHTTPClient
import FerryTestTraits
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import FerryApplications
@testable import FerryRegistration
@testable import FerryServer

/// Users of two security configurations, `SSO` of the domain `default` and `partners` of `outside`;
/// each user has another password in each.
private final class Branches: AuthenticationProvider {
  static let domains = ["SSO": "default", "partners": "outside"]

  func name(of user: String, _ headers: HTTPHeaders) throws(ServerError) -> String {
    let branch = headers["X-SUP-SC"] ?? "SSO"
    guard let domain = Self.domains[branch], headers["X-SUP-DOMAIN"] ?? domain == domain else {
      throw .wrongLogin
    }
    return "\(user)@\(branch)"
  }

  func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
    guard let record = record(of: user), password == "of-\(user)" else { throw .wrongLogin }
    return record
  }

  func record(of user: String) -> UserRecord? {
    ["anna@SSO", "anna@partners"].contains(user)
      ? UserRecord(name: user, roles: [], stamp: "") : nil
  }
}

/// A relay in front of a desk: forwards what is below its path, and nothing else.
private final class Relay: Transport {
  private let desk: Desk
  private let address: String
  private let state = Mutex([String]())

  init(_ desk: Desk, at address: String) {
    self.desk = desk
    self.address = address
  }

  /// The paths behind that of the relay.
  var paths: [String] { state.withLock { $0 } }

  func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
    guard request.url.hasPrefix("\(address)/") else {
      throw TransportError(
        code: .cannotConnect, message: "no relay at \(request.url)", hint: "none",
        isTransient: false, requestWasSent: false)
    }
    let path = String(request.url.dropFirst(address.count))
    state.withLock { $0.append(path) }
    var forwarded = request
    forwarded.url = "https://gate.example.com\(path)"
    return try await DeskTransport(desk).send(forwarded)
  }
}

@Suite("Samples of the reference: where and as whom an app registers", .timeLimit(.minutes(60)))
struct SampleProfileTests {
  private static let anna = RegistrationProfile.Credentials(user: "anna", password: "of-anna")

  private func app(
    _ profile: RegistrationProfile, _ desk: Desk, _ transport: any Transport, _ file: String
  ) -> ApplicationRegistration {
    ApplicationRegistration(
      profile, stateFile: "\(desk.folder)/\(file).json", transport: transport, world: desk.world)
  }

  @Test("An address may be given by host and port, secure unless it says otherwise")
  func addresses() {
    func address(
      _ host: String, _ port: Int? = nil, _ isSecure: Bool = true, _ relay: String? = nil,
      _ farm: String? = nil
    ) -> String {
      RegistrationProfile(
        host: host, port: port, isSecure: isSecure, relay: relay, farm: farm,
        application: Desk.flights
      ).server
    }
    #expect(address("gate.example.com") == "https://gate.example.com")
    #expect(address("10.66.177.94", 8_000, false) == "http://10.66.177.94:8000")
    #expect(address("::1", 8_443) == "https://[::1]:8443" && address("[::1]") == "https://[::1]")
    #expect(address("gate.example.com", nil, true, "/") == "https://gate.example.com")
    #expect(
      address("gate.example.com", nil, true, nil, "flights") == "https://gate.example.com/flights")
    #expect(
      address(
        "relayserver.sybase.com", 80, false, "/ias_relay_server/client/rs_client.dll", "relay.farm")
        == "http://relayserver.sybase.com:80/ias_relay_server/client/rs_client.dll/relay.farm")
  }

  @Test(
    "An app registers by host and port, also through a relay by its path and farm",
    .reference(
      "ios/CS-7", "ios/CS-40", "ios/CS-65", "ios/RST-2", "ios/APP-3", "adr/A6", "adr/CON-4"))
  func host() async throws {
    let desk = try await Desk()
    let near = RegistrationProfile(
      host: "gate.example.com", application: Desk.flights, credentials: Self.anna)
    let id = try await app(near, desk, DeskTransport(desk), "near").register().connectionID
    #expect(id != nil)
    let relay = Relay(
      desk, at: "http://relayserver.sybase.com:5001/ias_relay_server/client/rs_client.dll/Farm1")
    let far = RegistrationProfile(
      host: "relayserver.sybase.com", port: 5_001, isSecure: false,
      relay: "/ias_relay_server/client/rs_client.dll", farm: "Farm1", application: Desk.flights,
      credentials: Self.anna)
    let app = app(far, desk, relay, "far")
    let other = try #require(try await app.register().connectionID)
    _ = await desk.send("POST", "/Notification/\(other)", user: "sapgw", body: "late")
    var payloads = app.payloads.makeAsyncIterator()
    #expect(try await payloads.next()?.data == "late")
    try await app.unregister()
    #expect(try await desk.host.connections(of: Desk.flights, user: nil).map(\.id) == [id])
    #expect(relay.paths.first == Desk.path && relay.paths.count == 3)
    // Another farm is another server.
    var wrong = far
    wrong.server += "2"
    let error = await #expect(throws: RegistrationError.self) {
      try await self.app(wrong, desk, relay, "wrong").register()
    }
    #expect(error?.code == .serverUnreachable)
  }

  @Test("An app registers by one address, also by that of a relay", .reference("ios/CS-66"))
  func url() async throws {
    let desk = try await Desk()
    let address =
      "http://relayserver.sybase.com:80/ias_relay_server/client/rs_client.dll/relay.farm"
    let relay = Relay(desk, at: address)
    let profile = RegistrationProfile(
      server: address, application: Desk.flights, credentials: Self.anna)
    let id = try await app(profile, desk, relay, "one").register().connectionID
    #expect(try await desk.host.connections(of: Desk.flights, user: nil).map(\.id) == [id])
    #expect(relay.paths == [Desk.path])
  }

  @Test(
    "An app names its application, domain and security configuration; unknown ones are refused",
    .reference(
      "ios/CS-8", "ios/CS-36", "ios/CS-63", "ios/RST-1", "adr/A39", "adr/SV-1", "adr/B4"))
  func configuration() async throws {
    let desk = try await Desk(provider: Branches())
    func register(
      _ domain: String?, _ configuration: String?, _ password: String, _ file: String,
      application: String = Desk.flights
    ) async -> Result<String, RegistrationError> {
      var profile = RegistrationProfile(
        server: "https://gate.example.com", application: application,
        credentials: RegistrationProfile.Credentials(user: "anna", password: password))
      (profile.domain, profile.securityConfiguration) = (domain, configuration)
      let app = app(profile, desk, DeskTransport(desk), file)
      do throws(RegistrationError) {
        let id = try await app.register().connectionID ?? ""
        // Later calls are made as the same user.
        try await app.update(["CustomCustom1": "x"])
        return .success(id)
      } catch { return .failure(error) }
    }
    func user(_ result: Result<String, RegistrationError>) async throws -> String? {
      try await desk.host.connection(try result.get())?.user
    }
    let first = await register("default", "SSO", "of-anna@SSO", "1")
    #expect(try await user(first) == "anna@SSO")
    let second = await register("outside", "partners", "of-anna@partners", "2")
    #expect(try await user(second) == "anna@partners")
    let plain = await register(nil, nil, "of-anna@SSO", "3")
    #expect(try await user(plain) == "anna@SSO")
    for (domain, configuration, password) in [
      ("default", "partners", "of-anna@partners"), ("default", "nobody", "of-anna@SSO"),
      ("default", "SSO", "of-anna@partners"),
    ] {
      let result = await register(domain, configuration, password, "4")
      #expect(throws: RegistrationError.self) { try result.get() }
      guard case .failure(let error) = result else { continue }
      #expect(error.code == .wrongCredentials)
    }
    let unknown = await register(
      "default", "SSO", "of-anna@SSO", "5", application: "com.example.none")
    guard case .failure(let error) = unknown else {
      Issue.record("registered with an unknown application")
      return
    }
    #expect(error.code == .unknownApplication)
    #expect(try await desk.host.connections(of: Desk.flights, user: nil).count == 3)
  }

  @Test(
    "One value has all that a connection needs: host, port, farm, user and activation code",
    .reference("ios/PSH-7", "adr/CON-3"))
  func allAtOnce() async throws {
    var closed = Desk.plain
    closed.admission = .code
    let desk = try await Desk([closed])
    let relay = Relay(desk, at: "http://relay.example.com:5001/Farm1")
    var profile = RegistrationProfile(
      host: "relay.example.com", port: 5_001, isSecure: false, farm: "Farm1",
      application: Desk.flights, credentials: Self.anna)
    let early = app(profile, desk, relay, "app")
    let without = await #expect(throws: RegistrationError.self) { try await early.register() }
    #expect(without?.code.rawValue == 14_851)
    profile.activationCode = try await desk.host.makeActivation(of: "anna", template: nil).code
    let id = try await app(profile, desk, relay, "app").register().connectionID
    #expect(try await desk.host.connections(of: Desk.flights, user: "anna").map(\.id) == [id])
  }
}
