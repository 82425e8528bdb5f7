import FerryCrypto
import FerryHTTP
import FerryHTTPClient
import FerryJSON
import FerryTestTraits
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import FerryApplications
@testable import FerryPush
@testable import FerryRegistration
@testable import FerryServer

/// A push service that answers as the test says, and keeps what it got.
final class Peer: Transport {
  struct Reply {
    var status: Int
    var body: String = ""
    var headers: HTTPHeaders = [:]
  }

  private let state = Mutex((requests: [TransportRequest](), replies: [Reply]()))

  init(_ replies: [Reply] = []) { state.withLock { $0.replies = replies } }

  var requests: [TransportRequest] { state.withLock { $0.requests } }

  /// The last reply is that to all that follow.
  func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
    let reply = state.withLock { state -> Reply? in
      state.requests.append(request)
      return state.replies.count > 1 ? state.replies.removeFirst() : state.replies.first
    }
    guard let reply else {
      throw TransportError(
        code: .cannotConnect, message: "away", hint: "none", isTransient: true,
        requestWasSent: false)
    }
    return TransportResponse(
      status: reply.status, headers: reply.headers, body: Bytes(Array(reply.body.utf8)))
  }

  private final class Bytes: TransportBody {
    private let bytes: Mutex<[UInt8]>
    init(_ bytes: [UInt8]) { self.bytes = Mutex(bytes) }
    func next() async throws(TransportError) -> [UInt8]? {
      bytes.withLock { bytes in
        defer { bytes = [] }
        return bytes.isEmpty ? nil : bytes
      }
    }
    func cancel() {}
  }
}

@Suite("Push services of others", .timeLimit(.minutes(60)))
struct SenderTests {
  private let clock = HandClock()

  private func apns(_ peer: Peer) throws -> APNsSender {
    APNsSender(
      APNsSender.Account(
        key: try P256Key.generate(), keyID: "KEY1", team: "TEAM", topic: "com.example.flights"),
      transport: peer, clock: clock)
  }

  private func fcm(_ peer: Peer) throws -> FCMSender {
    FCMSender(
      FCMSender.Account(
        key: try RSAKey.generate(), email: "ferry@example.com", project: "flights"),
      transport: peer, clock: clock)
  }

  private static var message: PushMessage {
    var message = PushMessage()
    message.alert = "LH 400 is late"
    message.badge = 3
    message.pending = 2
    message.collapse = "LH400"
    message.lifetime = .seconds(60)
    return message
  }

  @Test("Apple's service gets the texts, the number of what waits, and a token of the key")
  func appleRequest() async throws {
    let peer = Peer([Peer.Reply(status: 200)])
    let sender = try apns(peer)
    #expect(await sender.send(Self.message, to: "0a1b") == .sent)
    let request = try #require(peer.requests.first)
    #expect(request.url == "https://api.push.apple.com/3/device/0a1b")
    #expect(request.headers["apns-topic"] == "com.example.flights")
    #expect(request.headers["apns-push-type"] == "alert")
    #expect(request.headers["apns-priority"] == "10")
    #expect(request.headers["apns-collapse-id"] == "LH400")
    #expect(request.headers["apns-expiration"] == "1700000060")
    let body = try JSONNode.parse(request.body)
    #expect(body["aps"]?["alert"]?["body"]?.string == "LH 400 is late")
    #expect(body["aps"]?["badge"]?.integer == 3 && body["pending"]?.integer == 2)
    _ = await sender.send(PushMessage(), to: "0a1b")
    #expect(peer.requests.last?.headers["apns-push-type"] == "background")
    #expect(peer.requests.last?.headers["apns-priority"] == "5")
  }

