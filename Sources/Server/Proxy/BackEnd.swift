import FerryHTTP
import FerryHTTPClient

/// A service of the company behind the door, as the file names it. Nothing else can be reached.
package struct BackEnd: Sendable, Equatable {
  /// The first part of the path at the door, such as `flights`.
  package let name: String
  /// Where the service is, with its path, which ends with a slash.
  package let address: String
  /// Paths below the address that may be asked for; empty: all.
  package let paths: [String]
  /// Paths below the address for which nobody has to log in.
  package let publicPaths: [String]
  /// How Ferry proves to the service who asks.
  package let credentials: Credentials
  /// Roles of which a user needs one; nil: every user may come.
  package let roles: Set<String>?
  /// Whether nobody has to log in.
  package let isOpenToAll: Bool
  /// The header in which the service gets the user's name; nil: it does not.
  package let userHeader: String?
  package let rewritesLinks: Bool
  package let limits: Limits
  let options: TransportOptions

  /// Who is named to the service.
  package enum Credentials: Sendable, Equatable {
    /// Nobody: the service looks at the network only.
    case none
    /// One user for all.
    case technical(authorization: String)
    /// What the caller sent.
    case own
    /// The cookie of this name that the caller sent: that of a single sign-on of the company.
    case cookie(String)
  }

  /// What one request may take, each with its reason.
  package struct Limits: Sendable, Equatable {
    /// Bytes of one upload; more is answered 413. A film of a site visit has some hundred MB.
    package var uploadBytes: Int = 1 << 30
    /// Requests under way to the service: its threads are counted.
    package var connections: Int = 25
    /// Those of one caller; a further one is answered 429. Nil: a third, so that nobody's slow
    /// downloads are in the way of others.
    package var connectionsPerUser: Int?
    /// Until one of the connections is free; then 503.
    package var turn: Duration = .seconds(20)
    /// Until the connection is open: inside a company's network it opens at once, or never.
    package var connect: Duration = .seconds(5)
    /// Between two bytes, and until the answer begins: reports of a business system are slow.
    package var idle: Duration = .seconds(60)

    package init() {}

    var connectionsPerCaller: Int { connectionsPerUser ?? max(1, (connections + 2) / 3) }
  }

  package init(
    name: String, address: String, paths: [String] = [], credentials: Credentials = .none,
    roles: Set<String>? = nil, isOpenToAll: Bool = false, userHeader: String? = nil,
    rewritesLinks: Bool = true, limits: Limits = Limits(), trust: TransportOptions.Trust = .system,
    networks: Set<Network> = [.public], publicPaths: [String] = [],
    identity: ClientIdentity? = nil
  ) {
    self.publicPaths = publicPaths
    self.name = name
    self.address = address.hasSuffix("/") ? address : address + "/"
    self.paths = paths
    self.credentials = credentials
    self.roles = roles
    self.isOpenToAll = isOpenToAll
    self.userHeader = userHeader
    self.rewritesLinks = rewritesLinks
    self.limits = limits
    var options = TransportOptions(trust: trust)
    // A proxy of the environment could lead anywhere.
    options.proxy = .none
    options.usesHTTP2 = false
    options.identity = identity
    options.connectionsPerHost = limits.connections
    options.allowedAddresses = Set(networks.map(\.kind))
    self.options = options
  }

  /// Kinds of networks in which the service may be. It is looked at when a connection is opened: a
  /// name that resolves to another kind leads nowhere.
  package enum Network: String, Sendable, CaseIterable {
    case `public`, `private`, loopback, linkLocal

    var kind: AddressKind {
      switch self {
      case .public: .public
      case .private: .private
      case .loopback: .loopback
      case .linkLocal: .linkLocal
      }
    }
  }

  /// Whether somebody has to log in for a path.
  func needsLogin(_ target: ForwardedTarget) -> Bool {
    !isOpenToAll && !publicPaths.contains { BackEnd.lies(target.rest, below: $0) }
  }

  /// Nil where the path must not be asked for.
  func url(of target: ForwardedTarget) -> String? {
    guard paths.isEmpty || paths.contains(where: { BackEnd.lies(target.rest, below: $0) }) else {
      return nil
    }
    return address + target.rest + (target.query.map { "?\($0)" } ?? "")
  }

  private static func lies(_ rest: String, below path: String) -> Bool {
    let (rest, path) = (Array(rest.utf8), Array(path.utf8))
    guard rest.starts(with: path) else { return false }
    if path.last == UInt8(ascii: "/") { return true }
    guard rest.count > path.count else { return true }
    return rest[path.count] == UInt8(ascii: "/") || rest[path.count] == UInt8(ascii: "(")
  }
}
