import FerryJSON
import FerryWire

/// What `POST /ferry/1/login` takes.
package struct LoginRequest: Sendable, Equatable {
  package let user: String
  package let password: String
  /// A token of an issuer, in place of name and password.
  package let token: String?
  /// The package of the device's data; nil: it does not say.
  package let package: String?
  /// An activation code, in place of a password.
  package let code: String?
  /// The public key of the device, which renews the session from then on; nil for devices of before.
  package let key: [UInt8]?
  /// The device's own id, never empty.
  package let device: String

  /// A password that no device sends.
  init(user: String, password: String, device: String) {
    (self.user, self.password, self.device) = (user, password, device)
    token = nil
    package = nil
    code = nil
    key = nil
  }

  /// Nil where the body is none, or has a name or an id that is too long.
  package init?(_ body: [UInt8]) {
    guard let node = try? JSONNode.parse(body), let device = node.deviceID,
      !device.isEmpty, node.isShort("user", WireLimits.nameBytes),
      node.isShort("package", WireLimits.nameBytes), node.isShort("code", WireLimits.idBytes)
    else { return nil }
    token = node["token"]?.string
    code = node["code"]?.string
    key = TokenProof.key(node)
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
package struct RenewalRequest: Sendable, Equatable {
  package let refreshToken: String
  /// A newer token of the issuer, where one let the user in.
  package let token: String?
  package let device: String
  /// That the device has the key of the session.
  package let proof: TokenProof?

  /// Nil where the body is none.
  package init?(_ body: [UInt8]) {
    guard let node = try? JSONNode.parse(body),
      let token = node["refreshToken"]?.string, let device = node.deviceID
    else { return nil }
    refreshToken = token
    self.token = node["token"]?.string
    self.device = device
    proof = TokenProof(node)
  }
}

/// What `POST /ferry/1/logout` takes.
package struct LogoutRequest: Sendable, Equatable {
  package let refreshToken: String
  package let device: String
  /// The device leaves the register, too.
  package let isUnregistering: Bool

  /// Nil where the body is none.
  package init?(_ body: [UInt8]) {
    guard let node = try? JSONNode.parse(body), let token = node["refreshToken"]?.string,
      let device = node.deviceID
    else { return nil }
    refreshToken = token
    self.device = device
    isUnregistering = node["unregister"]?.boolean ?? false
  }
}

extension JSONNode {
  /// The member `device`; nil where there is none, and where it is longer than an id.
  var deviceID: String? {
    guard let id = self["device"]?.string, id.utf8.count <= WireLimits.idBytes else { return nil }
    return id
  }

  /// Whether a text is within its bound, or not there.
  func isShort(_ member: String, _ bytes: Int) -> Bool {
    (self[member]?.string?.utf8.count ?? 0) <= bytes
  }
}
