import FerryApplications
import FerryArguments
import FerryCertificates
import FerryConnections
import FerryModel
import FerryNotices
import FerryPostgreSQL
import FerryPostgreSQLStore
import FerryProxy
import FerrySQLite
import FerryServer
import FerryWorld
import Foundation

/// What the command line asks for.
struct Settings {
  /// At least one, each with a name and version of its own.
  let models: [ServedModel]
  let folder: String
  /// The business database of all models, where the command line names it.
  let database: String?
  /// The named connections to databases and services; nil where there is no file.
  let connectionsFile: ConnectionsFile?
  /// The database that several servers share as their store; nil: the file in the data folder.
  let store: PostgreSQLAddress?
  let users: String
  /// The file of security configurations; nil: the user file lets users in.
  let security: String?
  /// The file of connection templates; there need be none.
  let templates: String
  let issuers: IssuerSettings
  /// Those whose certificates let users in; nil: none do.
  let loginAuthorities: [X509Certificate]?
  let address: String
  let port: Int
  let replay: ReplaySettings
  let limits: ServiceLimits
  let logLevel: LogLevel
  let connections: Int
  /// Nil: as many as the server thinks right.
  let connectionsPerAddress: Int?
  /// Where spans and metrics are sent; nil: nowhere.
  let collector: String?
  /// How often metrics are sent there.
  let collectorInterval: Duration
  /// Addresses of proxies whose `X-Forwarded-For` is believed.
  let proxies: Set<String>
  /// Addresses of proxies that begin each connection with the PROXY protocol. Fields of HTTP are then
  /// the client's own, whatever its address is, and nobody is believed.
  let greetingProxies: Set<String>
  /// Nil: no TLS.
  let identity: IdentityFiles?
  /// The file of services that are reached through this server too; nil: there are none.
  let gateway: String?
  /// Whether each package is a service of OData too.
  let offersOData: Bool
  /// Whose devices may register; nil: no application's.
  let applications: ApplicationsFile?
  /// Who may say what was changed in the business system; nil: nobody.
  let senders: NoticeSenders?
  /// Made by `--dev`; nil for a server that is told what it serves.
  let development: DevelopmentSetup?

