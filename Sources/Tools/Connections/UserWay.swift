/// How a service is asked as the user who made a change.
package enum UserWay: Sendable, Equatable {
  /// A token of the user, got from a service that trusts what we sign.
  case token(TokenWay)
  /// The user's own password, which an operator has sealed.
  case sealedPasswords(file: String, key: Secret)

  var tokenAddress: String? {
    if case .token(let way) = self { way.address } else { nil }
  }
}

/// How a token of a user is got.
package struct TokenWay: Sendable, Equatable {
  /// What the token service is asked for.
  package enum Grant: String, Sendable, CaseIterable {
    /// RFC 8693: what we sign is exchanged.
    case exchange = "tokenExchange"
    /// RFC 7523: what we sign is the grant.
    case bearer = "jwtBearer"
  }

  package let grant: Grant
  package let address: String
  /// Of the private key that signs.
  package let keyFile: String
  package let keyID: String?
  package let issuer: String
  package let audience: String
  package let client: String?
  package let clientSecret: Secret?
  package let scope: String?
  package let resource: String?
}
