/// How a service is asked as the user who made a change.
public enum UserWay: Sendable, Equatable {
  /// A token of the user, got from a service that trusts what we sign.
  case token(TokenWay)
  /// The user's own password, which an operator has sealed.
  case sealedPasswords(file: String, key: Secret)

  var tokenAddress: String? {
    if case .token(let way) = self { way.address } else { nil }
  }
}

/// How a token of a user is got.
public struct TokenWay: Sendable, Equatable {
  /// What the token service is asked for.
  public enum Grant: String, Sendable, CaseIterable {
    /// RFC 8693: what we sign is exchanged.
    case exchange = "tokenExchange"
    /// RFC 7523: what we sign is the grant.
    case bearer = "jwtBearer"
  }

  public let grant: Grant
  public let address: String
  /// Of the private key that signs.
  public let keyFile: String
  public let keyID: String?
  public let issuer: String
  public let audience: String
  public let client: String?
  public let clientSecret: Secret?
  public let scope: String?
  public let resource: String?
}