  init(_ arguments: Arguments) throws {
    _ = try arguments.operands()
    identity = try IdentityFiles(arguments)
    gateway = try arguments.value("gateway")
    applications = try ApplicationsDoor.file(arguments)
    development = try Settings.development(arguments)
    folder = try development?.folder ?? arguments.required("data", "data")
    database = try arguments.value("database")
    let connectionsPath = try arguments.value("connections-file")
    guard connectionsPath == nil || database == nil else {
      throw UsageError(
        "--database and --connections-file cannot be used together",
        hint: "Write the database into the file, as its \"default\" connection.")
    }
    connectionsFile = try connectionsPath.map { try ConnectionsFile(path: $0) }
    store = try arguments.value("store").map { text throws(UsageError) in
      do throws(PostgreSQLError) { return try PostgreSQLAddress(text) } catch {
        throw UsageError("--store: \(error.message)", hint: error.hint)
      }
    }
    let deployed =
      try store.map { try DeployedModels($0).read() } ?? PackageFolder(data: folder).read()
    models = try ServedModel.read(arguments, development, deployed, connectionsFile)
    users = try development?.users ?? arguments.value("users") ?? "\(folder)/users.json"
    security = try arguments.value("security")
    if let file = try arguments.value("templates") {
      guard FileManager.default.isReadableFile(atPath: file) else {
        throw UsageError(
          "the connection templates \(file) cannot be read",
          hint: "Name a file that exists (--templates).")
      }
      templates = file
    } else {
      templates = "\(folder)/templates.json"
    }
    issuers = try IssuerSettings(arguments, models.map(\.package))
    loginAuthorities = try arguments.value("login-authority").map { path in
      guard let bytes = FileManager.default.contents(atPath: path) else {
        throw UsageError(
          "the file of authorities \(path) cannot be read",
          hint: "Name a file that exists (--login-authority).")
      }
      do throws(CertificateError) {
        return try X509Certificate.all(pem: String(decoding: bytes, as: UTF8.self))
      } catch {
        throw StartFailure(
          "the file of authorities \(path) cannot be used: \(error.message)",
          hint: "Write each certificate as PEM (--login-authority).")
      }
    }
    address = try arguments.value("address") ?? "127.0.0.1"
    port = try arguments.port("port") ?? 8080
    var limits = ServiceLimits.standard
    if let text = try arguments.value("big-value-limit") {
      guard let megabytes = Int64(text), (1...1_024).contains(megabytes) else {
        throw UsageError(
          "--big-value-limit \(text) is not a number of megabytes",
          hint: "Write a number from 1 to 1024.")
      }
      limits.bigValueBytes = megabytes << 20
    }
    if let text = try arguments.value("rights-hours") {
      guard let hours = Int64(text), (1...720).contains(hours) else {
        throw UsageError(
          "--rights-hours \(text) is not a number of hours", hint: "Write a number from 1 to 720.")
      }
      limits.issuerRightsHours = hours
    }
    if let text = try arguments.value("lease-days") {
      guard let days = Int64(text), (1...3_650).contains(days) else {
        throw UsageError(
          "--lease-days \(text) is not a number of days", hint: "Write a number from 1 to 3650.")
      }
      limits.leaseDays = days
    }
    if let text = try arguments.value("inactive-days") {
      guard let days = Int64(text), (1...10_000).contains(days) else {
        throw UsageError(
          "--inactive-days \(text) is not a number of days", hint: "Write a number from 1 to 10000."
        )
      }
      limits.inactiveDays = days
    }
    if let text = try arguments.value("comparison-hour") {
      let hour = Int(text)
      guard text == "never" || hour.map({ (0...23).contains($0) }) == true else {
        throw UsageError(
          "--comparison-hour is not an hour", hint: "Write a number from 0 to 23, or never.")
      }
      limits.comparisonHour = hour
    }
    if let text = try arguments.value("readers") {
      guard let readers = Int(text), (0...64).contains(readers) else {
        throw UsageError(
          "--readers \(text) is not a number of threads", hint: "Write a number from 0 to 64.")
      }
      limits.readers = readers
    }
    let connectionText = try arguments.value("connections") ?? "2048"
    guard let connections = Int(connectionText), (64...100_000).contains(connections) else {
      throw UsageError(
        "--connections \(connectionText) is not a number of connections",
        hint: "Write a number from 64 to 100000.")
    }
    self.connections = connections
    connectionsPerAddress = try arguments.value("connections-per-address").map { text in
      guard let number = Int(text), (1...connections).contains(number) else {
        throw UsageError(
          "--connections-per-address \(text) is not a number of connections",
          hint: "Write a number from 1 to \(connections).")
      }
      return number
    }
    limits.channels = connections - connections / 8
    (proxies, greetingProxies) = try Settings.proxies(arguments)
    self.limits = limits
    collector = try arguments.value("otlp")
    if let collector, !collector.hasPrefix("http://"), !collector.hasPrefix("https://") {
      throw UsageError(
        "--otlp is not the address of a collector", hint: "Write http://HOST:4318 or https://….")
    }
    let interval = try arguments.value("otlp-interval")
    if interval != nil, collector == nil {
      throw UsageError("--otlp-interval needs --otlp", hint: "Name the collector too.")
    }
    guard let seconds = Int64(interval ?? "60"), (1...86_400).contains(seconds) else {
      throw UsageError(
        "--otlp-interval is not a number of seconds", hint: "Write a number from 1 to 86400.")
    }
    collectorInterval = .seconds(seconds)
    guard let lanes = Int(try arguments.value("replay-connections") ?? "4"),
      (1...16).contains(lanes)
    else {
      throw UsageError(
        "--replay-connections is not a number of connections",
        hint: "Write a number from 1 to 16.")
    }
    replay = ReplaySettings(
      remembersOperations: !arguments.flag("forget-operations"), connections: lanes)
    offersOData = arguments.flag("odata")
    senders = try arguments.value("notices").map { path throws(StartFailure) in
      do throws(NoticeFileError) { return try NoticeSenders(path: path) } catch {
        throw StartFailure(error.message, hint: error.hint)
      }
    }
    let name = try arguments.value("log") ?? "info"
    guard let level = LogLevel.allCases.first(where: { $0.name == name }) else {
      throw UsageError("there is no log level \(name)", hint: "Write debug, info, warn or error.")
    }
    logLevel = level
  }

  private static func development(_ arguments: Arguments) throws -> DevelopmentSetup? {
    guard let database = try arguments.value("dev") else { return nil }
    for name in DevelopmentSetup.made where !arguments.values(name).isEmpty {
      throw UsageError(
        "--dev and --\(name) cannot be used together",
        hint: "Leave out --\(name), or leave out --dev.")
    }
    // The address may have a password in it, so that it is not repeated.
    guard !database.hasPrefix("postgres:"), !database.hasPrefix("postgresql:") else {
      throw UsageError(
        "--dev serves SQLite databases only, not PostgreSQL",
        hint: "Write a model with `ferry new --from postgres:… --out model.json`, and start "
          + "`ferryd --model model.json --data FOLDER`. Documentation/StartPostgreSQL.md has each step."
      )
    }
    return try DevelopmentSetup(
      database: database.hasPrefix("sqlite:") ? String(database.dropFirst(7)) : database,
      folder: arguments.value("data"))
  }
}
