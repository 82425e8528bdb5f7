/// The registration of an app at the issuer. It has no secret: an app cannot keep one.
public struct OpenIDApp: Sendable, Equatable {
  /// Which token of the issuer is sent to the Ferry server.
  public enum Token: Sendable, Hashable {
    /// The access token, for an API; its audience is the server.
    case access
    /// The identity token, about the user; its audience is the app, so `ferryd --audience` names
    /// the app.
    case identity
  }

  /// The app's client id at the issuer.
  public var clientID: String
  /// The scopes that the app asks for. `openid` must be one of them; `offline_access` allows
  /// renewals without a page. For an API of Entra ID use its own scope, such as
  /// `api://ferry/access`.
  public var scopes: [String]
  /// Which token is sent to the server; the access token by default.
  public var token: Token
  /// Further query fields for the login page, such as `domain_hint`.
  public var parameters: [String: String] = [:]

  public init(
    clientID: String, scopes: [String] = ["openid", "offline_access"], token: Token = .access
  ) {
    self.clientID = clientID
    self.scopes = scopes
    self.token = token
  }
}
