/// Who a caller is, as those say who know passwords.
public enum GatewayLogin: Sendable, Equatable {
  case user(GatewayUser)
  /// Name or password is wrong.
  case refused
  /// Too many wrong passwords, or too many who wait.
  case later(seconds: Int64)
}

/// A caller whose name is known.
public struct GatewayUser: Sendable, Equatable {
  public let name: String
  public let roles: [String]

  public init(name: String, roles: [String] = []) {
    self.name = name
    self.roles = roles
  }
}
