import FerryModel
import FerrySQLite
import FerryWire

/// The app's own log records on their way to the server.
extension Store {
  /// Lets everything that was written so far go. False when there is nothing.
  package func submitReports() throws(FerryError) -> Bool {
    let count = try write { connection throws(FerryError) in
      try self.sql { () throws(SQLiteError) in
        try connection.run("UPDATE ferry_report SET submitted = 1 WHERE submitted = 0")
        return connection.changes
      }
    }
    if count > 0 { bell.ring() }
    return count > 0
  }

  /// As many as go into one message, the oldest.
  package func outgoingReport(_ connection: Connection) throws(SQLiteError) -> Report? {
    guard try takesReports(connection) == true else { return nil }
    let rows = try connection.rows(
      """
      SELECT record FROM ferry_report WHERE submitted = 1 ORDER BY number
      LIMIT \(WireLimits.reportRecords)
      """)
    var bytes = 0
    let fitting = rows.prefix { row in
      bytes += row[0].text?.utf8.count ?? 0
      return bytes <= WireLimits.reportBytes
    }
    let records = fitting.compactMap { row in
      row[0].text.flatMap { try? LogRecord(json: Array($0.utf8)) }
    }
    return records.isEmpty ? nil : Report(records: records)
  }

  package func hasOutgoingReport(_ connection: Connection) throws(SQLiteError) -> Bool {
    guard try takesReports(connection) != false else { return false }
    return try connection.value("SELECT 1 FROM ferry_report WHERE submitted = 1 LIMIT 1") != nil
  }

  /// Whether the server takes log records: an older one would refuse all that is in the same
  /// request. Nil until it has said so.
  private func takesReports(_ connection: Connection) throws(SQLiteError) -> Bool? {
    try Settings.get(.takes, connection)?.split(separator: " ").contains { $0 == Welcome.report }
  }

  /// The server has them: they are kept there.
  package func forgetReports(_ ids: [OperationID], _ connection: Connection) throws(SQLiteError) {
    for id in ids {
      try connection.run("DELETE FROM ferry_report WHERE id = ?", .text(id.text))
    }
  }
}
