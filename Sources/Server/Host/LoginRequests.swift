import FerryJSON

/// What `POST /ferry/1/login` takes.
public struct LoginRequest: Sendable, Equatable {
  public let user: String
  public let password: String
  /// The device's own id, never empty.
  public let device: String

  /// Nil where the body is none.
  public init?(_ body: [UInt8]) {
    guard let node = try? JSONNode.parse(body), let user = node["user"]?.string,
      let password = node["password"]?.string, let device = node["device"]?.string, !device.isEmpty
    else { return nil }
    self.user = user
    self.password = password
    self.device = device
  }
}

/// What `POST /ferry/1/token` takes.
public struct RenewalRequest: Sendable, Equatable {
  public let refreshToken: String
  public let device: String

  /// Nil where the body is none.
  public init?(_ body: [UInt8]) {
    guard let node = try? JSONNode.parse(body),
      let token = node["refreshToken"]?.string, let device = node["device"]?.string
    else { return nil }
    refreshToken = token
    self.device = device
  }
}
