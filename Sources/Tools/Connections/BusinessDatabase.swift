import FerryConnector
import FerryMariaDB
import FerryMariaDBConnector
import FerryModel
import FerryODataConnector
import FerryPostgreSQL
import FerryPostgreSQLConnector
import FerryRESTConnector
import FerrySQLConnector
import FerrySQLite
import FerryServer
import FerryWorld
import Foundation

/// How operations are performed in a business database.
package struct ReplaySettings: Sendable {
  let remembersOperations: Bool
  /// On how many connections side by side, where the database takes several writers.
  let connections: Int

  package init(remembersOperations: Bool, connections: Int) {
    self.remembersOperations = remembersOperations
    self.connections = connections
  }
}

/// The database or service whose rows are served.
package enum BusinessDatabase: Sendable, CustomStringConvertible {
  case sqlite(path: String)
  case postgreSQL(PostgreSQLAddress)
  case mariaDB(MariaDBAddress)
  case odata(ODataConnection)
  case rest(RESTService)
  /// A service of REST, mapped to a model.
  case mapped(RESTConnection)

  /// What the address of a REST service begins with.
  package static let restScheme = "rest:"

  private static let forms =
    "Write sqlite:<file>, postgres:<database>, mariadb:<database>, odata:<http address> or "
    + "\(restScheme)<http address>."

  /// `settings`: how a service is reached. Asks nothing yet.
  package init(
    _ text: String?, settings: ServiceSettings = ServiceSettings()
  ) throws(ConnectionsError) {
    guard let text else {
      throw ConnectionsError(
        "the business database is missing",
        hint: BusinessDatabase.forms)
    }
    if PostgreSQLAddress.isAddress(text) {
      do { self = .postgreSQL(try PostgreSQLAddress(text)) } catch {
        throw ConnectionsError(error.message, hint: error.hint)
      }
    } else if MariaDBAddress.isAddress(text) {
      do { self = .mariaDB(try MariaDBAddress(text)) } catch {
        throw ConnectionsError(error.message, hint: error.hint)
      }
    } else if text.hasPrefix("sqlite:") {
      self = .sqlite(path: String(text.dropFirst(7)))
    } else if text.hasPrefix("odata:") {
      self = .odata(
        try settings.odata(
          try BusinessDatabase.service(
            text, "odata:", "https://<host>/<path of the service document>/")))
    } else if text.hasPrefix(BusinessDatabase.restScheme) {
      self = .rest(
        try RESTService(
          try BusinessDatabase.service(text, BusinessDatabase.restScheme, "https://<host>/<path>"),
          settings))
    } else {
      throw ConnectionsError(
        "this kind of business database is not supported",
        hint: BusinessDatabase.forms)
    }
  }

  /// The HTTP address behind a scheme of ours.
  private static func service(
    _ text: String, _ scheme: String, _ form: String
  ) throws(ConnectionsError) -> String {
    let address = String(text.dropFirst(scheme.utf8.count))
    guard address.hasPrefix("http://") || address.hasPrefix("https://") else {
      throw ConnectionsError(
        "this is not the address of a service", hint: "Write \(scheme)\(form).")
    }
    guard !address.contains("@") else {
      throw ConnectionsError(
        "the address of the service has a password",
        hint: "Leave it out of the address: the command and the model are read by many.")
    }
    return address
  }

  /// A REST service becomes one for this model. `mapping`: what came with the model.
  package func mapped(
    to package: Package, by mapping: MappingText?
  ) throws(ConnectionsError) -> BusinessDatabase {
    guard case .rest(let service) = self else { return self }
    return .mapped(try service.connection(for: package, beside: mapping))
  }

  /// The address with the whole path of a file, so that it is the same wherever a server is started.
  package static func absolute(_ text: String) -> String {
    guard text.hasPrefix("sqlite:") else { return text }
    return "sqlite:\(URL(filePath: String(text.dropFirst(7))).standardizedFileURL.path)"
  }

  /// As messages and the log name it, without secrets.
  package var description: String {
    switch self {
    case .sqlite(let path): path
    case .postgreSQL(let address): address.text
    case .mariaDB(let address): address.text
    case .odata(let connection): connection.address
    case .rest(let service): service.address
    case .mapped(let connection): connection.address
    }
  }

  /// What was found out about the service before.
  func take(_ proofs: [ConnectionProofs.Proof]) {
    for proof in proofs {
      switch self {
      case .odata(let connection): connection.prove(proof.set, proof.isHeeded)
      case .rest(let service): service.take(proof.set, proof.isHeeded)
      case .sqlite, .postgreSQL, .mariaDB, .mapped: return
      }
    }
  }

  /// Whether it is reached by requests, as a user.
  package var isService: Bool {
    switch self {
    case .sqlite, .postgreSQL, .mariaDB: false
    case .odata, .rest, .mapped: true
    }
  }

  package func connector(for package: Package, _ replay: ReplaySettings) -> sending any Connector {
    switch self {
    case .sqlite(let path):
      SQLiteConnector(
        path: path, package: package, remembersOperations: replay.remembersOperations)
    case .postgreSQL(let address):
      PostgreSQLConnector(
        address, package: package, remembersOperations: replay.remembersOperations,
        connections: replay.connections)
    case .mariaDB(let address):
      MariaDBConnector(
        address, package: package, remembersOperations: replay.remembersOperations)
    case .odata(let connection): ODataConnector(connection, package: package)
    case .mapped(let connection): RESTConnector(connection, package: package)
    case .rest: preconditionFailure("a REST service needs a mapping (mapped(to:by:))")
    }
  }

  /// From now on this process serves it. Throws while `ferry prepare --remove` is at work.
  package func serve() throws(ServerError) {
    guard case .sqlite(let path) = self, !ServedFile.share(path) else { return }
    throw ServerError(
      .badRequest, "Ferry is being removed from the database \(path)",
      hint: "Start ferryd when `ferry prepare --remove` has ended.", isTransient: true)
  }

  /// What keeps other programs waiting while the server reads; nil where nothing does.
  package func advice() throws(SQLiteError) -> JournalAdvice? {
    guard case .sqlite(let path) = self else { return nil }
    return try JournalAdvice.of(path: path)
  }
}
