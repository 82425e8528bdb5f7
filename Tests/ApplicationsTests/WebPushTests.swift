import FerryCrypto
import FerryHTTPClient
import FerryJSON
import FerryTestTraits
import Foundation
import Testing

@testable import FerryPush

@Suite("Web push", .timeLimit(.minutes(60)))
struct WebPushTests {
  private static func bytes(_ text: String) -> [UInt8] {
    let standard = text.replacing("-", with: "+").replacing("_", with: "/")
    let padded = standard + String(repeating: "=", count: (4 - standard.count % 4) % 4)
    return Data(base64Encoded: padded).map { [UInt8]($0) } ?? []
  }

  /// ECPrivateKey of SEC 1, from the numbers that documents give.
  private static func key(_ number: String, _ point: String) throws -> P256Key {
    let curve: [UInt8] = [
      0xA0, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07,
    ]
    let body =
      [0x02, 0x01, 0x01, 0x04, 0x20] + bytes(number) + curve + [0xA1, 0x44, 0x03, 0x42, 0x00]
      + bytes(point)
    return try P256Key(der: [0x30, UInt8(body.count)] + body)
  }

  private static let browser =
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
  private static let secret = "BTBZMqHH6r4Tts7J_aSIgg"

  private static func subscription(_ endpoint: String, key: String = browser) -> String {
    #"{"endpoint":"\#(endpoint)","expirationTime":null,"#
      + #""keys":{"p256dh":"\#(key)","auth":"\#(secret)"}}"#
  }

  @Test("A message is encrypted byte by byte as in the example of RFC 8291")
  func example() throws {
    let own = try Self.key(
      "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw",
      "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8")
    let subscription = try WebPushSubscription.read(
      Self.subscription("https://fcm.googleapis.com/wp/1"), hosts: WebPushSender.knownHosts
    ).get()
    let sealed = try subscription.sealed(
      Array("When I grow up, I want to be a watermelon".utf8), with: own,
      salt: Self.bytes("DGv6ra1nlYgDCS1FRnbzlw"))
    #expect(
      sealed
        == Self.bytes(
          "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLoc"
            + "InmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLV"
            + "WGNWQexSgSxsj_Qulcy4a-fN"))
  }

  private func sender(_ peer: Peer, _ clock: HandClock, _ key: P256Key) -> WebPushSender {
    WebPushSender(
      WebPushSender.Account(key: key, subject: "mailto:push@example.com"), transport: peer,
      clock: clock)
  }

  @Test("The push service gets a token of our key for itself alone, and the time the message waits")
  func request() async throws {
    let (peer, clock) = (Peer([Peer.Reply(status: 201)]), HandClock())
    let key = try P256Key.generate()
    let sender = sender(peer, clock, key)
    var message = PushMessage()
    message.alert = "LH 400 is late"
    message.collapse = "LH400"
    message.lifetime = .seconds(60)
    #expect(
      await sender.send(message, to: Self.subscription("https://fcm.googleapis.com/wp/1")) == .sent)
    let request = try #require(peer.requests.first)
    #expect(request.url == "https://fcm.googleapis.com/wp/1" && request.headers["TTL"] == "60")
    #expect(request.headers["Content-Encoding"] == "aes128gcm")
    #expect(request.headers["Topic"]?.count == 32)
    let authorization = try #require(request.headers["Authorization"])
    let match = try #require(
      authorization.wholeMatch(of: /vapid t=([^.]+)\.([^.]+)\.([^,]+), k=(.+)/))
    #expect(Self.bytes(String(match.4)) == key.point)
    let claims = try JSONNode.parse(Self.bytes(String(match.2)))
    #expect(claims["aud"]?.string == "https://fcm.googleapis.com")
    #expect(claims["sub"]?.string == "mailto:push@example.com")
    let (x, y) = (Array(key.point[1...32]), Array(key.point[33...]))
    let known = try #require(WebKey.p256(x: x, y: y))
    #expect(
      known.verify(
        Self.bytes(String(match.3)), of: Array("\(match.1).\(match.2)".utf8)))
    // Another service gets another token; the same one the same, until half of its day is over.
    let other = Self.subscription("https://updates.push.services.mozilla.com/wpush/v2/x")
    _ = await sender.send(message, to: other)
    #expect(peer.requests.last?.headers["Authorization"] != authorization)
    func again() async -> String? {
      _ = await sender.send(message, to: Self.subscription("https://fcm.googleapis.com/wp/1"))
      return peer.requests.last?.headers["Authorization"]
    }
    clock.advance(11 * 3_600)
    #expect(await again() == authorization)
    clock.advance(3_600)
    #expect(await again() != authorization)
  }

  @Test("A subscription that leads elsewhere than to a push service is never asked")
  func elsewhere() async throws {
    let peer = Peer([Peer.Reply(status: 201)])
    let sender = sender(peer, HandClock(), try P256Key.generate())
    for endpoint in [
      "http://fcm.googleapis.com/x", "https://127.0.0.1/x", "https://evil.example/x",
      "https://evilnotify.windows.com/x", "https://fcm.googleapis.com@evil.example/x",
      "https://fcm.googleapis.com:8443/x", "https://evil.example?.fcm.googleapis.com/",
      "https://evil.example#.fcm.googleapis.com/", "https://evil.example\\\\.fcm.googleapis.com/",
      "https://fcm.googleapis.com/a b", "https:///x", "",
    ] {
      let outcome = await sender.send(PushMessage(), to: Self.subscription(endpoint))
      guard case .tokenEnded = outcome else {
        Issue.record("\(endpoint): \(outcome)")
        continue
      }
    }
    for text in [
      "", "{}", "not JSON", Self.subscription("https://fcm.googleapis.com/x", key: "AA"),
    ] {
      guard case .tokenEnded = await sender.send(PushMessage(), to: text) else {
        Issue.record("\(text) was sent")
        continue
      }
    }
    // 65 bytes that are no point of the curve.
    let none = "BA" + String(repeating: "A", count: 85)
    guard
      case .tokenEnded = await sender.send(
        PushMessage(), to: Self.subscription("https://fcm.googleapis.com/x", key: none))
    else {
      Issue.record("a wrong point was used")
      return
    }
    #expect(peer.requests.isEmpty)
    #expect(
      await sender.send(
        PushMessage(), to: Self.subscription("https://wns2-by3p.notify.windows.com/w/?token=x"))
        == .sent)
  }

  @Test("What a push service of a browser refuses is told apart: subscription, key, and later")
  func refusals() async throws {
    for (status, outcome) in [
      (404, .tokenEnded("404")), (410, .tokenEnded("410")),
      (403, .wrongKey("403 https://fcm.googleapis.com")), (413, .refused("413")),
      (429, .later(afterSeconds: 9, "429")), (502, .later(afterSeconds: 9, "502")),
    ] as [(Int, PushOutcome)] {
      let peer = Peer([Peer.Reply(status: status, headers: ["Retry-After": "9"])])
      let sender = sender(peer, HandClock(), try P256Key.generate())
      #expect(
        await sender.send(
          PushMessage(), to: Self.subscription("https://fcm.googleapis.com/wp/1")) == outcome)
    }
    let peer = Peer([Peer.Reply(status: 201)])
    let sender = sender(peer, HandClock(), try P256Key.generate())
    var large = PushMessage()
    large.alert = String(repeating: "x", count: 4_000)
    guard
      case .refused = await sender.send(
        large, to: Self.subscription("https://fcm.googleapis.com/wp/1"))
    else {
      Issue.record("a message of more than 4,096 bytes was sent")
      return
    }
  }
}
