/// Which application of which server an app registers with, and who its user is.
public struct RegistrationProfile: Sendable, Equatable {
  /// The address of the server, such as `https://gate.example.com`.
  public var server: String
  /// The id of the application, such as `com.example.flights`.
  public var application: String
  /// Nil for an application that asks nobody to log in.
  public var credentials: Credentials?
  /// Which security configuration of the server verifies the user; nil: the first of the domain.
  public var securityConfiguration: String?
  /// In which domain of the server the configuration is; nil: that of the server's first one.
  public var domain: String?
  /// What the administrator gave for the registration; nil: name and password are enough.
  public var activationCode: String?
  /// The id that the connection shall have; nil: one is made.
  ///
  /// The id of a synchronized database makes its device and the connection one.
  public var connectionID: String?
  /// How long a call may take until its answer begins; `payloads` waits for as long as it takes.
  public var patience: Duration = .seconds(60)

  /// Name and password of a user.
  public struct Credentials: Sendable, Equatable {
    public var user: String
    public var password: String

    public init(user: String, password: String) {
      self.user = user
      self.password = password
    }
  }

  public init(server: String, application: String, credentials: Credentials? = nil) {
    self.server = server
    self.application = application
    self.credentials = credentials
  }

  /// With the parts of an address, as administrators give them.
  ///
  /// `port`: nil: that of the scheme. `isSecure`: `https`, else `http`. `relay`: the path at which a
  /// relay or a reverse proxy forwards to the server, such as `/ias_relay_server/client/rs_client.dll`.
  /// `farm`: the last part of that path, which names the server.
  public init(
    host: String, port: Int? = nil, isSecure: Bool = true, relay: String? = nil,
    farm: String? = nil, application: String, credentials: Credentials? = nil
  ) {
    var address = isSecure ? "https://" : "http://"
    address += host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
    if let port { address += ":\(port)" }
    for path in [relay, farm].compactMap({ $0 }) {
      for part in path.split(separator: "/") { address += "/\(part)" }
    }
    self.init(server: address, application: application, credentials: credentials)
  }

  /// The address of the server with a slash at its end.
  var root: String { server.hasSuffix("/") ? server : server + "/" }

  var connections: String { "\(root)odata/applications/v1/\(application)/Connections" }
}
