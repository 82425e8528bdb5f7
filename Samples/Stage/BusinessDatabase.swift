import FerryModel
import FerryPostgreSQL
import FerrySQLite

/// The business database of a story: a file of SQLite, or a database of PostgreSQL.
///
/// It is read with plain SQL, and not with what the server reads with.
package enum BusinessDatabase {
  case sqlite(path: String)
  case postgreSQL(PostgreSQLAddress)

  /// As `ferry` and `ferryd` take it.
  package var address: String {
    switch self {
    case .sqlite(let path): "sqlite:\(path)"
    case .postgreSQL(let address): address.text
    }
  }

  /// One connection, for as long as it is kept. It only reads, unless `writes` is given.
  package func open(writes: Bool = false) throws -> BusinessConnection {
    switch self {
    case .sqlite(let path):
      let connection = try Connection(
        path: path, mode: writes ? .readWrite : .readOnly, busyTimeoutMilliseconds: 300_000)
      if writes { try connection.execute("PRAGMA foreign_keys = ON") }
      return BusinessConnection(connection: connection)
    case .postgreSQL(let address):
      return BusinessConnection(postgreSQL: PostgreSQLLine(address))
    }
  }

  /// Makes the sample business in it, which is a new file or an empty database.
  package func makeSample(_ stage: Stage, rows: String) throws -> String {
    let file = stage.path("flights.db")
    let report = try stage.run("ferry-sample", ["--out", file, "--rows", rows])
    guard case .postgreSQL(let address) = self else { return report.trimmed }
    try FlightsCopy(from: file, to: address).run()
    return "The same rows and rules in \(address)."
  }

  /// What Ferry needs in a database of PostgreSQL, so that others' changes are noticed at once.
  package func prepare(_ stage: Stage) throws -> String {
    try stage.run(
      "ferry", ["prepare", stage.path("model.json"), "--database", address]
    ).trimmed
  }
}

extension String {
  /// Without blanks and line ends around it.
  package var trimmed: String {
    String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
  }
}