  @Test("The provider token is renewed after 50 minutes, and at once where it is too old")
  func providerToken() async throws {
    let peer = Peer([Peer.Reply(status: 200)])
    let sender = try apns(peer)
    func token() -> String? { peer.requests.last?.headers["authorization"] }
    _ = await sender.send(Self.message, to: "00")
    let first = token()
    clock.advance(49 * 60)
    _ = await sender.send(Self.message, to: "00")
    #expect(token() == first)
    clock.advance(60)
    _ = await sender.send(Self.message, to: "00")
    #expect(token() != first)
    let late = Peer([
      Peer.Reply(status: 403, body: #"{"reason":"ExpiredProviderToken"}"#), Peer.Reply(status: 200),
    ])
    #expect(await (try apns(late)).send(Self.message, to: "00") == .sent)
    #expect(late.requests.count == 2)
  }

  @Test("What Apple's service refuses is told apart: token, key, message, and later")
  func appleRefusals() async throws {
    for (status, reason, outcome) in [
      (410, "Unregistered", .tokenEnded("Unregistered")),
      (400, "BadDeviceToken", .tokenEnded("BadDeviceToken")),
      (403, "InvalidProviderToken", .wrongKey("InvalidProviderToken")),
      (503, "ServiceUnavailable", .later(afterSeconds: 7, "ServiceUnavailable")),
      (429, "TooManyRequests", .later(afterSeconds: 7, "TooManyRequests")),
      (413, "PayloadTooLarge", .refused("413 PayloadTooLarge")),
    ] as [(Int, String, PushOutcome)] {
      let peer = Peer([
        Peer.Reply(
          status: status, body: "{\"reason\":\"\(reason)\"}", headers: ["Retry-After": "7"])
      ])
      #expect(await (try apns(peer)).send(Self.message, to: "00") == outcome, "\(status)")
    }
    let peer = Peer()
    #expect(
      await (try apns(peer)).send(Self.message, to: "00") == .later(afterSeconds: nil, "away"))
    // A token is written into an address.
    for token in ["", "../../x", "0a?x", String(repeating: "0", count: 201)] {
      guard case .tokenEnded = await (try apns(peer)).send(Self.message, to: token) else {
        Issue.record("\(token) was sent")
        continue
      }
    }
  }

