import FerryCrypto
import FerryHTTP
import FerryHTTPClient
import FerryJSON
import FerryWorld

/// Apple's push service over HTTP/2, with a token of ES256 that is renewed each 50 minutes.
package final class APNsSender: PushSender {
  /// What Apple gave for the app.
  package struct Account: Sendable {
    package let key: P256Key
    package let keyID: String
    package let team: String
    /// The bundle identifier of the app.
    package let topic: String
    package let address: String

    package init(
      key: P256Key, keyID: String, team: String, topic: String,
      address: String = "https://api.push.apple.com"
    ) {
      self.key = key
      self.keyID = keyID
      self.team = team
      self.topic = topic
      self.address = address
    }
  }

  package let name = "APNs"
  private let account: Account
  private let transport: any Transport
  private let clock: any WorldClock
  private let token = KeptToken()

  /// Apple refuses tokens that are older than an hour, and those that change within 20 minutes.
  static let tokenSeconds: Int64 = 3_000

  package init(_ account: Account, transport: any Transport, clock: any WorldClock) {
    self.account = account
    self.transport = transport
    self.clock = clock
  }

  package func send(_ message: PushMessage, to device: String) async -> PushOutcome {
    // A token is written into the address.
    guard (1...200).contains(device.utf8.count), device.utf8.allSatisfy(APNsSender.isTokenByte)
    else { return .tokenEnded("the token is none of Apple's") }
    var isRetry = false
    while true {
      let token: String
      do { token = try await provider() } catch { return .wrongKey("\(error)") }
      let answer: (status: Int, reason: String, retry: Int64?)
      do throws(TransportError) { answer = try await post(message, to: device, token) } catch {
        return .later(afterSeconds: nil, error.message)
      }
      switch (answer.status, answer.reason) {
      case (200, _): return .sent
      case (403, "ExpiredProviderToken") where !isRetry:
        await self.token.forget(token)
        isRetry = true
      case (403, _): return .wrongKey(answer.reason)
      case (410, _), (400, "BadDeviceToken"), (400, "DeviceTokenNotForTopic"):
        return .tokenEnded(answer.reason)
      case (429, _), (500..., _): return .later(afterSeconds: answer.retry, answer.reason)
      default: return .refused("\(answer.status) \(answer.reason)")
      }
    }
  }

  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
    default: false
    }
  }

  private func provider() async throws -> String {
    let now = clock.now.milliseconds / 1_000
    let account = account
    return try await token.value(now: clock.moment.milliseconds / 1_000) {
      let header = SignedClaims.object { writer in
        writer.field("alg", "ES256")
        writer.field("kid", account.keyID)
      }
      let claims = SignedClaims.object { writer in
        writer.field("iss", account.team)
        writer.field("iat", now)
      }
      let text = try SignedClaims.token(header: header, claims: claims) {
        bytes throws(CryptoError) in try account.key.signFixed(bytes)
      }
      return (text, APNsSender.tokenSeconds)
    }
  }

  private func post(
    _ message: PushMessage, to device: String, _ token: String
  ) async throws(TransportError) -> (status: Int, reason: String, retry: Int64?) {
    var request = TransportRequest(url: "\(account.address)/3/device/\(device)", method: .post)
    let isSilent = message.alert == nil && message.badge == nil && message.sound == nil
    request.headers["authorization"] = "bearer \(token)"
    request.headers["apns-topic"] = account.topic
    request.headers["apns-push-type"] = isSilent ? "background" : "alert"
    request.headers["apns-priority"] = isSilent || !message.isUrgent ? "5" : "10"
    request.headers["content-type"] = "application/json"
    if let lifetime = message.lifetime {
      let end = clock.now.advanced(by: lifetime).milliseconds / 1_000
      request.headers["apns-expiration"] = String(end)
    }
    if let collapse = message.collapse {
      request.headers["apns-collapse-id"] = APNsSender.cut(collapse)
    }
    request.body = APNsSender.body(message, isSilent: isSilent)
    let response = try await transport.send(request)
    let body = try await response.body.collect(limitBytes: 64 << 10)
    let reason = (try? JSONNode.parse(body))?["reason"]?.string ?? ""
    return (response.status, reason, response.headers["retry-after"].flatMap { Int64($0) })
  }

  /// At most 64 bytes of visible ASCII.
  private static func cut(_ text: String) -> String {
    String(decoding: text.utf8.filter { (0x21...0x7E).contains($0) }.prefix(64), as: UTF8.self)
  }

  static func body(_ message: PushMessage, isSilent: Bool) -> [UInt8] {
    SignedClaims.object { writer in
      writer.key("aps")
      writer.beginObject()
      if message.alert != nil || message.title != nil {
        writer.key("alert")
        writer.beginObject()
        writer.field("title", message.title)
        writer.field("body", message.alert)
        writer.endObject()
      }
      if let badge = message.badge { writer.field("badge", badge) }
      writer.field("sound", message.sound)
      // The app is woken, and fetches what waits.
      writer.field("content-available", 1)
      writer.endObject()
      writer.field("pending", message.pending)
      writer.field("Data", message.data)
    }
  }
}
