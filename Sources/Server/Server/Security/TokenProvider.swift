import FerryWorld

/// Lets users in by the signed tokens of an issuer.
package protocol TokenProvider: Sendable {
  /// Nil where the token is of another issuer. Throws `refusedToken` and `issuerAway`.
  func login(token: String, now: Timestamp) async throws(ServerError) -> TokenLogin?
}

/// What a good token says.
package struct TokenLogin: Sendable, Equatable {
  package let record: UserRecord
  /// When the issuer gave the token.
  package let issued: Timestamp

  package init(record: UserRecord, issued: Timestamp) {
    self.record = record
    self.issued = issued
  }

  /// The name of an issuer's user here: no user of a user file has such a name.
  package static func user(issuer: String, identity: String) -> String { "\(issuer)|\(identity)" }
}

/// Issuers in one order: the one that gave a token judges it.
package struct TokenProviders: TokenProvider {
  private let providers: [any TokenProvider]

  package init(_ providers: [any TokenProvider]) { self.providers = providers }

  package func login(token: String, now: Timestamp) async throws(ServerError) -> TokenLogin? {
    for provider in providers {
      if let login = try await provider.login(token: token, now: now) { return login }
    }
    return nil
  }
}
