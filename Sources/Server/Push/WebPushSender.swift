import FerryCrypto
import FerryHTTP
import FerryHTTPClient
import FerryJSON
import FerryText
import FerryWorld

/// The push service of a browser (RFC 8030), with a token of VAPID (RFC 8292). The message is
/// encrypted for the browser (RFC 8291), so the push service cannot read it.
package final class WebPushSender: PushSender {
  /// Who sends, as push services know it.
  package struct Account: Sendable {
    package let key: P256Key
    /// How a push service reaches the sender: `mailto:` or `https:`.
    package let subject: String
    /// Hosts of push services, or the ends of their names after a dot. A subscription that leads
    /// elsewhere is refused: its address comes from the device.
    package let hosts: [String]

    package init(key: P256Key, subject: String, hosts: [String] = WebPushSender.knownHosts) {
      self.key = key
      self.subject = subject
      self.hosts = hosts
    }

    /// `applicationServerKey` of the browser: the public key in base64url.
    package var publicKey: String { Base64.encode(key.point, .url) }
  }

  /// The push services of the browsers: Chrome, Firefox, Edge, Safari.
  package static let knownHosts: [String] = [
    "fcm.googleapis.com", "updates.push.services.mozilla.com", "notify.windows.com",
    "web.push.apple.com",
  ]

  /// The push services take at most so many bytes of an encrypted message (RFC 8291, 4).
  static let recordBytes = 4_096
  static let tokenSeconds: Int64 = 12 * 3_600
  /// Four weeks: what a message waits where it names no time.
  static let lifetimeSeconds: Int64 = 2_419_200

  package let name = "web push"
  private let account: Account
  private let transport: any Transport
  private let clock: any WorldClock
  private let random: @Sendable (Int) -> [UInt8]
  private let tokens = KeptTokens()

  package convenience init(_ account: Account, transport: any Transport, clock: any WorldClock) {
    self.init(account, transport: transport, clock: clock, random: { randomBytes($0) })
  }

  init(
    _ account: Account, transport: any Transport, clock: any WorldClock,
    random: @escaping @Sendable (Int) -> [UInt8]
  ) {
    self.account = account
    self.transport = transport
    self.clock = clock
    self.random = random
  }

  /// `token`: the subscription of the browser, as the JSON of its `PushSubscription`.
  package func send(_ message: PushMessage, to token: String) async -> PushOutcome {
    let subscription: WebPushSubscription
    switch WebPushSubscription.read(token, hosts: account.hosts) {
    case .success(let read): subscription = read
    case .failure(let fault): return .tokenEnded(fault.message)
    }
    let body: [UInt8]
    do throws(CryptoError) {
      body = try subscription.sealed(
        WebPushSender.body(message), with: P256Key.generate(), salt: random(16))
    } catch {
      return .tokenEnded(error.message)
    }
    guard body.count <= WebPushSender.recordBytes else {
      return .refused("the message has more than \(WebPushSender.recordBytes) bytes")
    }
    let authorization: String
    do { authorization = try await vapid(subscription.origin) } catch {
      return .wrongKey("\(error)")
    }
    let seconds = message.lifetime?.components.seconds ?? WebPushSender.lifetimeSeconds
    var request = TransportRequest(url: subscription.endpoint, method: .post)
    request.headers["Authorization"] = authorization
    request.headers["Content-Encoding"] = "aes128gcm"
    request.headers["Content-Type"] = "application/octet-stream"
    request.headers["TTL"] = String(min(max(seconds, 0), WebPushSender.lifetimeSeconds))
    request.headers["Urgency"] = message.isUrgent ? "high" : "normal"
    if let collapse = message.collapse {
      // At most 32 characters of base64url (RFC 8030, 5.4); names that are longer become a digest.
      let digest = SHA256Digest.hash(Array(collapse.utf8))
      request.headers["Topic"] = Base64.encode(Array(digest.prefix(24)), .url)
    }
    request.body = body
    do throws(TransportError) {
      let response = try await transport.send(request)
      _ = try await response.body.collect(limitBytes: 64 << 10)
      switch response.status {
      case 200...299: return .sent
      case 404, 410: return .tokenEnded("\(response.status)")
      case 401, 403: return .wrongKey("\(response.status) \(subscription.origin)")
      case 429, 500...:
        return .later(
          afterSeconds: response.headers["Retry-After"].flatMap { Int64($0) },
          "\(response.status)")
      default: return .refused("\(response.status)")
      }
    } catch {
      return .later(afterSeconds: nil, error.message)
    }
  }

  private func vapid(_ origin: String) async throws -> String {
    let account = account
    let end = clock.now.milliseconds / 1_000 + 2 * WebPushSender.tokenSeconds - 60
    let text = try await tokens.value(of: origin, now: clock.moment.milliseconds / 1_000) {
      let header = SignedClaims.object { writer in
        writer.field("typ", "JWT")
        writer.field("alg", "ES256")
      }
      let claims = SignedClaims.object { writer in
        writer.field("aud", origin)
        writer.field("exp", end)
        writer.field("sub", account.subject)
      }
      let text = try SignedClaims.token(header: header, claims: claims) {
        bytes throws(CryptoError) in try account.key.signFixed(bytes)
      }
      return (text, WebPushSender.tokenSeconds)
    }
    return "vapid t=\(text), k=\(account.publicKey)"
  }

  /// What the app's service worker gets.
  static func body(_ message: PushMessage) -> [UInt8] {
    SignedClaims.object { writer in
      writer.field("title", message.title)
      writer.field("body", message.alert)
      if let badge = message.badge { writer.field("badge", badge) }
      writer.field("pending", message.pending)
      writer.field("Data", message.data)
    }
  }
}