  @Test("Google's service gets a message under an access token that is fetched once an hour")
  func google() async throws {
    let access = Peer.Reply(status: 200, body: #"{"access_token":"ya29","expires_in":3600}"#)
    let peer = Peer([access, Peer.Reply(status: 200)])
    let sender = try fcm(peer)
    #expect(await sender.send(Self.message, to: "token") == .sent)
    #expect(await sender.send(Self.message, to: "token") == .sent)
    #expect(peer.requests.count == 3)
    #expect(peer.requests[1].url == "https://fcm.googleapis.com/v1/projects/flights/messages:send")
    #expect(peer.requests[1].headers["Authorization"] == "Bearer ya29")
    let body = try JSONNode.parse(peer.requests[1].body)["message"]
    #expect(body?["token"]?.string == "token" && body?["data"]?["pending"]?.string == "2")
    #expect(body?["android"]?["ttl"]?.string == "60s")
    for (status, text, outcome) in [
      (404, #"{"error":{"details":[{"errorCode":"UNREGISTERED"}]}}"#, .tokenEnded("UNREGISTERED")),
      (400, #"{"error":{"status":"INVALID_ARGUMENT"}}"#, .refused("400 INVALID_ARGUMENT")),
      (403, #"{"error":{"status":"PERMISSION_DENIED"}}"#, .wrongKey("403 PERMISSION_DENIED")),
      (503, #"{"error":{"status":"UNAVAILABLE"}}"#, .later(afterSeconds: nil, "UNAVAILABLE")),
    ] as [(Int, String, PushOutcome)] {
      let peer = Peer([access, Peer.Reply(status: status, body: text)])
      #expect(await (try fcm(peer)).send(Self.message, to: "token") == outcome, "\(status)")
    }
    let closed = Peer([Peer.Reply(status: 400, body: #"{"error":"invalid_grant"}"#)])
    #expect(
      await (try fcm(closed)).send(Self.message, to: "token")
        == .wrongKey("no access token: invalid_grant"))
  }

  @Test("A web hook is signed over time and body")
  func webHook() async throws {
    let peer = Peer([Peer.Reply(status: 204)])
    let secret = Array("secret".utf8)
    let sender = WebHookSender(
      address: "https://example.com/hook", secret: secret, transport: peer, clock: clock)
    #expect(await sender.send(Self.message, to: "id") == .sent)
    let request = try #require(peer.requests.first)
    let signed = Array("1700000000.".utf8) + request.body
    let digits = hexadecimal(SHA256Digest.authenticate(signed, key: secret))
    #expect(request.headers["X-Ferry-Signature"] == "t=1700000000,v1=\(digits)")
  }

  // The desk.

  /// Answers in turn; the last for all that follow.
  private final class Scripted: PushSender {
    let name = "scripted"
    private let outcomes: Mutex<[PushOutcome]>
    let sent = Mutex<[String]>([])

    init(_ outcomes: [PushOutcome]) { self.outcomes = Mutex(outcomes) }

    func send(_ message: PushMessage, to token: String) async -> PushOutcome {
      sent.withLock { $0.append(token) }
      return outcomes.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
    }
  }

  @Test("A busy service is asked again after the time it names; a key that is wrong stops it")
  func desk() async throws {
    let world = World(clock: clock, chance: SystemChance(), log: SilentLog())
    let waits = Mutex<[Duration]>([])
    let desk = PushDesk(world) { wait in waits.withLock { $0.append(wait) } }
    let busy = Scripted([.later(afterSeconds: 9, "busy"), .later(afterSeconds: nil, "busy"), .sent])
    await desk.add(PushJob(Self.message, to: "a", by: busy) { _ in })
    await desk.finish()
    #expect(waits.withLock { $0 } == [.seconds(9), .seconds(4)])
    #expect(await desk.counts.sent == 1)
    let never = Scripted([.later(afterSeconds: 1, "busy")])
    await desk.add(PushJob(Self.message, to: "b", by: never) { _ in })
    await desk.finish()
    #expect(never.sent.withLock { $0.count } == PushDesk.attempts)
    let wrong = Scripted([.wrongKey("no"), .sent])
    for token in ["c", "d"] {
      await desk.add(PushJob(Self.message, to: token, by: wrong) { _ in })
      await desk.finish()
    }
    #expect(wrong.sent.withLock { $0 } == ["c"])
    #expect(await desk.troubles == ["scripted": "no"])
    clock.advance(600)
    #expect(await desk.troubles == [:])
    await desk.add(PushJob(Self.message, to: "e", by: wrong) { _ in })
    await desk.finish()
    #expect(wrong.sent.withLock { $0 } == ["c", "e"])
  }

  @Test(
    "A device that does not listen is woken, and one that listens is not; an ended token is removed",
    .reference("ios/SRV-22", "adr/SV-14"))
  func waking() async throws {
    var application = Desk.plain
    var push = ApplicationPush()
    push.apns = APNsSender.Account(
      key: try P256Key.generate(), keyID: "K", team: "T", topic: "com.example.flights")
    application.push = push
    let peer = Peer([
      Peer.Reply(status: 200), Peer.Reply(status: 410, body: #"{"reason":"Unregistered"}"#),
    ])
    let desk = try await Desk([application], push: peer)
    let id = await desk.register(body: #"{"ApnsDeviceToken":"0a0b","ApnsPushEnable":true}"#)
    func post() async {
      let answer = await desk.send(
        "POST", "/Notification/\(id)", user: "sapgw", [("X-SUP-APNS-ALERT-BODY", "late")])
      #expect(answer.status == 201)
      await desk.applications.desk.finish()
    }
    do {
      let open = await desk.send("GET", "/Notification/\(id)", [("X-SUP-APPCID", id)])
      await post()
      #expect(peer.requests.isEmpty, "it listens")
      withExtendedLifetime(open) {}
    }
    await post()
    await post()
    #expect(peer.requests.count == 2)
    #expect(await desk.value("ApnsDeviceToken", of: id) == nil)
    let count = peer.requests.count
    await post()
    #expect(peer.requests.count == count, "nothing is sent to a token that has ended")
    #expect(
      try await desk.host.payloadCount(of: Owner(device: id, user: "anna")) == 4, "all still wait")
  }
}
