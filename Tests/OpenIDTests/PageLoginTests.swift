import Ferry
import FerryHTTPClient
import FerryJSON
import FerryOpenID
import FerryWorld
import Foundation
import Synchronization
import Testing

/// The error underneath what a token source throws.
func reason(
  _ run: () async throws -> Void
) async -> (code: FerryError.Code?, cause: OpenIDError.Code?) {
  do {
    try await run()
    return (nil, nil)
  } catch {
    let error = error as? FerryError
    return (error?.code, (error?.cause as? OpenIDError)?.code)
  }
}

/// What a token says, unverified.
func claims(_ token: String) throws -> [String: Any] {
  let parts = token.split(separator: ".")
  var text = parts[1].replacing("-", with: "+").replacing("_", with: "/")
  while text.utf8.count % 4 != 0 { text += "=" }
  let data = try #require(Data(base64Encoded: String(text)))
  return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
}

@Suite("Login on a page of the company's issuer", .timeLimit(.minutes(60)))
struct PageLoginTests {
  private let issuer: TestIssuer
  private let clock = MovedClock()
  private let secrets = TestSecrets()

  init() throws { issuer = try TestIssuer() }

  private func tokens(
    _ browser: any LoginBrowser, token: OpenIDApp.Token = .access
  ) -> OpenIDTokens {
    OpenIDTokens(
      issuer: issuer.address, app: OpenIDApp(clientID: "sales", token: token),
      login: .browser(browser), secrets: secrets, transport: issuer.transport,
      world: World(clock: clock, chance: SystemChance(), log: SilentLog()))
  }

