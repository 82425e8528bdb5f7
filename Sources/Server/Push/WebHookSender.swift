import FerryCrypto
import FerryHTTP
import FerryHTTPClient
import FerryJSON
import FerryWorld

/// Tells an address of the company that something waits, signed by a secret that both know.
///
/// `X-Ferry-Signature: t=<seconds>,v1=<digits>`: HMAC with SHA-256 of `<seconds>.<body>`. Who checks it
/// refuses old times, so that nothing is played again.
package struct WebHookSender: PushSender {
  package let name = "web hook"
  private let address: String
  private let secret: [UInt8]
  private let transport: any Transport
  private let clock: any WorldClock

  package init(
    address: String, secret: [UInt8], transport: any Transport, clock: any WorldClock
  ) {
    self.address = address
    self.secret = secret
    self.transport = transport
    self.clock = clock
  }

  /// `token`: the id of the connection.
  package func send(_ message: PushMessage, to token: String) async -> PushOutcome {
    let body = SignedClaims.object { writer in
      writer.field("connection", token)
      writer.field("pending", message.pending)
      writer.field("title", message.title)
      writer.field("alert", message.alert)
    }
    let seconds = clock.now.milliseconds / 1_000
    let signed = Array("\(seconds).".utf8) + body
    var request = TransportRequest(url: address, method: .post)
    request.headers["Content-Type"] = "application/json"
    request.headers["X-Ferry-Signature"] =
      "t=\(seconds),v1=\(hexadecimal(SHA256Digest.authenticate(signed, key: secret)))"
    request.body = body
    do throws(TransportError) {
      let response = try await transport.send(request)
      _ = try await response.body.collect(limitBytes: 64 << 10)
      switch response.status {
      case 200...299: return .sent
      case 410: return .tokenEnded("\(response.status)")
      case 401, 403: return .wrongKey("\(response.status)")
      case 429, 500...:
        let retry = response.headers["Retry-After"].flatMap { Int64($0) }
        return .later(afterSeconds: retry, "\(response.status)")
      default: return .refused("\(response.status)")
      }
    } catch {
      return .later(afterSeconds: nil, error.message)
    }
  }
}
