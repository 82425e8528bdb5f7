import FerryAdmin
import FerryArguments
import FerryConsole
import FerryHTTP
import FerryHTTPServer
import FerryServer
import FerryWorld
import Foundation

/// The control center: the admin API on the socket of the data folder, and with `--admin-port` the API
/// and its pages on an address and a thread of their own.
enum ConsoleProgram {
  static let options = [
    CommandOption(
      "admin-port", "N",
      "serve the control center for operators on this port; without it nobody reaches it but "
        + "ferry admin on this machine"),
    CommandOption(
      "admin-address", "ADDRESS", "on which address the control center listens (default 127.0.0.1)"),
    CommandOption(
      "admins", "FILE",
      "the operators, a file of ferry user with the roles viewer, operator and administrator "
        + "(default admins.json in the data folder)"),
  ]

  /// The API for processes of the server's own user, which come through the socket.
  static func local(
    _ server: ServerHost, _ world: World, _ lines: ServerLines
  ) -> AdminServer {
    AdminServer(
      AdminAPI(
        server, gate: AdminGate(nil, proxies: [], isSecure: false, world: world),
        version: ProgramVersion.number, world: world, serverLines: lines))
  }

  /// Nil without `--admin-port`. What it listens on ends with the process.
  static func begin(
    _ arguments: Arguments, _ settings: Settings, _ server: ServerHost,
    _ lines: ServerLines, log: some Log, world: World
  ) throws -> HTTPServer? {
    guard let port = try arguments.port("admin-port") else {
      for option in ["admin-address", "admins"] where !arguments.values(option).isEmpty {
        throw UsageError(
          "--\(option) needs --admin-port", hint: "Name the port of the control center too.")
      }
      return nil
    }
    let address = try arguments.value("admin-address") ?? "127.0.0.1"
    let isLocal = ["127.0.0.1", "::1", "localhost"].contains(address)
    guard isLocal || settings.identity != nil || !settings.proxies.isEmpty else {
      throw UsageError(
        "the control center on \(address) would get the passwords of operators in the clear",
        hint:
          "Leave out --admin-address, add --certificate and --key, or name a TLS proxy (--proxy).")
    }
    let file = try arguments.value("admins") ?? "\(settings.folder)/admins.json"
    guard FileManager.default.fileExists(atPath: file) else {
      throw StartFailure(
        "there is no file of operators \(file)",
        hint: "Make it: ferry user add --file \(file) --name anna --role administrator.")
    }
    let operators = try UserFileFollower(path: file, log: log)
    operators.begin()
    var configuration = HTTPServerConfiguration(address: address, port: port)
    configuration.limits.connections = 256
    configuration.proxies = settings.proxies
    configuration.tls = try settings.identity?.read(nil)
    let gate = AdminGate(
      operators.provider, proxies: settings.proxies, isSecure: configuration.tls != nil,
      world: world)
    let console = Console(
      AdminServer(
        AdminAPI(
          server, gate: gate, version: ProgramVersion.number, world: world, serverLines: lines)),
      log: log)
    let pages = try HTTPServer(
      configuration: configuration, log: log, doorman: { console.admit($0) },
      handler: { await console.answer($0) })
    try pages.start()
    Thread { pages.run() }.start()
    log.info(
      "the control center listens", ("address", address), ("port", String(pages.boundPort)),
      ("operators", String(operators.count)))
    return pages
  }
}
