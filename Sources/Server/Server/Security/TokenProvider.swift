public import FerryWorld

/// Lets users in by the signed tokens of an issuer.
public protocol TokenProvider: Sendable {
  /// Nil where the token is of another issuer. Throws `refusedToken` and `issuerAway`.
  func login(token: String, now: Timestamp) async throws(ServerError) -> TokenLogin?
}

/// What a good token says.
public struct TokenLogin: Sendable, Equatable {
  public let record: UserRecord
  /// When the issuer gave the token.
  public let issued: Timestamp

  public init(record: UserRecord, issued: Timestamp) {
    self.record = record
    self.issued = issued
  }

  /// The name of an issuer's user here: no user of a user file has such a name.
  public static func user(issuer: String, identity: String) -> String { "\(issuer)|\(identity)" }
}

/// Issuers in one order: the one that gave a token judges it.
public struct TokenProviders: TokenProvider {
  private let providers: [any TokenProvider]

  public init(_ providers: [any TokenProvider]) { self.providers = providers }

  public func login(token: String, now: Timestamp) async throws(ServerError) -> TokenLogin? {
    for provider in providers {
      if let login = try await provider.login(token: token, now: now) { return login }
    }
    return nil
  }
}
