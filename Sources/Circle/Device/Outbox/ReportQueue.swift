import FerryModel
import FerrySQLite
import FerryWire

/// The app's own log records on their way to the server.
package struct ReportQueue {
  let transaction: Transaction

  package init(_ transaction: Transaction) { self.transaction = transaction }

  /// Lets everything that was written so far go; how many that are.
  package func submit() throws(FerryError) -> Int {
    try transaction.run("UPDATE ferry_report SET submitted = 1 WHERE submitted = 0")
    return transaction.connection.changes
  }

  /// As many as go into one message, the oldest.
  func outgoing() throws(FerryError) -> Report? {
    guard try isTaken() == true else { return nil }
    let rows = try transaction.rows(
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

  func hasOutgoing() throws(FerryError) -> Bool {
    guard try isTaken() != false else { return false }
    return try transaction.value("SELECT 1 FROM ferry_report WHERE submitted = 1 LIMIT 1") != nil
  }

  /// Whether the server takes log records: an older one would refuse all that is in the same
  /// request. Nil until it has said so.
  private func isTaken() throws(FerryError) -> Bool? {
    try transaction.setting(.takes)?.split(separator: " ").contains { $0 == Welcome.report }
  }

  /// The server has them: they are kept there.
  func forget(_ ids: [OperationID]) throws(FerryError) {
    for id in ids {
      try transaction.run("DELETE FROM ferry_report WHERE id = ?", .text(id.text))
    }
  }
}
