import FerryModel
import FerryPostgreSQL
import FerrySQLite

/// The business database of a story: a file of SQLite, or a database of PostgreSQL.
///
/// It is read with plain SQL, and not with what the server reads with.
enum BusinessDatabase {
  case sqlite(path: String)
  case postgreSQL(PostgreSQLAddress)

  /// As `ferry` and `ferryd` take it.
  var address: String {
    switch self {
    case .sqlite(let path): "sqlite:\(path)"
    case .postgreSQL(let address): address.text
    }
  }

  /// One connection, for as long as it is kept.
  func open() throws -> BusinessRows {
    switch self {
    case .sqlite(let path):
      BusinessRows(
        connection: try Connection(
          path: path, mode: .readOnly, busyTimeoutMilliseconds: 300_000))
    case .postgreSQL(let address): BusinessRows(postgreSQL: try PostgreSQLConnection(address))
    }
  }
}
