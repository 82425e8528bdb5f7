import FerryAdmin
import FerryArguments
import FerryCachePolicies
import FerryConnections
import FerryConnector
import FerryHTTPServer
import FerryProxy
import FerrySQLite
import FerryServer
import FerryWorld
import Foundation

/// Puts the server together and runs it: the loop of the network on the main thread, one thread each
/// for service, replay, load and passwords.
enum ServerProgram {
  static func main(_ words: [String]) {
    do {
      var arguments = try Arguments(Array(words.dropFirst()), options: Settings.options)
      guard !arguments.flag("help") else {
        print(Settings.help)
        exit(StandardOutput.isWritten(by: "ferryd") ? 0 : 1)
      }
      guard !arguments.flag("version") else {
        print(ProgramVersion.text(of: "ferryd"))
        exit(StandardOutput.isWritten(by: "ferryd") ? 0 : 1)
      }
      if let path = try arguments.value("configuration") {
        try arguments.add(try configuration(path), options: Settings.configurable)
      }
      guard try !GatewayProgram.run(arguments) else { leave(0) }
      let settings = try Settings(arguments)
      guard !arguments.flag("check") else {
        try check(settings)
        exit(StandardOutput.isWritten(by: "ferryd") ? 0 : 1)
      }
      try run(settings, arguments)
    } catch let error as UsageError {
      complain("\(error)\nTry: ferryd --help")
      exit(2)
    } catch {
      complain("\(error)")
      exit(1)
    }
  }

  private static func complain(_ text: String) {
    FileHandle.standardError.write(Data("ferryd: \(text)\n".utf8))
  }

  private static func configuration(_ path: String) throws -> ConfigurationFile {
    guard let bytes = FileManager.default.contents(atPath: path) else {
      throw UsageError(
        "the configuration file \(path) cannot be read",
        hint: "Name a file that exists and that this user may read (--configuration).")
    }
    guard bytes.count <= 1 << 20, let text = String(validating: bytes, as: UTF8.self) else {
      throw UsageError(
        "\(path) is no configuration file",
        hint: "Write text in UTF-8, with NAME = VALUE on each line.")
    }
    return try ConfigurationFile(text, path: path)
  }

  /// Every file that the settings name is read, and nothing is opened that another server may use.
  private static func check(_ settings: Settings) throws {
    let log = StandardLog(least: settings.logLevel, spans: nil)
    let world = ServerProgram.world(log)
    warn(settings, try Users(settings, world: world), log)
    for model in settings.models { try model.check(settings.replay) }
    _ = try settings.identity?.read(nil)
    if let gateway = settings.gateway { _ = try GatewayFile(path: gateway) }
    print(
      "The settings can be used. Packages: \(settings.models.map(\.package.id).joined(separator: ", "))."
    )
  }

  /// The machine's, with its time zones.
  private static func world(_ log: any Log) -> World {
    var world = World.system(log: log)
    world.zone = SystemZones.offset
    return world
  }

