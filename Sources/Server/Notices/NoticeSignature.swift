import FerryCrypto
import FerryHTTP
import FerryModel

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
      guard given.hasPrefix("sha256="), let wanted = bytes(hex: String(given.dropFirst(7))) else {
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

  private static func bytes(hex: String) -> [UInt8]? {
    let digits = hex.utf8.compactMap { digit -> UInt8? in
      switch digit {
      case 0x30...0x39: digit - 0x30
      case 0x41...0x46, 0x61...0x66: (digit | 0x20) - 0x57
      default: nil
      }
    }
    guard digits.count == 64, hex.utf8.count == 64 else { return nil }
    return stride(from: 0, to: 64, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }
}
