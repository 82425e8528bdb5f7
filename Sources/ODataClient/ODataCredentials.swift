import FerryHTTP
import FerryOData

/// What proves to a service who is there.
public enum ODataCredentials: Sendable, Equatable {
  case basic(user: String, password: String)
  case bearer(String)
  /// Another scheme, as `Authorization: <scheme> <value>`.
  case other(scheme: String, value: String)

  /// The value of `Authorization`.
  var header: String {
    switch self {
    case .basic(let user, let password): "Basic " + Base64.text(Array("\(user):\(password)".utf8))
    case .bearer(let token): "Bearer \(token)"
    case .other(let scheme, let value): "\(scheme) \(value)"
    }
  }

  /// The scheme's name, as a challenge names it.
  var scheme: String {
    switch self {
    case .basic: "Basic"
    case .bearer: "Bearer"
    case .other(let scheme, _): scheme
    }
  }

  var user: String { if case .basic(let user, _) = self { user } else { "" } }
}

/// A question for credentials, as a 401 asks it.
public struct ODataCredentialQuestion: Sendable, Equatable {
  /// Scheme, host and port of who asks.
  public let origin: String
  /// Empty where the service names none.
  public let realm: String
  /// The user of the last credentials of this run; empty at the first question.
  public let lastUser: String
  /// All ways that the service offers, in its order.
  public let challenges: [HTTPChallenge]
  /// Counted from 1; there are at most three.
  public let attempt: Int
}

/// Answers questions for credentials: a form that the user fills, or a safe that has them.
public protocol ODataCredentialSource: Sendable {
  /// The credentials to try; nil lets the 401 through to the caller. It may wait as long as it
  /// likes; the request waits with it.
  func credentials(for question: ODataCredentialQuestion) async -> ODataCredentials?
}
