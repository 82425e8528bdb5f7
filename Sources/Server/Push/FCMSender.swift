import FerryCrypto
import FerryHTTP
import FerryHTTPClient
import FerryJSON
import FerryWorld

/// Google's push service (FCM v1), with an access token for which an assertion of RS256 is given.
package final class FCMSender: PushSender {
  /// What Google gave for the project: a service account.
  package struct Account: Sendable {
    package let key: RSAKey
    package let email: String
    package let project: String
    package let tokenAddress: String
    package let address: String

    package init(
      key: RSAKey, email: String, project: String,
      tokenAddress: String = "https://oauth2.googleapis.com/token",
      address: String = "https://fcm.googleapis.com"
    ) {
      self.key = key
      self.email = email
      self.project = project
      self.tokenAddress = tokenAddress
      self.address = address
    }
  }

  package let name = "FCM"
  private let account: Account
  private let transport: any Transport
  private let clock: any WorldClock
  private let token = KeptToken()

  package init(_ account: Account, transport: any Transport, clock: any WorldClock) {
    self.account = account
    self.transport = transport
    self.clock = clock
  }

  package func send(_ message: PushMessage, to device: String) async -> PushOutcome {
    guard !device.isEmpty else { return .tokenEnded("the token is empty") }
    var isRetry = false
    while true {
      let token: String
      do { token = try await access() } catch let error as AccessError {
        return error.isTransient
          ? .later(afterSeconds: nil, error.message) : .wrongKey(error.message)
      } catch {
        return .wrongKey("\(error)")
      }
      let answer: (status: Int, reason: String, retry: Int64?)
      do throws(TransportError) { answer = try await post(message, to: device, token) } catch {
        return .later(afterSeconds: nil, error.message)
      }
      switch (answer.status, answer.reason) {
      case (200, _): return .sent
      case (401, _) where !isRetry:
        await self.token.forget(token)
        isRetry = true
      case (401, _): return .wrongKey("\(answer.status) \(answer.reason)")
      case (404, _), (_, "UNREGISTERED"), (403, "SENDER_ID_MISMATCH"):
        return .tokenEnded(answer.reason)
      case (403, _): return .wrongKey("\(answer.status) \(answer.reason)")
      case (429, _), (500..., _): return .later(afterSeconds: answer.retry, answer.reason)
      default: return .refused("\(answer.status) \(answer.reason)")
      }
    }
  }

  private struct AccessError: Error {
    let message: String
    let isTransient: Bool
  }

  private func access() async throws -> String {
    try await token.value(now: clock.moment.milliseconds / 1_000) { [self] in
      try await fetchAccess()
    }
  }

  private func fetchAccess() async throws -> (String, seconds: Int64) {
    let now = clock.now.milliseconds / 1_000
    let header = SignedClaims.object { writer in
      writer.field("alg", "RS256")
      writer.field("typ", "JWT")
    }
    let claims = SignedClaims.object { writer in
      writer.field("iss", account.email)
      writer.field("scope", "https://www.googleapis.com/auth/firebase.messaging")
      writer.field("aud", account.tokenAddress)
      writer.field("iat", now)
      writer.field("exp", now + 3_600)
    }
    let assertion = try SignedClaims.token(header: header, claims: claims) {
      bytes throws(CryptoError) in try account.key.sign(bytes, .sha256)
    }
    var request = TransportRequest(url: account.tokenAddress, method: .post)
    request.headers["Content-Type"] = "application/x-www-form-urlencoded"
    request.body = Array(
      "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)".utf8
    )
    let status: Int
    let body: [UInt8]
    do throws(TransportError) {
      let response = try await transport.send(request)
      status = response.status
      body = try await response.body.collect(limitBytes: 64 << 10)
    } catch { throw AccessError(message: error.message, isTransient: true) }
    let node = try? JSONNode.parse(body)
    guard status == 200, let token = node?["access_token"]?.string else {
      let reason = node?["error_description"]?.string ?? node?["error"]?.string ?? "\(status)"
      throw AccessError(
        message: "no access token: \(reason)", isTransient: status == 429 || status >= 500)
    }
    // A minute before its end it is fetched anew.
    return (token, max(1, (node?["expires_in"]?.integer ?? 3_600) - 60))
  }

  private func post(
    _ message: PushMessage, to device: String, _ token: String
  ) async throws(TransportError) -> (status: Int, reason: String, retry: Int64?) {
    var request = TransportRequest(
      url: "\(account.address)/v1/projects/\(account.project)/messages:send", method: .post)
    request.headers["Authorization"] = "Bearer \(token)"
    request.headers["Content-Type"] = "application/json"
    request.body = FCMSender.body(message, to: device)
    let response = try await transport.send(request)
    let body = try await response.body.collect(limitBytes: 64 << 10)
    let error = (try? JSONNode.parse(body))?["error"]
    let detail = error?["details"]?.array?.compactMap { $0["errorCode"]?.string }.first
    return (
      response.status, detail ?? error?["status"]?.string ?? "",
      response.headers["Retry-After"].flatMap { Int64($0) }
    )
  }

  static func body(_ message: PushMessage, to device: String) -> [UInt8] {
    SignedClaims.object { writer in
      writer.key("message")
      writer.beginObject()
      writer.field("token", device)
      writer.key("data")
      writer.beginObject()
      writer.field("pending", String(message.pending))
      writer.field("Data", message.data)
      writer.endObject()
      if message.alert != nil || message.title != nil {
        writer.key("notification")
        writer.beginObject()
        writer.field("title", message.title)
        writer.field("body", message.alert)
        writer.endObject()
      }
      writer.key("android")
      writer.beginObject()
      writer.field("priority", message.isUrgent ? "HIGH" : "NORMAL")
      writer.field("collapse_key", message.collapse)
      if let lifetime = message.lifetime {
        writer.field("ttl", "\(max(0, lifetime.components.seconds))s")
      }
      writer.endObject()
      writer.endObject()
    }
  }
}
