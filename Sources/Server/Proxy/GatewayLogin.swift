import FerryHTTP

/// What a caller sends to prove who it is.
package enum GatewayProof: Sendable, Equatable {
  case password(user: String, password: String)
  /// Of an issuer.
  case token(String)
  /// DER. Its key was proved, here or at a trusted proxy, and nobody has judged who issued it.
  case certificate([UInt8])
}

/// A caller who wants to come in.
package struct GatewayAttempt: Sendable {
  package let proof: GatewayProof
  /// Of the request; some say which security configuration is meant.
  package let headers: HTTPHeaders
  /// The service's name: roles are those for it.
  package let service: String
  /// Where the caller is, as far as trusted proxies say.
  package let address: String
}

/// Who a caller is, as those say who know passwords.
package enum GatewayLogin: Sendable, Equatable {
  case user(GatewayUser)
  /// Name or password is wrong.
  case refused
  /// Too many wrong passwords, or too many who wait.
  case later(seconds: Int64)
  /// Nobody can be asked: a directory or an issuer is away.
  case away(seconds: Int64)
}

/// A caller whose name is known.
package struct GatewayUser: Sendable, Equatable {
  package let name: String
  package let roles: [String]

  package init(name: String, roles: [String] = []) {
    self.name = name
    self.roles = roles
  }
}

/// Whether callers have to show a certificate of their own, over TLS or through a trusted proxy.
package struct GatewayCertificates: Sendable {
  /// Why a certificate is not good; nil: it is. At once, and from any thread.
  package typealias Judge = @Sendable (_ der: [UInt8]) -> String?

  let judge: Judge
  /// Nil: nobody has to. Empty: everybody.
  let requiredFrom: Set<String>?
  /// Whether trusted proxies say in `SSL_CLIENT_CERT` which certificate their client has shown.
  let comeThroughProxies: Bool

  package init(
    requiredFrom: Set<String>? = nil, comeThroughProxies: Bool = false, judge: @escaping Judge
  ) {
    self.judge = judge
    self.requiredFrom = requiredFrom
    self.comeThroughProxies = comeThroughProxies
  }

  func areRequired(from address: String) -> Bool {
    requiredFrom.map { $0.isEmpty || $0.contains(address) } ?? false
  }
}