/// Tokens of VAPID by the origin of the push service.
private actor KeptTokens {
  private var tokens: [String: KeptToken] = [:]

  func value(
    of origin: String, now: Int64, _ make: @Sendable () async throws -> (String, seconds: Int64)
  ) async throws -> String {
    let token = tokens[origin] ?? KeptToken()
    tokens[origin] = token
    return try await token.value(now: now, make)
  }
}

/// Where a browser gets messages, and the keys with which they are encrypted for it.
struct WebPushSubscription {
  struct Fault: Error { let message: String }

  let endpoint: String
  /// Scheme and host of the endpoint.
  let origin: String
  /// The public point of the browser, 65 bytes.
  let key: [UInt8]
  /// The secret of the subscription, 16 bytes.
  let secret: [UInt8]

  /// Reads `{"endpoint": "https://…", "keys": {"p256dh": "…", "auth": "…"}}`.
  static func read(_ text: String, hosts: [String]) -> Result<WebPushSubscription, Fault> {
    guard let node = try? JSONNode.parse(Array(text.utf8)), let endpoint = node["endpoint"]?.string
    else { return .failure(Fault(message: "the subscription is not the JSON of a browser's")) }
    guard let key = node["keys"]?["p256dh"]?.string.flatMap(bytes), key.count == 65,
      let secret = node["keys"]?["auth"]?.string.flatMap(bytes), secret.count == 16
    else { return .failure(Fault(message: "the subscription has no keys p256dh and auth")) }
    let scheme = "https://"
    let host = endpoint.dropFirst(scheme.count).prefix { $0 != "/" }
    guard endpoint.hasPrefix(scheme), endpoint.utf8.count <= 1_024,
      endpoint.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
      !host.contains("@"), !host.contains("?"), !host.contains("#"), !host.contains("\\"),
      hosts.contains(where: { host == $0 || host.hasSuffix(".\($0)") })
    else {
      return .failure(
        Fault(message: "the subscription leads to \(host.prefix(100)), which is no push service"))
    }
    return .success(
      WebPushSubscription(
        endpoint: endpoint, origin: scheme + host, key: key, secret: secret))
  }

  /// A message for the browser in one record of aes128gcm (RFC 8188, RFC 8291).
  func sealed(
    _ message: [UInt8], with own: P256Key, salt: [UInt8]
  ) throws(CryptoError) -> [UInt8] {
    let shared = try own.sharedSecret(with: key)
    let input = SHA256Digest.derive(
      shared, salt: secret, info: Array("WebPush: info\0".utf8) + key + own.point, count: 32)
    let content = SHA256Digest.derive(
      input, salt: salt, info: Array("Content-Encoding: aes128gcm\0".utf8), count: 16)
    let nonce = SHA256Digest.derive(
      input, salt: salt, info: Array("Content-Encoding: nonce\0".utf8), count: 12)
    let size = UInt32(WebPushSender.recordBytes)
    let header: [UInt8] =
      salt + (0..<4).map { UInt8(size >> (24 - 8 * $0) & 0xFF) } + [UInt8(own.point.count)]
      + own.point
    // 2 ends the last record.
    return try header + AESGCM.seal(message + [2], key: content, nonce: nonce)
  }

  private static func bytes(_ text: String) -> [UInt8]? {
    let letters = text.utf8.filter { $0 != UInt8(ascii: "=") }
    var bytes: [UInt8] = []
    var (number, bits) = (0, 0)
    for letter in letters {
      let value: UInt8
      switch letter {
      case 0x41...0x5A: value = letter - 0x41
      case 0x61...0x7A: value = letter - 0x61 + 26
      case 0x30...0x39: value = letter - 0x30 + 52
      case UInt8(ascii: "-"), UInt8(ascii: "+"): value = 62
      case UInt8(ascii: "_"), UInt8(ascii: "/"): value = 63
      default: return nil
      }
      number = number << 6 | Int(value)
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(number >> bits & 0xFF))
        number &= (1 << bits) - 1
      }
    }
    return bytes
  }
}
