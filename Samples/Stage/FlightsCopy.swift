import FerryFlights
import FerryPostgreSQL
import FerrySQLite

/// Writes the sample business, which was made in a file, into an empty database of PostgreSQL.
struct FlightsCopy {
  private let file: String
  private let address: PostgreSQLAddress
  /// Parents before children.
  private static let tables = ["Agencies", "Carriers", "Flights", "Bookings"]
  /// Rows of one statement.
  private static let batch = 500

  init(from file: String, to address: PostgreSQLAddress) {
    self.file = file
    self.address = address
  }

  func run() throws {
    let source = try Connection(path: file, mode: .readOnly)
    let target = try PostgreSQLConnection(address)
    try target.execute("BEGIN")
    try target.execute(FlightsSample.postgreSQLTables)
    for table in FlightsCopy.tables {
      let rows = try source.rows("SELECT * FROM \(quoted(table)) ORDER BY 1")
      for start in stride(from: 0, to: rows.count, by: FlightsCopy.batch) {
        let texts = rows[start..<min(start + FlightsCopy.batch, rows.count)].map { row in
          "(" + row.map(FlightsCopy.literal).joined(separator: ", ") + ")"
        }
        try target.execute(
          "INSERT INTO \(quoted(table)) VALUES \(texts.joined(separator: ", "))")
      }
    }
    try target.execute(FlightsSample.postgreSQLRules)
    try target.execute("COMMIT")
    try target.execute("ANALYZE")
  }

  private static func literal(_ value: SQLiteValue) -> String {
    switch value {
    case .null: "NULL"
    case .integer(let number): String(number)
    case .real(let number): number.description
    case .text(let text): "'" + text.replacing("'", with: "''") + "'"
    case .blob: preconditionFailure("the sample has no bytes")
    }
  }
}