  private static func run(_ settings: Settings, _ arguments: Arguments) throws {
    let spans = settings.collector.map { SpanExport($0) }
    let lines = ServerLines()
    let log = StandardLog(least: settings.logLevel, spans: spans, lines: lines)
    let world = ServerProgram.world(log)
    let users = try Users(settings, world: world)
    for model in settings.models {
      try model.check(settings.replay)
    }
    warn(settings, users, log)
    let gateway = try settings.gateway.map {
      try GatewaySetup(
        path: $0, data: settings.folder, proxies: settings.proxies, besidePackages: true,
        world: world)
    }
    let parts = try Parts(settings, world, users, gateway, lines)
    var httpLimits = HTTPServerLimits()
    httpLimits.connections = settings.connections
    httpLimits.connectionsPerAddress = settings.connectionsPerAddress
    if gateway != nil { GatewayProgram.allowLongHeads(&httpLimits) }
    var configuration = HTTPServerConfiguration(
      address: settings.address, port: settings.port, limits: httpLimits,
      proxies: settings.proxies.union(settings.greetingProxies))
    configuration.proxiesSendGreetings = !settings.greetingProxies.isEmpty
    configuration.tls = try settings.identity?.read(gateway?.clients)
    let server = try HTTPServer(
      configuration: configuration, log: log, doorman: { request in parts.admit(request) }
    ) { request in await parts.answer(request) }
    try server.start()
    SignalStop.install(for: server)
    let hangUp = HangUpSignal(
      server: server, identity: settings.identity, gateway: parts.gateway, policies: parts.policies,
      log: log)
    hangUp.install()
    parts.door?.begin()
    let console = try ConsoleProgram.begin(
      arguments, settings, parts.server, lines, log: log, world: world)
    Task(executorPreference: server.executor) {
      do {
        try await parts.start(on: server.executor)
        Task(executorPreference: server.executor) {
          await users.follow(log, wait: { await parts.wait(for: .milliseconds(500)) }) {
            await parts.recordsChanged()
          }
        }
        Task(executorPreference: server.executor) {
          await users.followTemplates(log, wait: { await parts.wait(for: .milliseconds(500)) }) {
            await parts.templatesChanged()
          }
        }
        Task(executorPreference: server.executor) {
          await hangUp.follow { await parts.wait(for: .milliseconds(500)) }
        }
        if let spans {
          Task(executorPreference: server.executor) {
            await spans.run(log) { await parts.wait(for: $0) }
          }
        }
        if let collector = settings.collector {
          let metrics = MetricExport(collector, every: settings.collectorInterval, world)
          Task(executorPreference: server.executor) {
            await metrics.run(log, { parts.server.metrics }) { await parts.wait(for: $0) }
          }
        }
        do throws(HTTPServerError) {
          try server.listenLocally(in: settings.folder, as: Folder.socketName)
        } catch {
          log.warn(
            "commands such as ferry status cannot reach this server",
            ("reason", error.message), ("cure", error.hint))
        }
        if let development = settings.development {
          let text = development.text(port: server.boundPort)
          FileHandle.standardOutput.write(Data("\(text)\n".utf8))
        }
        log.info(
          "listening", ("address", settings.address), ("port", String(server.boundPort)),
          ("package", settings.models.map(\.package.id).joined(separator: ", ")),
          ("data", settings.folder),
          ("database", settings.models.map(\.database.description).joined(separator: ", ")),
          ("users", String(users.records.count)))
        Supervisor.ready()
      } catch {
        complain("\(error)")
        leave(1)
      }
    }
    server.run()
    Supervisor.stopping()
    console?.stop(grace: .seconds(1))
    let end = DispatchSemaphore(value: 0)
    Task.detached {
      await parts.stop()
      end.signal()
    }
    // Who does not end in time is ended: its lease ends by the clock.
    _ = end.wait(timeout: .now() + 5)
    log.info("ended")
    leave(0)
  }

  /// Ends a process that serves. What is to be kept is on the disk. `exit` would take the libraries
  /// down beneath threads that still run, and they would crash.
  static func leave(_ code: Int32) -> Never {
    fflush(nil)
    _exit(code)
  }

  /// What lets the server run and keeps somebody from rows, or from the business database.
  private static func warn(_ settings: Settings, _ users: Users, _ log: some Log) {
    let claims = ClaimCheck(settings.models.map(\.package))
    for user in users.records {
      for fault in claims.faults(of: user) {
        log.warn(
          "the claims of a user do not match the model", ("user", user.name), ("fault", fault))
      }
    }
    for model in settings.models {
      do throws(SQLiteError) {
        for database in model.database.all {
          guard let advice = try database.advice() else { continue }
          log.warn(
            "other programs cannot write to the business database while it is read",
            ("reason", advice.what), ("cure", advice.cure))
        }
      } catch {
        log.warn("the journal mode cannot be read", ("reason", error.description))
      }
    }
  }
}
