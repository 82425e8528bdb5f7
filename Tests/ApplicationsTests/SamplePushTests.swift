import FerryCrypto
import FerryHTTPClient
import FerryPush
import FerryTestTraits
import FerryWorld
import Foundation
import Testing

@testable import FerryApplications
@testable import FerryRegistration
@testable import FerryServer

@Suite("Samples of the reference: what is pushed to an app", .timeLimit(.minutes(60)))
struct SamplePushTests {
  private func waiting(_ desk: Desk, _ id: String) async throws -> Int {
    try await desk.host.payloadCount(of: Owner(device: id, user: "anna"))
  }

  @Test(
    "A listener gets each payload over the open channel under the name Data, and errors of the channel",
    .reference("ios/CS-135", "adr/PSH-3", "adr/A5", "adr/B3"))
  func payloads() async throws {
    let desk = try await Desk()
    let app = desk.app()
    let id = try #require(try await app.register().connectionID)
    var payloads = app.payloads.makeAsyncIterator()
    for text in ["flight LH 400 is late", "flight LH 401 is late"] {
      _ = await desk.send("POST", "/Notification/\(id)", user: "sapgw", body: text)
      let payload = try await payloads.next()
      #expect(payload?.fields == ["Data": text])
    }
    let owner = Owner(device: id, user: "anna")
    _ = try await desk.host.decide(.lock, owner, reason: "lost", withPending: false)
    do {
      let none = try await payloads.next()
      Issue.record("got \(String(describing: none))")
    } catch { #expect(error.code == .deviceLocked) }
  }

  @Test(
    "All settings come with their numbers, then the end of them; a change of the bundle downloads it",
    .reference("ios/CS-131", "adr/A3", "adr/STG-5"))
  func settings() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("ferry-sample-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let bytes = ZipMaker.bundle("vip", "2.0", [7]).bytes
    try Data(bytes).write(to: URL(filePath: "\(folder)/vip.zip"))
    var application = Desk.plain
    application.bundles = folder
    let desk = try await Desk([application])
    let app = desk.app()
    let id = try #require(try await app.register().connectionID)
    try await app.update(["CapabilitiesPasswordPolicy": true])
    try await desk.administer(id, ["PasswordPolicyEnabled": true])
    var events = app.events.makeAsyncIterator()
    var known: [Int: String] = [:]
    while case .setting(let change)? = try await events.next() {
      if let number = change.number { known[number] = change.text ?? "" }
    }
    // The bundle, both endpoints, the switch of the policy and its ten values.
    let keys = Set([2_903, 3_000, 3_001] + (3_100...3_110))
    #expect(keys.subtracting(known.keys).isEmpty)
    #expect(known[3_000] == "https://gate.example.com/flights/" && known[3_100] == "true")
    #expect(known[3_001]?.hasSuffix(id) == true && known[3_110] == "10")
    try await desk.administer(id, ["CustomizationBundleId": "vip:2.0"])
    await desk.applications.tick()
    guard case .setting(let change)? = try await events.next() else {
      Issue.record("no change was told")
      return
    }
    #expect(change.number == 2_903 && change.text == "vip:2.0")
    let bundle = try await app.bundle(change.text, to: "\(folder)/app.bundle")
    #expect([UInt8](try Data(contentsOf: URL(filePath: bundle.path))) == bytes)
  }

  @Test(
    "A push service wakes the app; its listener says 0 and fetches the payload, or 1 and leaves it",
    .reference("adr/PSH-1", "adr/PSH-2", "adr/A4", "adr/A64", "adr/A67"))
  func native() async throws {
    var application = Desk.plain
    var push = ApplicationPush()
    push.fcm = FCMSender.Account(
      key: try RSAKey.generate(), email: "ferry@example.com", project: "flights")
    application.push = push
    let google = Peer([
      Peer.Reply(status: 200, body: #"{"access_token":"t","expires_in":3600}"#),
      Peer.Reply(status: 200, body: #"{"name":"m"}"#),
    ])
    let desk = try await Desk([application], push: google)
    let app = desk.app()
    let id = try #require(try await app.register().connectionID)
    try await app.update(["AndroidGcmRegistrationId": "fcm:1", "AndroidGcmPushEnabled": true])
    _ = await desk.send("POST", "/Notification/\(id)", user: "sapgw", body: "late")
    await desk.applications.desk.finish()
    let notice = try #require(google.requests.last)
    #expect(notice.url.hasSuffix("/v1/projects/flights/messages:send"))
    let text = String(decoding: notice.body, as: UTF8.self)
    #expect(text.contains("fcm:1") && !text.contains("late"))
    // 1: the app does not ask, and the payload stays where it is.
    #expect(try await waiting(desk, id) == 1)
    // 0: the app asks.
    var payloads = app.payloads.makeAsyncIterator()
    #expect(try await payloads.next()?.data == "late")
  }
}
