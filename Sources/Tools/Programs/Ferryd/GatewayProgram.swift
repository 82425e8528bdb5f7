import FerryArguments
import FerryHTTPServer
import FerryProxy
import FerryServer
import FerryWorld
import Foundation

/// `ferryd --gateway` without a model: one door to the company's services, beside no package.
enum GatewayProgram {
  /// Options that mean something for a gateway.
  private static let options = [
    "gateway", "users", "data", "port", "address", "certificate", "key", "connections", "log",
    "proxy", "proxy-protocol", "security", "applications", "configuration", "check",
  ]

  /// False where the command line asks for no gateway, or for packages beside it.
  static func run(_ arguments: Arguments) throws -> Bool {
    guard let file = try arguments.value("gateway"), arguments.values("model").isEmpty,
      arguments.values("dev").isEmpty
    else { return false }
    _ = try arguments.operands()
    for option in Settings.options
    where !options.contains(option.name) && !arguments.values(option.name).isEmpty {
      throw UsageError(
        "--gateway and --\(option.name) cannot be used together without --model",
        hint: "Name a model, or leave out --\(option.name).")
    }
    let folder = try arguments.value("data") ?? (file as NSString).deletingLastPathComponent
    let data = folder.isEmpty ? "." : folder
    let log = StandardLog(least: try level(arguments), spans: nil)
    let world = World.system(log: log)
    let (proxies, greetingProxies) = try Settings.proxies(arguments)
    let setup = try GatewaySetup(
      path: file, data: data, proxies: proxies, besidePackages: false, world: world)
    let security = try arguments.value("security")
    let path = try arguments.value("users") ?? "\(data)/users.json"
    let users =
      security == nil || FileManager.default.fileExists(atPath: path)
      ? try UserFileFollower(path: path, log: log) : nil
    let (provider, roles) = try Users.stacks(
      security, users?.provider, users?.provider ?? TokenUsers(), world)
    let logins = BasicLogins(Doorkeeper(provider, roles: roles, world: world), world: world)
    let served = try setup.make(logins, tokens: false, world: world)
    let gateway = served.gateway
    let door = try ApplicationsDoor.file(arguments).map { applications in
      try ApplicationsDoor.alone(applications, served, logins, provider, data, world)
    }
    let identity = try IdentityFiles(arguments)
    var configuration = try configuration(arguments)
    configuration.proxies = proxies.union(greetingProxies)
    configuration.proxiesSendGreetings = !greetingProxies.isEmpty
    configuration.tls = try identity?.read(setup.clients)
    guard !arguments.flag("check") else {
      print("The settings can be used. Services: \(setup.file.services.count).")
      return true
    }
    let server = try HTTPServer(
      configuration: configuration, log: log,
      doorman: { request in door?.admit(request) ?? gateway.admit(request) }
    ) { request in
      if let door { return await door.answer(request) }
      return await gateway.answer(request)
    }
    try server.start()
    door?.begin()
    SignalStop.install(for: server)
    HangUpSignal(
      server: server, identity: identity, gateway: served, policies: nil, log: log
    ).install()
    users?.begin()
    log.info(
      "listening", ("address", configuration.address), ("port", String(server.boundPort)),
      ("services", setup.file.services.map(\.name).joined(separator: ", ")),
      ("users", String(users?.count ?? 0)))
    Supervisor.ready()
    server.run()
    Supervisor.stopping()
    log.info("ended")
    return true
  }

  /// Tokens, cookies and passports of business systems are long.
  static func allowLongHeads(_ limits: inout HTTPServerLimits) {
    limits.headBytes = 32 * 1024
    limits.poolBytes = 80 * 1024
  }

  private static func configuration(
    _ arguments: Arguments
  ) throws -> HTTPServerConfiguration {
    var limits = HTTPServerLimits()
    allowLongHeads(&limits)
    if let text = try arguments.value("connections") {
      guard let number = Int(text), (64...100_000).contains(number) else {
        throw UsageError(
          "--connections \(text) is not a number of connections",
          hint: "Write a number from 64 to 100000.")
      }
      limits.connections = number
    }
    return HTTPServerConfiguration(
      address: try arguments.value("address") ?? "127.0.0.1",
      port: try arguments.port("port") ?? 8080, limits: limits)
  }

  private static func level(_ arguments: Arguments) throws -> LogLevel {
    let name = try arguments.value("log") ?? "info"
    guard let level = LogLevel.allCases.first(where: { $0.name == name }) else {
      throw UsageError("there is no log level \(name)", hint: "Write debug, info, warn or error.")
    }
    return level
  }
}
