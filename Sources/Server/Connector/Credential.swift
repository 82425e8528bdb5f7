import FerryModel
import FerryText
import FerryWorld

/// What a request carries so that the business system knows who asks.
public struct Credential: Sendable, Equatable {
  /// How it travels.
  public enum Kind: Sendable, Equatable {
    case password(user: String, password: String)
    /// An access token, for `Authorization: Bearer`.
    case bearer(String)
    /// The value of a `Cookie` header of a single sign-on.
    case cookie(String)
    /// A client certificate with its chain, and its key, both PEM.
    case certificate(chain: String, key: String)
    /// An assertion in a header of its own.
    case header(name: String, value: String)
  }

  public let kind: Kind
  /// The moment of `WorldClock.moment` from which on it is of no use; nil where nobody knows.
  public let expires: Timestamp?

  public init(_ kind: Kind, expires: Timestamp? = nil) {
    self.kind = kind
    self.expires = expires
  }

  /// The field of a request that carries it. Throws for a certificate, which no field carries.
  package func header() throws(ConnectorError) -> (name: String, value: String) {
    switch kind {
    case .password(let user, let password):
      ("Authorization", "Basic " + Base64.encode(Array("\(user):\(password)".utf8)))
    case .bearer(let token): ("Authorization", "Bearer \(token)")
    case .cookie(let cookie): ("Cookie", cookie)
    case .header(let name, let value): (name, value)
    case .certificate:
      throw ConnectorError(
        "Client certificates are not supported for this connection",
        hint: "Use a password or a token.", isTransient: false)
    }
  }
}

/// Gives credentials for a business system. Several threads ask one source at a time; it may block.
public protocol CredentialSource: Sendable {
  /// What requests of this user carry; of the technical user where `user` is nil. Nil where there is
  /// none: an operation of that user then waits (`PerformResult.waits`), and it is never sent as
  /// another user.
  ///
  /// `rejected`: what the source gave before and the business system did not accept; a source gives
  /// another one or nil. Throws where it cannot be asked at present.
  func credential(
    for user: String?, insteadOf rejected: Credential?
  ) throws(ConnectorError) -> Credential?
}

extension CredentialSource {
  public func credential(for user: String?) throws(ConnectorError) -> Credential? {
    try credential(for: user, insteadOf: nil)
  }
}

/// What an operation waits for that others must bring.
public enum AwaitedThing: Sendable, Hashable {
  /// A credential of this user, with which the business system lets the user in.
  case credential(String)
}
