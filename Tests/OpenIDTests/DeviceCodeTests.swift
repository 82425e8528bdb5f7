import Ferry
import FerryOpenID
import FerryWorld
import Foundation
import Synchronization
import Testing

/// Keeps the codes that it should show.
final class TestPrompt: DeviceCodePrompt {
  private let shown = Mutex<[DeviceCode]>([])
  private let act: @Sendable () -> Void

  init(_ act: @escaping @Sendable () -> Void = {}) { self.act = act }

  var codes: [DeviceCode] { shown.withLock { $0 } }

  func show(_ code: DeviceCode) async {
    shown.withLock { $0.append(code) }
    act()
  }
}

@Suite("Login by a code on another device (RFC 8628)", .timeLimit(.minutes(60)))
struct DeviceCodeTests {
  private let issuer: TestIssuer
  private let clock = MovedClock()
  private let secrets = TestSecrets()

  init() throws { issuer = try TestIssuer() }

  private func tokens(_ prompt: TestPrompt) -> OpenIDTokens {
    OpenIDTokens(
      issuer: issuer.address, app: OpenIDApp(clientID: "sales"), login: .deviceCode(prompt),
      secrets: secrets, transport: issuer.transport,
      world: World(clock: clock, chance: SystemChance(), log: SilentLog()))
  }

  @Test("The code is shown, the device asks until the user has agreed, and renews silently after")
  func agreed() async throws {
    let prompt = TestPrompt()
    let tokens = tokens(prompt)
    let waiting = Task { try await tokens.token(for: .login) }
    let patience = Patience()
    while try issuer.grants().isEmpty, await patience.lasts() {}
    try issuer.ask(#"["device","agree"]"#)
    #expect(try claims(await waiting.value)["sub"] as? String == "u-1")
    let code = try #require(prompt.codes.first)
    #expect(code.userCode == "WDJB-MJHT" && code.address == issuer.address + "/activate")
    #expect(code.wholeAddress == nil && code.expires > clock.now)
    #expect(try issuer.grants().allSatisfy { $0 == "device_code" })
    #expect(try issuer.grants().count >= 2)
    clock.move(by: .seconds(300))
    _ = try await tokens.token(for: .renewal)
    #expect(try issuer.grants().last == "refresh_token" && prompt.codes.count == 1)
  }

  @Test("A user who does not agree, and a code that ended, are told by name")
  func refused() async throws {
    try issuer.ask(#"["device","deny"]"#)
    let denied = await reason { _ = try await tokens(TestPrompt()).token(for: .login) }
    #expect(denied.code == .cancelled && denied.cause == .cancelled)
    try issuer.ask(#"["device","end"]"#)
    let ended = await reason { _ = try await tokens(TestPrompt()).token(for: .login) }
    #expect(ended.code == .notLoggedIn && ended.cause == .expired)
    // Nobody types the code while its minute passes.
    try issuer.ask(#"["device","wait"]"#)
    let clock = self.clock
    let asleep = await reason {
      _ = try await tokens(TestPrompt { clock.move(by: .seconds(61)) }).token(for: .login)
    }
    #expect(asleep.cause == .expired)
  }

  @Test("Cancelling the task ends the waiting")
  func cancelled() async throws {
    let prompt = TestPrompt()
    let tokens = tokens(prompt)
    let waiting = Task { await reason { _ = try await tokens.token(for: .login) } }
    let patience = Patience()
    while prompt.codes.isEmpty, await patience.lasts() {}
    waiting.cancel()
    #expect(await waiting.value.cause == .cancelled)
  }
}
