import FerryArguments
import FerryConnector
import FerryModel
import FerryODataConnector
import FerryPostgreSQL
import FerryPostgreSQLConnector
import FerrySQLConnector
import FerrySQLite
import FerryServer
import FerryWorld
import Foundation

/// How operations are performed in a business database.
struct ReplaySettings: Sendable {
  let remembersOperations: Bool
  /// On how many connections side by side, where the database takes several writers.
  let connections: Int
}

/// The database whose rows are served.
enum BusinessDatabase: Sendable, CustomStringConvertible {
  case sqlite(path: String)
  case postgreSQL(PostgreSQLAddress)
  case odata(ODataConnection)

  private static let forms =
    "Write --database sqlite:<file>, postgres:<database> or odata:<http address>."

  init(_ text: String?) throws(UsageError) {
    guard let text else {
      throw UsageError(
        "the business database is missing",
        hint: BusinessDatabase.forms)
    }
    if PostgreSQLAddress.isAddress(text) {
      do { self = .postgreSQL(try PostgreSQLAddress(text)) } catch {
        throw UsageError(error.message, hint: error.hint)
      }
    } else if text.hasPrefix("sqlite:") {
      self = .sqlite(path: String(text.dropFirst(7)))
    } else if text.hasPrefix("odata:") {
      let address = String(text.dropFirst(6))
      guard address.hasPrefix("http://") || address.hasPrefix("https://") else {
        throw UsageError(
          "this is not the address of a service",
          hint: "Write odata:https://<host>/<path of the service document>/.")
      }
      guard !address.contains("@") else {
        throw UsageError(
          "the address of the service has a password",
          hint: "Leave it out of the address: the command and the model are read by many.")
      }
      self = .odata(ODataConnection(address, world: .system()))
    } else {
      throw UsageError(
        "this kind of business database is not supported",
        hint: BusinessDatabase.forms)
    }
  }

  /// The address with the whole path of a file, so that it is the same wherever a server is started.
  static func absolute(_ text: String) -> String {
    guard text.hasPrefix("sqlite:") else { return text }
    return "sqlite:\(URL(filePath: String(text.dropFirst(7))).standardizedFileURL.path)"
  }

  /// As messages and the log name it, without secrets.
  var description: String {
    switch self {
    case .sqlite(let path): path
    case .postgreSQL(let address): address.text
    case .odata(let connection): connection.address
    }
  }

  func connector(for package: Package, _ replay: ReplaySettings) -> sending any Connector {
    switch self {
    case .sqlite(let path):
      SQLiteConnector(
        path: path, package: package, remembersOperations: replay.remembersOperations)
    case .postgreSQL(let address):
      PostgreSQLConnector(
        address, package: package, remembersOperations: replay.remembersOperations,
        connections: replay.connections)
    case .odata(let connection): ODataConnector(connection, package: package)
    }
  }

  /// From now on this process serves it. Throws while `ferry prepare --remove` is at work.
  func serve() throws(ServerError) {
    guard case .sqlite(let path) = self, !ServedFile.share(path) else { return }
    throw ServerError(
      .badRequest, "Ferry is being removed from the database \(path)",
      hint: "Start ferryd when `ferry prepare --remove` has ended.", isTransient: true)
  }

  /// What keeps other programs waiting while the server reads; nil where nothing does.
  func advice() throws(SQLiteError) -> JournalAdvice? {
    guard case .sqlite(let path) = self else { return nil }
    return try JournalAdvice.of(path: path)
  }
}
