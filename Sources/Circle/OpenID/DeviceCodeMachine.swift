import FerryJSON
import FerryWorld

/// When a device asks whether its user has logged in elsewhere (RFC 8628, 3.4 and 3.5): decided apart
/// from who asks.
struct DeviceCodeMachine {
  /// What the issuer said to the last question.
  enum Answer: Equatable {
    case pending
    case slowDown
    /// It did not answer.
    case away
  }

  private(set) var wait: Duration
  private let end: Timestamp

  /// `interval` in seconds as the issuer gave it; 5 without one. Never less than one second.
  init(interval: Int64?, end: Timestamp) {
    wait = .seconds(min(max(interval ?? 5, 1), 60))
    self.end = end
  }

  /// How long to wait before the next question; nil: the code has ended.
  mutating func next(after answer: Answer?, now: Timestamp) -> Duration? {
    switch answer {
    case .slowDown: wait = min(wait + .seconds(5), .seconds(300))
    case .away: wait = min(wait * 2, .seconds(60))
    case .pending, nil: break
    }
    assert(wait >= .seconds(1), "the issuer is asked without a pause")
    return now < end ? wait : nil
  }
}

/// The issuer's answer to a device that asks for a code.
struct DeviceCodeAnswer {
  let deviceCode: String
  let userCode: String
  let address: String
  let wholeAddress: String?
  let validSeconds: Int64
  let interval: Int64?

  /// Errors: `badDocument`.
  init(_ bytes: [UInt8], from address: String) throws(OpenIDError) {
    guard let root = try? JSONNode.parse(bytes, nodeLimit: 1_000),
      let device = root["device_code"]?.string, let user = root["user_code"]?.string,
      // Google's first version wrote `verification_url`.
      let page = (root["verification_uri"] ?? root["verification_url"])?.string,
      page.hasPrefix("https://"), !user.isEmpty
    else { throw OpenIDError.badDocument("\(address) gave no code for a device") }
    deviceCode = device
    userCode = OpenIDError.short(user)
    self.address = OpenIDError.short(page)
    wholeAddress = root["verification_uri_complete"]?.string.map(OpenIDError.short)
    validSeconds = min(max(root["expires_in"]?.integer ?? 600, 1), 3_600)
    interval = root["interval"]?.integer
  }
}
