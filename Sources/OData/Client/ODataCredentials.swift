import FerryHTTP
import FerryOData
import FerryText

/// How a user signs in to a service.
public enum ODataCredentials: Sendable, Equatable {
  /// A name and a password, sent as `Authorization: Basic`.
  case basic(user: String, password: String)
  /// A token, such as one of OAuth 2.0, sent as `Authorization: Bearer`.
  case bearer(String)
  /// A token of single sign-on, sent as a cookie of this name.
  case cookie(name: String, value: String)
  /// Another scheme, as `Authorization: <scheme> <value>`.
  case other(scheme: String, value: String)

  /// A certificate in Base64 in place of a password, as the reference's servers take it.
  public static func certificate(user: String, base64: String) -> ODataCredentials {
    .basic(user: user, password: base64)
  }

  /// The value of `Authorization`; nil for a cookie.
  var header: String? {
    switch self {
    case .basic(let user, let password): "Basic " + Base64.encode(Array("\(user):\(password)".utf8))
    case .bearer(let token): "Bearer \(token)"
    case .cookie: nil
    case .other(let scheme, let value): "\(scheme) \(value)"
    }
  }

  /// Whether a challenge asks for these; a cookie fits any.
  func fits(_ challenges: [HTTPChallenge]) -> Bool {
    switch self {
    case .basic: challenges.contains { $0.isScheme("Basic") }
    case .bearer: challenges.contains { $0.isScheme("Bearer") }
    case .cookie: true
    case .other(let scheme, _): challenges.contains { $0.isScheme(scheme) }
    }
  }

  var user: String { if case .basic(let user, _) = self { user } else { "" } }

  /// Whether they may be kept: what a header cannot carry is never sent.
  var isSendable: Bool {
    let texts: [String] =
      switch self {
      case .basic(let user, _): user.contains(":") ? ["\n"] : []
      case .bearer(let token): [token]
      case .cookie(let name, let value): [name, value]
      case .other(let scheme, let value): [scheme, value]
      }
    return !texts.contains { $0.utf8.contains { $0 == 10 || $0 == 13 || $0 == 0 } }
  }
}

/// The part of a server, or of a proxy, that credentials are for.
public struct ODataProtectionSpace: Sendable, Hashable {
  /// In lower case; for a proxy, empty where the session does not know its name.
  public let host: String
  /// Such as 443; part of what tells two spaces apart.
  public let port: Int
  /// `http` or `https`.
  public let scheme: String
  /// Empty where the server names none.
  public let realm: String
  /// Whether a proxy asks, and not the service.
  public let isProxy: Bool

  /// Of a service unless `isProxy` is set.
  public init(host: String, port: Int, scheme: String, realm: String, isProxy: Bool = false) {
    self.host = host
    self.port = port
    self.scheme = scheme
    self.realm = realm
    self.isProxy = isProxy
  }
}

/// A question for credentials, as a 401 or a proxy's 407 asks it.
public struct ODataCredentialQuestion: Sendable, Equatable {
  /// Who asks.
  public let space: ODataProtectionSpace
  /// The user of the last credentials of this run; empty at the first question.
  public let lastUser: String
  /// All ways that the service offers, in its order.
  public let challenges: [HTTPChallenge]
  /// Counted from 1; there are at most three.
  public let attempt: Int

  /// Scheme, host and port of who asks.
  public var origin: String { "\(space.scheme)://\(space.host):\(space.port)" }
  /// Empty where the service names none.
  public var realm: String { space.realm }
}

/// Answers questions for credentials: a form that the user fills, or a safe that has them.
public protocol ODataCredentialSource: Sendable {
  /// The credentials to try; nil lets the 401 through to the caller. It may wait as long as it
  /// likes; the request waits with it.
  func credentials(for question: ODataCredentialQuestion) async -> ODataCredentials?
}

/// Keeps credentials for the next start of an app: the system's keychain, or a vault.
///
/// A session asks it at a challenge before `ODataCredentialSource`, and gives it what a service
/// has accepted. What is refused later is removed.
public protocol ODataCredentialStore: Sendable {
  /// What was kept for exactly this space; nil if nothing.
  func credentials(for space: ODataProtectionSpace) async -> ODataCredentials?
  /// Keeps credentials in place of earlier ones.
  func keep(_ credentials: ODataCredentials, for space: ODataProtectionSpace) async
  /// Forgets those of a space.
  func remove(_ space: ODataProtectionSpace) async
}
