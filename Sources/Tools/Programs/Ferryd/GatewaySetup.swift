import FerryArguments
import FerryHTTP
import FerryHTTPServer
import FerryIssuers
import FerryProxy
import FerryServer
import FerryWorld
import Foundation

/// The gateway of a server, alone or beside its packages.
struct GatewaySetup: Sendable {
  let file: GatewayFile
  private let path: String
  private let besidePackages: Bool
  private let data: String
  private let proxies: Set<String>
  /// Nil where nobody looks at certificates of callers.
  let clients: ClientAuthorities?

  /// First parts of paths that a server with packages answers itself.
  private static let taken: Set = [
    "dcn", "ferry", "health", "metrics", "notices", "notification", "odata", "onepage",
    "restnotification",
  ]

  /// `data`: the folder of the access log. `besidePackages`: whether the server answers for itself too.
  init(
    path: String, data: String, proxies: Set<String>, besidePackages: Bool, world: World
  ) throws {
    self.path = path
    self.besidePackages = besidePackages
    self.data = data
    self.proxies = proxies
    file = try GatewaySetup.read(path, besidePackages: besidePackages)
    clients = try file.clientCertificates.map {
      try ClientAuthorities(
        authorities: $0.authorities, revocations: $0.revocations, world: world)
    }
  }

  /// The file as it is now.
  func read() throws -> GatewayFile {
    try GatewaySetup.read(path, besidePackages: besidePackages)
  }

  private static func read(_ path: String, besidePackages: Bool) throws -> GatewayFile {
    let file = try GatewayFile(path: path)
    for service in file.services
    where besidePackages && taken.contains(service.name.lowercased()) {
      throw StartFailure(
        "the gateway file \(path) has a service named \(service.name), and the server itself answers there",
        hint: "Give the service another name, or start a server of its own for the packages.")
    }
    return file
  }

  /// `tokens`: whether issuers let users in.
  func make(_ logins: BasicLogins, tokens: Bool, world: World) throws -> ServedGateway {
    let log = try AccessLog(path: "\(data)/access.jsonl", world: world)
    let clients = clients
    let certificates = file.clientCertificates.flatMap { settings in
      clients.map { clients in
        GatewayCertificates(
          requiredFrom: settings.requiredFrom, comeThroughProxies: settings.comeThroughProxies
        ) { clients.refusal(of: $0) }
      }
    }
    let gateway = Gateway(
      file, world: world, log: log, proxies: TrustedProxies(proxies, field: file.proxyField),
      certificates: certificates
    ) { attempt in
      do throws(ServerError) {
        let record: UserRecord?
        switch attempt.proof {
        case .password(let user, let password):
          record = try await logins.login(
            user: user, password: password, attempt.headers, at: attempt.service,
            from: attempt.address)
        case .token(let token):
          record = tokens ? try await logins.login(token: token, at: attempt.service) : nil
        case .certificate(let der):
          record = clients?.userName(in: der).flatMap {
            logins.user(named: $0, at: attempt.service)
          }
        }
        guard let record else { return .refused }
        return .user(GatewayUser(name: record.name, roles: record.roles))
      } catch {
        guard error.isTransient else { return .refused }
        let seconds = error.retryAfterSeconds ?? 2
        let isGuess = [.tooManyGuesses, .tooManyLogins].contains(error.code)
        return isGuess ? .later(seconds: seconds) : .away(seconds: seconds)
      }
    }
    return ServedGateway(setup: self, gateway: gateway, access: log)
  }
}

/// A gateway that runs, and what its files are.
struct ServedGateway: Sendable {
  let setup: GatewaySetup
  let gateway: Gateway
  let access: AccessLog
}
