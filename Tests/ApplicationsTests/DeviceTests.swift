import FerryHTTPClient
import FerryTestTraits
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import FerryApplications
@testable import FerryRegistration
@testable import FerryServer

@Suite("An app that registers over HTTP", .timeLimit(.minutes(60)))
struct DeviceTests {
  private static func profile(_ user: String = "anna") -> RegistrationProfile {
    RegistrationProfile(
      server: "https://gate.example.com", application: Desk.flights,
      credentials: RegistrationProfile.Credentials(user: user, password: "of-\(user)"))
  }

  private static func cut(_ sent: Bool) -> TransportError {
    TransportError(
      code: .cut, message: "cut", hint: "none", isTransient: true, requestWasSent: sent)
  }

  private func app(
    _ desk: Desk, _ transport: DeskTransport? = nil, file: String = "state.json"
  ) -> ApplicationRegistration {
    ApplicationRegistration(
      Self.profile(), stateFile: "\(desk.folder)/\(file)",
      transport: transport ?? DeskTransport(desk),
      world: desk.world)
  }

  @Test(
    "An app registers once, reads its settings, changes them, and is gone after it unregisters",
    .reference("adr/REG-6"))
  func life() async throws {
    let desk = try await Desk()
    let app = app(desk)
    #expect(try await app.connectionID == nil)
    await #expect(throws: RegistrationError.self) { try await app.settings() }
    let settings = try await app.register(["DeviceType": "iPhone", "ApnsPushEnable": true])
    let id = try #require(settings.connectionID)
    #expect(
      settings["DeviceType"] == .text("iPhone") && settings["ApnsPushEnable"] == .boolean(true))
    #expect(settings.applicationEndpoint == "https://gate.example.com/flights/")
    #expect(settings.pushEndpoint == "https://gate.example.com/Notification/\(id)")
    // After a restart it is the same connection.
    let again = self.app(desk)
    #expect(try await again.connectionID == id)
    #expect(try await again.register().connectionID == id)
    try await again.update(["CustomCustom1": "gate 7", "DeviceType": nil])
    let changed = try await again.settings()
    #expect(changed.changes(since: settings) == ["CustomCustom1", "DeviceType", "ETag"])
    try await again.unregister()
    try await again.unregister()
    #expect(try await again.connectionID == nil)
    #expect(try await desk.host.connection(id) == nil)
  }

  @Test("Wherever the line breaks, or the app ends, the next call finds one connection")
  func brokenLines() async throws {
    for place in ["before", "after"] {
      let desk = try await Desk()
      let transport = BrokenTransport(desk: desk, place: place, isBroken: Mutex(true))
      let app = ApplicationRegistration(
        Self.profile(), stateFile: "\(desk.folder)/state.json", transport: transport,
        world: desk.world)
      do throws(RegistrationError) {
        try await app.register()
        Issue.record("no failure")
      } catch {
        #expect(error.code == .communicationFailed)
        #expect(error.mayHaveArrived == (place == "after"))
      }
      #expect(try await app.connectionID == nil)
      // The app has ended meanwhile.
      let next = self.app(desk)
      let id = try await next.register().connectionID
      let all = try await desk.host.connections(of: Desk.flights, user: nil)
      #expect(all.map(\.id) == [id], "\(place)")
      #expect(try await app.register().connectionID == id)
    }
  }

  @Test("An anonymous app whose answer was lost goes on with the token that it has chosen")
  func anonymousAgain() async throws {
    var open = Application(id: Desk.flights)
    open.isAnonymous = true
    let desk = try await Desk([open])
    var profile = Self.profile()
    profile.credentials = nil
    let file = "\(desk.folder)/state.json"
    let broken = ApplicationRegistration(
      profile, stateFile: file,
      transport: BrokenTransport(desk: desk, place: "after", isBroken: Mutex(true)),
      world: desk.world)
    await #expect(throws: RegistrationError.self) { try await broken.register() }
    let next = ApplicationRegistration(
      profile, stateFile: file, transport: DeskTransport(desk), world: desk.world)
    let id = try await next.register().connectionID
    let all = try await desk.host.connections(of: Desk.flights, user: nil)
    #expect(all.map(\.id) == [id] && all.first?.proof != nil)
    // Another app that knows the id, and not the token, gets nothing.
    profile.connectionID = id
    let thief = ApplicationRegistration(
      profile, stateFile: "\(desk.folder)/thief.json", transport: DeskTransport(desk),
      world: desk.world)
    do throws(RegistrationError) {
      try await thief.register()
      Issue.record("no failure")
    } catch { #expect(error.code == .wrongUserForRegistration) }
  }

  private final class BrokenTransport: Transport {
    let desk: DeskTransport
    let place: String
    let isBroken: Mutex<Bool>

    init(desk: Desk, place: String, isBroken: consuming Mutex<Bool>) {
      self.desk = DeskTransport(desk)
      self.place = place
      self.isBroken = isBroken
    }

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
      let breaks = isBroken.withLock { isBroken in
        defer { isBroken = false }
        return isBroken
      }
      if breaks, place == "before" { throw DeviceTests.cut(false) }
      let response = try await desk.send(request)
      if breaks { throw DeviceTests.cut(true) }
      return response
    }
  }

  @Test("Each refusal has domain, number, name, cause and cure")
  func errors() async throws {
    let desk = try await Desk()
    let app = app(desk)
    try await app.register()
    do throws(RegistrationError) {
      try await app.update(["CustomCustom1": "x", "UserName": "berta"])
      Issue.record("no failure")
    } catch {
      #expect(RegistrationError.domain == "FerryRegistration")
      #expect(error.code.rawValue == 70_005 && error.code.name == "readOnlyProperties")
      #expect(error.code.referenceName == "UPDATE_SETTINGS_CONTAINS_READONLY_FIELDS")
      #expect(!error.cause.isEmpty && !error.cure.isEmpty)
    }
    #expect(try await app.settings()["CustomCustom1"] == nil)
    do throws(RegistrationError) { try await app.update([:]) } catch {
      #expect(error.code == .emptyParameters)
    }
    do throws(RegistrationError) { try await app.update(["Nothing": "x"]) } catch {
      #expect(error.code == .unknownProperty)
    }
    let wrong = ApplicationRegistration(
      RegistrationProfile(
        server: "https://gate.example.com", application: Desk.flights,
        credentials: RegistrationProfile.Credentials(user: "anna", password: "wrong")),
      stateFile: "\(desk.folder)/other.json", transport: DeskTransport(desk), world: desk.world)
    do throws(RegistrationError) {
      try await wrong.register()
      Issue.record("no failure")
    } catch { #expect(error.code == .wrongCredentials) }
    // Somebody has deleted it: it registers anew, under its id.
    let id = try #require(try await app.connectionID)
    _ = await desk.send("DELETE", "\(Desk.path)('\(id)')", [("X-SUP-APPCID", id)])
    do throws(RegistrationError) { _ = try await app.settings() } catch {
      #expect(error.code == .notRegistered)
    }
    #expect(try await app.register().connectionID == id)
  }

  @Test("A file that is none of a registration is named, and stays as it is")
  func damagedFile() async throws {
    let desk = try await Desk()
    let path = "\(desk.folder)/state.json"
    try "{".write(toFile: path, atomically: true, encoding: .utf8)
    do throws(RegistrationError) {
      try await app(desk).register()
      Issue.record("no failure")
    } catch { #expect(error.code == .stateNotWritable && error.message.contains(path)) }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "{")
    #expect(try await desk.host.connections(of: Desk.flights, user: nil) == [])
  }

  @Test(
    "Payloads come in order, each at least once, also over an app that ends before the next one",
    .reference("ios/PSH-6"))
  func payloads() async throws {
    let desk = try await Desk()
    let app = app(desk)
    let id = try #require(try await app.register().connectionID)
    for text in ["one", "two", "three"] {
      _ = await desk.send("POST", "/Notification/\(id)", user: "sapgw", body: text)
    }
    var first = app.payloads.makeAsyncIterator()
    #expect(try await first.next()?.data == "one")
    #expect(try await first.next()?.data == "two")
    // The app ends here: it has not asked for what follows the second.
    let next = self.app(desk)
    var second = next.payloads.makeAsyncIterator()
    #expect(try await second.next()?.data == "two")
    #expect(try await second.next()?.data == "three")
    let owner = Owner(device: id, user: "anna")
    #expect(try await desk.host.payloadCount(of: owner) == 1, "the third is not confirmed yet")
    try await next.unregister()
    #expect(try await second.next() == nil)
  }
}