  @Test("Any number of tasks ask at once, and the issuer is asked once")
  func many() async throws {
    let browser = TestBrowser(issuer.transport)
    let tokens = tokens(browser)
    for use in [TokenUse.login, .renewal] {
      let all = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<20 { group.addTask { try await tokens.token(for: use) } }
        return try await group.reduce(into: Set<String>()) { $0.insert($1) }
      }
      #expect(all.count == 1)
      clock.move(by: .seconds(300))
    }
    #expect(try issuer.grants() == ["authorization_code", "refresh_token"])
    #expect(browser.addresses.count == 1)
  }

  @Test("A code that somebody else began, or an answer of somebody else, gives no token")
  func forged() async throws {
    let other = "com.example.other:/login"
    for (change, code): (@Sendable (String) -> String, OpenIDError.Code) in [
      ({ $0.replacing("state=", with: "state=x") }, .otherLogin),
      ({ $0.replacing("state=", with: "stat=") }, .otherLogin),
      ({ $0 + "&state=x" }, .otherLogin),
      ({ $0.replacing(TestBrowser.address, with: other) }, .otherLogin),
      ({ _ in "" }, .otherLogin),
      ({ _ in String(repeating: "x", count: 20_000) }, .otherLogin),
      ({ $0.replacing("iss=", with: "iss=https%3A%2F%2Fevil.example.com&was=") }, .otherIssuer),
      ({ $0.replacing("iss=", with: "was=") }, .otherIssuer),
      ({ $0.replacing("code=", with: "code=x") }, .needsLogin),
    ] {
      let found = await reason {
        _ = try await tokens(TestBrowser(issuer.transport, change)).token(for: .login)
      }
      #expect(found.cause == code)
    }
    // Only what looked right was sent on, and it had no verifier of that code.
    #expect(try issuer.grants() == ["authorization_code"])
    #expect(secrets.state.withLock { $0.values.isEmpty })
  }

  @Test("A code without the verifier of this device is worth nothing")
  func stolen() async throws {
    // A thief has the code of the user's login and offers it within a login of their own.
    let seen = Mutex("")
    let victim = TestBrowser(issuer.transport) { answer in
      seen.withLock { $0 = answer }
      return ""
    }
    _ = await reason { _ = try await tokens(victim).token(for: .login) }
    let code = try #require(
      seen.withLock { $0 }.split(separator: "&").first { $0.contains("code=") }?
        .split(separator: "=").last)
    let thief = TestBrowser(issuer.transport) { answer in
      answer.split(separator: "&").map { $0.hasPrefix("code=") ? "code=\(code)" : String($0) }
        .joined(separator: "&")
        .replacing(/\?code=[^&]*/, with: "?code=\(code)")
    }
    let found = await reason { _ = try await tokens(thief).token(for: .login) }
    #expect(found.cause == .needsLogin)
  }

  @Test("A user who does not agree, and a page that is closed, are cancelled by name")
  func cancelled() async throws {
    try issuer.ask(#"["page","deny"]"#)
    let denied = await reason {
      _ = try await tokens(TestBrowser(issuer.transport)).token(for: .login)
    }
    #expect(denied.code == .cancelled && denied.cause == .cancelled)
    final class Closed: LoginBrowser {
      func redirect() async throws -> String { TestBrowser.address }
      func show(_ address: String, until redirect: String) async throws -> String {
        throw CancellationError()
      }
    }
    let closed = await reason { _ = try await tokens(Closed()).token(for: .login) }
    #expect(closed.code == .cancelled && closed.cause == .cancelled)
  }

  @Test(
    "While the issuer is away, fails or lies, that is what the app hears, and the next try after it succeeds"
  )
  func away() async throws {
    let browser = TestBrowser(issuer.transport)
    let tokens = tokens(browser)
    for mode in ["500", "lie"] {
      try issuer.ask(#"["mode","\#(mode)"]"#)
      let found = await reason { _ = try await tokens.token(for: .login) }
      #expect(found.code == (mode == "500" ? .offline : .notLoggedIn))
      #expect(found.cause == (mode == "500" ? .issuerAway : .otherIssuer))
    }
    try issuer.ask(#"["mode","ok"]"#)
    _ = try await tokens.token(for: .login)
    clock.move(by: .seconds(300))
    try issuer.ask(#"["mode","500"]"#)
    let renewal = await reason { _ = try await tokens.token(for: .renewal) }
    #expect(renewal.code == .offline && renewal.cause == .issuerAway)
    let login = await reason { _ = try await tokens.token(for: .login) }
    #expect(login.cause == .issuerAway)
    #expect(browser.addresses.count == 1, "an issuer that is away is no reason for a page")
    try issuer.ask(#"["mode","ok"]"#)
    _ = try await tokens.token(for: .renewal)
    issuer.stop()
    clock.move(by: .seconds(300))
    let gone = await reason { _ = try await tokens.token(for: .renewal) }
    #expect(gone.code == .offline && gone.cause == .issuerAway)
  }

  @Test("Where another process has renewed meanwhile, its newer token is used and no page is shown")
  func twoProcesses() async throws {
    let browser = TestBrowser(issuer.transport)
    let app = tokens(browser)
    _ = try await app.token(for: .login)
    let stale = secrets.state.withLock { $0.values["openid"] }
    clock.move(by: .seconds(300))
    _ = try await tokens(browser).token(for: .renewal)
    let newer = secrets.state.withLock { $0.values["openid"] }
    #expect(stale != newer)
    // The app reads the old one, and the extension's renewal comes while it asks.
    final class Racing: SecretStore {
      let first: Mutex<[UInt8]?>
      let rest: TestSecrets
      init(_ first: [UInt8]?, _ rest: TestSecrets) {
        self.first = Mutex(first)
        self.rest = rest
      }
      func secret(_ name: String) throws -> [UInt8]? {
        let once = first.withLock { value in
          defer { value = nil }
          return value
        }
        return try once ?? rest.secret(name)
      }
      func setSecret(_ name: String, _ value: [UInt8]) throws { try rest.setSecret(name, value) }
      func addSecret(_ name: String, _ value: [UInt8]) throws -> [UInt8] { value }
      func removeSecret(_ name: String) throws { try rest.removeSecret(name) }
    }
    let late = OpenIDTokens(
      issuer: issuer.address, app: OpenIDApp(clientID: "sales"), login: .browser(browser),
      secrets: Racing(stale, secrets), transport: issuer.transport,
      world: World(clock: clock, chance: SystemChance(), log: SilentLog()))
    _ = try await late.token(for: .renewal)
    #expect(browser.addresses.count == 1)
  }

  @Test("A locked vault is waited for, and one that cannot be written costs a login after a start")
  func lockedSecrets() async throws {
    let browser = TestBrowser(issuer.transport)
    secrets.state.withLock { $0.isWritable = false }
    let app = tokens(browser)
    _ = try await app.token(for: .login)
    clock.move(by: .seconds(300))
    _ = try await app.token(for: .renewal)
    secrets.state.withLock { $0.isReadable = false }
    let later = tokens(browser)
    let found = await reason { _ = try await later.token(for: .login) }
    #expect(found.code == .secrets && found.cause == .secrets)
    #expect(browser.addresses.count == 1)
    secrets.state.withLock {
      $0.isReadable = true
      $0.isWritable = true
    }
    _ = try await later.token(for: .login)
    #expect(browser.addresses.count == 2)
  }

  @Test("The identity token is sent where the app says so, and is judged before")
  func identity() async throws {
    let tokens = tokens(TestBrowser(issuer.transport), token: .identity)
    let token = try await tokens.token(for: .login)
    #expect(try claims(token)["aud"] as? String == "sales")
    let end = try #require(try claims(token)["exp"] as? Int)
    #expect(end > Int(SystemClock().now.milliseconds / 1_000))
    try issuer.ask(#"["user",{"sub":"u-1","iss":"https://evil.example.com"}]"#)
    clock.move(by: .seconds(300))
    let foreign = await reason { _ = try await tokens.token(for: .renewal) }
    #expect(foreign.cause == .otherIssuer)
    try issuer.ask(#"["user",{"sub":"u-1","nonce":"x"}]"#)
    try issuer.ask(#"["revoke"]"#)
    _ = try? await tokens.token(for: .renewal)
    try issuer.ask(#"["lives",-600]"#)
    let ended = await reason { _ = try await tokens.token(for: .login) }
    #expect(ended.cause == .badDocument)
  }
}
