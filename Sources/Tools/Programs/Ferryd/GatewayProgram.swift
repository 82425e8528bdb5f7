import FerryArguments
import FerryHTTP
import FerryHTTPServer
import FerryProxy
import FerryServer
import FerryWorld
import Foundation

/// `ferryd --gateway`: one door to the company's services, beside no package.
enum GatewayProgram {
  /// Options that mean something for a gateway.
  private static let options = [
    "gateway", "users", "data", "port", "address", "certificate", "key", "connections", "log",
  ]

  /// False where the command line asks for no gateway.
  static func run(_ arguments: Arguments) throws -> Bool {
    guard let path = try arguments.value("gateway") else { return false }
    _ = try arguments.operands()
    for option in Settings.options
    where !options.contains(option.name) && !arguments.values(option.name).isEmpty {
      throw UsageError(
        "--gateway and --\(option.name) cannot be used together",
        hint: "Start a server of its own for the packages.")
    }
    let file = try GatewayFile(path: path)
    let folder = try arguments.value("data") ?? (path as NSString).deletingLastPathComponent
    let data = folder.isEmpty ? "." : folder
    let log = StandardLog(least: try level(arguments), spans: nil)
    let world = World.system(log: log)
    let users = try UserFileFollower(
      path: try arguments.value("users") ?? "\(data)/users.json", log: log)
    let logins = BasicLogins(users.provider, world: world)
    let access = try AccessLog(path: "\(data)/access.jsonl", world: world)
    let gateway = Gateway(file, world: world, log: access) { user, password, address in
      do throws(ServerError) {
        let record = try await logins.login(user: user, password: password, from: address)
        return .user(GatewayUser(name: record.name, roles: record.roles))
      } catch {
        guard error.isTransient else { return .refused }
        return .later(seconds: error.retryAfterSeconds ?? 2)
      }
    }
    let server = try HTTPServer(
      configuration: try configuration(arguments), log: log,
      doorman: { request in gateway.admit(request) }
    ) { request in await gateway.answer(request) }
    try server.start()
    SignalStop.install(for: server)
    users.begin()
    log.info(
      "listening", ("address", try address(arguments)), ("port", String(server.boundPort)),
      ("services", file.services.map(\.name).joined(separator: ", ")),
      ("users", String(users.count)))
    server.run()
    log.info("ended")
    return true
  }

  private static func configuration(
    _ arguments: Arguments
  ) throws -> HTTPServerConfiguration {
    var limits = HTTPServerLimits()
    // Tokens, cookies and passports of business systems are long.
    limits.headBytes = 32 * 1024
    limits.poolBytes = 80 * 1024
    if let text = try arguments.value("connections") {
      guard let number = Int(text), (64...100_000).contains(number) else {
        throw UsageError(
          "--connections \(text) is not a number of connections",
          hint: "Write a number from 64 to 100000.")
      }
      limits.connections = number
    }
    let portText = try arguments.value("port") ?? "8080"
    guard let port = Int(portText), (0...65_535).contains(port) else {
      throw UsageError(
        "--port \(portText) is not a port number", hint: "Write a number from 0 to 65535.")
    }
    var configuration = HTTPServerConfiguration(
      address: try address(arguments), port: port, limits: limits)
    configuration.tls = try identity(arguments)
    return configuration
  }

  private static func address(_ arguments: Arguments) throws -> String {
    try arguments.value("address") ?? "127.0.0.1"
  }

  private static func identity(_ arguments: Arguments) throws -> TLSIdentity? {
    let certificate = try arguments.value("certificate")
    let key = try arguments.value("key")
    guard certificate != nil || key != nil else { return nil }
    guard let certificate, let key else {
      throw UsageError(
        "--certificate and --key belong together", hint: "Name both files, or none.")
    }
    return TLSIdentity(certificates: try text(certificate), key: try text(key))
  }

  private static func text(_ path: String) throws -> String {
    guard let bytes = FileManager.default.contents(atPath: path) else {
      throw StartFailure(
        "the file \(path) cannot be read", hint: "Name a file that exists and is readable.")
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func level(_ arguments: Arguments) throws -> LogLevel {
    let name = try arguments.value("log") ?? "info"
    guard let level = LogLevel.allCases.first(where: { $0.name == name }) else {
      throw UsageError("there is no log level \(name)", hint: "Write debug, info, warn or error.")
    }
    return level
  }
}
