import FerryJSON

/// What the server answers to `login` and to `token`.
public struct LoginAnswer: Sendable, Equatable {
  public let accessToken: String
  public let refreshToken: String
  /// Seconds that the access token is good for. Whatever stands at the address may say any number.
  public let expiresIn: Int64
  public let user: String
  /// Seconds until the user has to log in again, however often the session is renewed.
  public var sessionExpiresIn: Int64?
  /// Seconds that the device may go without the server before it closes its data; nil: for ever.
  public var lease: Int64?

  public init(accessToken: String, refreshToken: String, expiresIn: Int64, user: String) {
    self.accessToken = accessToken
    self.refreshToken = refreshToken
    self.expiresIn = expiresIn
    self.user = user
  }

  /// Nil where the body is none.
  public init?(_ body: [UInt8]) {
    guard let node = try? JSONNode.parse(body), let access = node["accessToken"]?.string,
      let refresh = node["refreshToken"]?.string, let seconds = node["expiresIn"]?.integer,
      let user = node["user"]?.string
    else { return nil }
    self.init(accessToken: access, refreshToken: refresh, expiresIn: seconds, user: user)
    sessionExpiresIn = node["sessionExpiresIn"]?.integer
    lease = node["lease"]?.integer
  }

  /// The body of the answer.
  public func encoded() -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("accessToken", accessToken)
    writer.field("refreshToken", refreshToken)
    writer.field("expiresIn", expiresIn)
    writer.field("user", user)
    if let sessionExpiresIn { writer.field("sessionExpiresIn", sessionExpiresIn) }
    if let lease { writer.field("lease", lease) }
    writer.endObject()
    return writer.bytes
  }
}
