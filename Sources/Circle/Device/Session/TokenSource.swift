/// Gives the tokens of the company's own login: Entra ID, Keycloak, or another issuer of OpenID
/// Connect.
///
/// Ferry stores none of them. It sends one with the login, and with each renewal a newer one if the
/// source has it, so that the server knows the user's present rights.
public protocol TokenSource: AnyObject, Sendable {
  /// A token of the issuer for the server, young enough to be sent now.
  ///
  /// With `login` the source may show a page of the issuer. With `renewal` it must not disturb the
  /// user: it throws where it cannot have one silently. The renewal is then tried without it; the
  /// server goes by the newest token that it saw, for at most a day.
  func token(for use: TokenUse) async throws -> String
}

/// The purpose of a token.
public enum TokenUse: Sendable, Hashable {
  /// The app signs a user in.
  case login
  /// The device is signed in, and its session needs a new token; nobody is at the screen.
  case renewal
}
