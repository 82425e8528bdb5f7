import FerryCrypto
import FerryHTTP
import FerryModel
import FerryText

/// Looks at the signature of a body: `X-Hub-Signature-256`, or the headers of Standard Webhooks.
enum NoticeSignature {
  /// How far the time of a signed request may be from ours.
  static let toleranceSeconds: Int64 = 300

  /// Whether a request says that it is signed.
  static func isSigned(_ request: HTTPRequest) -> Bool {
    request.headers["X-Hub-Signature-256"] != nil || request.headers["Webhook-Signature"] != nil
  }

  enum Finding {
    case good(NoticeSenders.Sender, id: String?)
    /// A sentence without its end.
    case bad(String)
  }

  /// `now`: seconds since 1970.
  static func check(
    _ request: HTTPRequest, _ body: [UInt8], _ senders: [NoticeSenders.Sender], now: Int64
  ) -> Finding {
    if let given = request.headers["X-Hub-Signature-256"] {
      guard given.hasPrefix("sha256="), let wanted = Hexadecimal.decode(given.dropFirst(7)) else {
        return .bad("the signature is not sha256= with 64 hexadecimal digits")
      }
      let found = senders.first { sender in
        sender.secret.map { equalInConstantTime(SHA256Digest.authenticate(body, key: $0), wanted) }
          ?? false
      }
      return found.map { .good($0, id: request.headers["X-GitHub-Delivery"]) }
        ?? .bad("the signature is of no sender of this package")
    }
    guard let id = request.headers["Webhook-Id"], let time = request.headers["Webhook-Timestamp"],
      let seconds = Int64(time), let given = request.headers["Webhook-Signature"]
    else { return .bad("Webhook-Id, Webhook-Timestamp or Webhook-Signature is missing") }
    guard abs(now.subtractingReportingOverflow(seconds).partialValue) <= toleranceSeconds,
      !now.subtractingReportingOverflow(seconds).overflow
    else { return .bad("the request is not of the last five minutes; check the clocks") }
    let signed = Array("\(id).\(time).".utf8) + body
    let signatures = given.split(separator: " ").filter { $0.hasPrefix("v1,") }
      .compactMap { Base64.decode(String($0.dropFirst(3))) }
    let found = senders.first { sender in
      guard let secret = sender.secret else { return false }
      let own = SHA256Digest.authenticate(signed, key: secret)
      return signatures.contains { equalInConstantTime($0, own) }
    }
    return found.map { .good($0, id: id) } ?? .bad("the signature is of no sender of this package")
  }
}
