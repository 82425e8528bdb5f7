import FerryJSON

/// What `POST /ferry/1/login` takes.
public struct LoginRequest: Sendable, Equatable {
  public let user: String
  public let password: String
  /// A token of an issuer, in place of name and password.
  public let token: String?
  /// The package of the device's data; nil: it does not say.
  public let package: String?
  /// An activation code, in place of a password.
  public let code: String?
  /// The device's own id, never empty.
  public let device: String

  /// Nil where the body is none.
  public init?(_ body: [UInt8]) {
    guard let node = try? JSONNode.parse(body), let device = node["device"]?.string,
      !device.isEmpty
    else { return nil }
    token = node["token"]?.string
    code = node["code"]?.string
    package = node["package"]?.string
    let secret = code ?? node["password"]?.string
    guard token != nil || node["user"]?.string != nil && secret != nil else {
      return nil
    }
    user = node["user"]?.string ?? ""
    password = node["password"]?.string ?? ""
    self.device = device
  }
}

/// What `POST /ferry/1/token` takes.
public struct RenewalRequest: Sendable, Equatable {
  public let refreshToken: String
  /// A newer token of the issuer, where one let the user in.
  public let token: String?
  public let device: String

  /// Nil where the body is none.
  public init?(_ body: [UInt8]) {
    guard let node = try? JSONNode.parse(body),
      let token = node["refreshToken"]?.string, let device = node["device"]?.string
    else { return nil }
    refreshToken = token
    self.token = node["token"]?.string
    self.device = device
  }
}

/// What `POST /ferry/1/logout` takes.
public struct LogoutRequest: Sendable, Equatable {
  public let refreshToken: String
  public let device: String
  /// The device leaves the register, too.
  public let isUnregistering: Bool

  /// Nil where the body is none.
  public init?(_ body: [UInt8]) {
    guard let node = try? JSONNode.parse(body), let token = node["refreshToken"]?.string,
      let device = node["device"]?.string
    else { return nil }
    refreshToken = token
    self.device = device
    isUnregistering = node["unregister"]?.boolean ?? false
  }
}
