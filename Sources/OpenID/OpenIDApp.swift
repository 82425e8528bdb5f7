/// What the issuer knows of an app. It has no secret: an app cannot keep one.
public struct OpenIDApp: Sendable, Equatable {
  /// Which of an issuer's tokens a Ferry server takes.
  public enum Token: Sendable, Hashable {
    /// The one for an API; its audience is the server.
    case access
    /// The one about the user; its audience is the app, so `ferryd --audience` names the app.
    case identity
  }

  /// The name of the app at the issuer.
  public var clientID: String
  /// What the app asks for. `openid` must be in it; `offline_access` gives renewals without a page.
  /// An API of Entra ID is asked for by its own scope, such as `api://ferry/access`.
  public var scopes: [String]
  /// Which token is sent to the server; the one for an API by default.
  public var token: Token
  /// Further fields of the login page's address, such as `domain_hint`.
  public var parameters: [String: String] = [:]

  public init(
    clientID: String, scopes: [String] = ["openid", "offline_access"], token: Token = .access
  ) {
    self.clientID = clientID
    self.scopes = scopes
    self.token = token
  }
}
