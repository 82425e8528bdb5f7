import FerryHTTPClient

/// How a service is reached, and as whom.
package struct ServiceSettings: Sendable, Equatable {
  /// The technical user; nil: the service answers without a login.
  package var credentials: TechnicalCredentials?
  /// How changes are sent as the user who made them; nil: as the technical user.
  package var users: UserWay?
  /// The file of the mapping of a REST service; nil: the one beside the model.
  package var mapping: String?
  package var trust: TransportOptions.Trust = .system
  package var certificate: ClientCertificate?
  package var proxy: TransportOptions.Proxy = .system
  package var requests: Int = 6
  package var deadlines = TransportDeadlines(
    connect: .seconds(10), total: .seconds(600), idle: .seconds(60))
  /// Nil where nothing was said: 120 s, or what a mapping says.
  package var late: Duration?

  package init() {}

  /// A file of PKCS#12, and its password.
  package struct ClientCertificate: Sendable, Equatable {
    package let file: String
    package let password: Secret?
  }

  /// Throws where the file of the client certificate cannot be read.
  func transport() throws(ConnectionsError) -> any Transport {
    var options = TransportOptions(trust: trust)
    options.proxy = proxy
    options.connectionsPerHost = requests
    if let certificate {
      let bytes = try SecretFile.read(certificate.file, "the client certificate")
      options.identity = ClientIdentity(
        pkcs12: bytes, password: try certificate.password?.read() ?? "")
    }
    return SystemTransport.make(options)
  }
}

/// What the technical user logs in with.
package enum TechnicalCredentials: Sendable, Equatable {
  case password(user: String, Secret)
  case token(Secret)
  /// A key in a header of its own.
  case header(name: String, Secret)
  /// OAuth 2 with client credentials.
  case client(ClientGrant)
}
