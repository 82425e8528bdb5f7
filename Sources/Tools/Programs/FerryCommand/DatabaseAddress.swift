import FerryArguments
import FerryGenerator
import FerryMariaDB
import FerryMariaDBReading
import FerryODataReading
import FerryOpenAPIReading
import FerryPostgreSQL
import FerryPostgreSQLReading
import Foundation

/// A business database as the command line names it.
enum DatabaseAddress {
  case sqlite(path: String)
  case postgreSQL(PostgreSQLAddress)
  case mariaDB(MariaDBAddress)
  /// The address of the service document.
  case odata(String)
  /// The address of a service's description by OpenAPI.
  case openAPI(String)

  /// What the options' texts show.
  static let forms =
    "sqlite:<file>, postgres:<database>, mariadb:<database>, odata:<http address> or "
    + "openapi:<http address>"

  init(_ text: String) throws(UsageError) {
    if PostgreSQLAddress.isAddress(text) {
      do { self = .postgreSQL(try PostgreSQLAddress(text)) } catch {
        throw UsageError(error.message, hint: error.hint)
      }
      return
    }
    if MariaDBAddress.isAddress(text) {
      do { self = .mariaDB(try MariaDBAddress(text)) } catch {
        throw UsageError(error.message, hint: error.hint)
      }
      return
    }
    for scheme in ["odata:http://", "odata:https://"]
    where text.hasPrefix(scheme) && !text.contains("@") {
      self = .odata(String(text.dropFirst(6)))
      return
    }
    for scheme in ["openapi:http://", "openapi:https://"]
    where text.hasPrefix(scheme) && !text.contains("@") {
      self = .openAPI(String(text.dropFirst(8)))
      return
    }
    guard !text.hasPrefix("rest:") else {
      throw UsageError(
        "a REST service does not say by itself what it has",
        hint: "Name its description: --from openapi:http://<host>/openapi.json.")
    }
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0] == "sqlite", !parts[1].isEmpty else {
      // What may hold a password is not repeated.
      let shown = text.contains("@") || text.contains("=") ? "this" : "\"\(text)\""
      throw UsageError(
        "\(shown) is not the address of a database", hint: "Write \(DatabaseAddress.forms).")
    }
    self = .sqlite(path: String(parts[1]))
  }

  /// As a model's source names it.
  var text: String {
    switch self {
    case .sqlite(let path): "sqlite:\(path)"
    case .postgreSQL(let address): address.text
    case .mariaDB(let address): address.text
    case .odata(let address): "odata:\(address)"
    case .openAPI(let address): "openapi:\(address)"
    }
  }

  /// As it was written, with the whole path of a file: another program may read it elsewhere.
  var absolute: String {
    switch self {
    case .sqlite(let path): "sqlite:\(URL(filePath: path).standardizedFileURL.path)"
    case .postgreSQL, .mariaDB, .odata, .openAPI: text
    }
  }

  /// As reports name it.
  var shown: String {
    switch self {
    case .sqlite(let path): path
    case .postgreSQL(let address): address.text
    case .mariaDB(let address): address.text
    case .odata(let address), .openAPI(let address): address
    }
  }

  /// What a package is called that nobody named.
  var stem: String {
    switch self {
    case .sqlite(let path): TextFile.stem(of: path)
    case .postgreSQL(let address): address.database
    case .mariaDB(let address): address.database
    case .odata(let address): address.split(separator: "/").last.map(String.init) ?? "Service"
    case .openAPI: "Service"
    }
  }

  func schema(allValues: Bool = false) async throws(GeneratorError) -> DatabaseSchema {
    switch self {
    case .sqlite(let path): try SchemaReader.read(path: path)
    case .postgreSQL(let address): try PostgreSQLSchema.read(address, allValues: allValues)
    case .mariaDB(let address): try MariaDBSchema.read(address, allValues: allValues)
    case .odata(let address): try await ODataSchema.read(address)
    case .openAPI(let address): try await OpenAPIReading.read(address).schema
    }
  }
}
