import FerryHTTPClient
import FerryTestTraits
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import FerryApplications
@testable import FerryRegistration
@testable import FerryServer

/// Hears how a registration ended, as delegates and listeners of the reference do.
private actor Listener {
  private(set) var successes: [String] = []
  private(set) var failures: [RegistrationError] = []

  func succeeded(_ id: String?) { successes.append(id ?? "") }
  func failed(_ error: RegistrationError) { failures.append(error) }

  /// Registers without anybody waiting for it; the task ends once the listener was called.
  nonisolated func register(
    _ app: ApplicationRegistration,
    captcha: (@Sendable (CaptchaChallenge) async -> String?)? = nil
  ) -> Task<Void, Never> {
    Task {
      do throws(RegistrationError) {
        await succeeded(try await app.register(captcha: captcha).connectionID)
      } catch { await failed(error) }
    }
  }
}

@Suite("Samples of the reference: registration of an app", .timeLimit(.minutes(60)))
struct SampleRegistrationTests {
  private func captchaDesk() async throws -> Desk {
    var application = Desk.plain
    application.asksCaptcha = true
    return try await Desk([application])
  }

  @Test(
    "A call that waits returns the connection or throws; one that does not calls back with either",
    .reference(
      "ios/CS-9", "ios/CS-73", "ios/CS-76", "ios/CS-78", "ios/RUM-5", "adr/A7"))
  func bothWays() async throws {
    let desk = try await Desk()
    let waiting = desk.app()
    let id = try #require(try await waiting.register().connectionID)
    #expect(try await desk.host.connection(id)?.user == "anna")
    let wrong = await #expect(throws: RegistrationError.self) {
      try await desk.app("anna", password: "wrong", file: "wrong").register()
    }
    #expect(wrong?.code.rawValue == 563)
    let listener = Listener()
    await listener.register(desk.app("berta")).value
    await listener.register(desk.app("berta", password: "wrong", file: "other")).value
    let (successes, failures) = (await listener.successes, await listener.failures)
    let registered = try #require(successes.first)
    #expect(successes.count == 1 && failures.map(\.code) == [.wrongCredentials])
    #expect(try await desk.host.connection(registered)?.user == "berta")
    #expect(failures.first?.cause.isEmpty == false && failures.first?.cure.isEmpty == false)
  }

  @Test(
    "With an activation code the listener hears of the registration, or why there is none",
    .reference("ios/CS-136"))
  func activationCode() async throws {
    var closed = Desk.plain
    closed.admission = .code
    let desk = try await Desk([closed])
    let code = try await desk.host.makeActivation(of: "anna", template: nil).code
    let listener = Listener()
    await listener.register(desk.app { $0.activationCode = "ABCD-EFGH-JKMN" }).value
    #expect(await listener.failures.map(\.code.rawValue) == [580])
    #expect(await listener.successes == [])
    await listener.register(desk.app { $0.activationCode = code }).value
    let id = try #require(await listener.successes.first)
    #expect(try await desk.host.connection(id)?.user == "anna")
    #expect(await listener.failures.count == 1)
  }

  @Test(
    "One address of the server is enough, and pictures come to the app while it registers",
    .reference("ios/CS-39", "ios/CS-41"))
  func pictures() async throws {
    let desk = try await captchaDesk()
    let pictures = Mutex<[[UInt8]]>([])
    let listener = Listener()
    await listener.register(desk.app()) { challenge in
      pictures.withLock { $0.append(challenge.picture) }
      return desk.applications.captchas.text(of: challenge.id)
    }.value
    let shown = pictures.withLock { $0 }
    #expect(shown.count == 1 && shown[0].starts(with: [0x89] + Array("PNG".utf8)))
    let id = try #require(await listener.successes.first)
    #expect(try await desk.host.connection(id) != nil)
    // Another app has no delegate for pictures: it hears that one is needed.
    await listener.register(desk.app("berta")).value
    #expect(await listener.failures.map(\.code) == [.captchaNeeded])
    #expect(await listener.failures.first?.captcha != nil)
  }

  @Test(
    "What the delegate returns is the answer to the picture, and its nil ends the registration",
    .reference("ios/CS-75", "ios/CS-77", "adr/A42"))
  func delegate() async throws {
    let desk = try await captchaDesk()
    let listener = Listener()
    await listener.register(desk.app()) { _ in nil }.value
    #expect(await listener.failures.map(\.code) == [.captchaNeeded])
    let texts = Mutex(["no text", "neither", "nor this"])
    await listener.register(desk.app("berta")) { _ in
      texts.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }.value
    #expect(await listener.failures.count == 2 && texts.withLock { $0 } == [])
    #expect(await listener.successes == [])
    await listener.register(desk.app()) { desk.applications.captchas.text(of: $0.id) }.value
    let id = try #require(await listener.successes.first)
    #expect(try await desk.host.connection(id)?.user == "anna")
  }

  @Test("The text of the picture is given with a second call", .reference("ios/CS-72"))
  func captchaText() async throws {
    let desk = try await captchaDesk()
    let app = desk.app()
    let first = await #expect(throws: RegistrationError.self) { try await app.register() }
    let picture = try #require(first?.captcha)
    let wrong = await #expect(throws: RegistrationError.self) {
      try await app.register(answering: picture.answer("captchText"))
    }
    #expect(wrong?.code == .wrongCaptcha)
    let second = try #require(wrong?.captcha)
    let text = try #require(desk.applications.captchas.text(of: second.id))
    #expect(try await app.register(answering: second.answer(text)).connectionID != nil)
  }

  @Test(
    "An app registers if it is not registered, is known by its id, and is gone once it is deleted",
    .reference("ios/CS-1", "ios/CS-71", "adr/A2", "adr/A41", "adr/B1"))
  func members() async throws {
    let desk = try await captchaDesk()
    let requests = Mutex(0)
    var transport = DeskTransport(desk)
    transport.after = { _ throws(TransportError) in requests.withLock { $0 += 1 } }
    let app = ApplicationRegistration(
      desk.app().profile, stateFile: "\(desk.folder)/anna.json", transport: transport,
      world: desk.world)
    // A value of its own for the app is enough; the server hears nothing of it.
    #expect(app.profile.application == Desk.flights)
    #expect(try await app.connectionID == nil && requests.withLock { $0 } == 0)
    if try await app.connectionID == nil {
      try await app.register { desk.applications.captchas.text(of: $0.id) }
    }
    let id = try #require(try await app.connectionID)
    #expect(try await desk.host.connections(of: Desk.flights, user: nil).map(\.id) == [id])
    try await app.unregister()
    #expect(try await app.connectionID == nil)
    #expect(try await desk.host.connections(of: Desk.flights, user: nil).isEmpty)
  }

  @Test(
    "An app has one user at once: another one registers after the first was deleted",
    .reference("ios/APP-13"))
  func oneUser() async throws {
    let desk = try await Desk()
    let first = desk.app("anna", file: "app")
    let id = try #require(try await first.register().connectionID)
    let second = desk.app("berta", file: "app")
    let refused = await #expect(throws: RegistrationError.self) { try await second.register() }
    #expect(refused?.code.rawValue == 14_853)
    #expect(try await desk.host.connections(of: Desk.flights, user: nil).map(\.id) == [id])
    try await first.unregister()
    let next = try #require(
      try await desk.app("berta", file: "app").register().connectionID)
    #expect(try await desk.host.connection(next)?.user == "berta")
    #expect(try await desk.host.connections(of: Desk.flights, user: nil).count == 1)
  }
}
