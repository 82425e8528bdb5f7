/// Where an app gets the tokens of its company's own login: Entra ID, Keycloak, or another issuer that
/// speaks OpenID Connect.
///
/// Ferry keeps none of them. It sends one with the login, and a newer one with each renewal where the
/// source has one, so that the server knows what the user may do now.
public protocol TokenSource: AnyObject, Sendable {
  /// A token of the issuer for the server, young enough to be sent now.
  ///
  /// With `login` the source may show a page of the issuer. With `renewal` it must not disturb the
  /// user: it throws where it cannot have one silently. The renewal is then tried without it; the
  /// server goes by the newest token that it saw, for at most a day.
  func token(for use: TokenUse) async throws -> String
}

/// What a token of an issuer is wanted for.
public enum TokenUse: Sendable, Hashable { case login, renewal }
