import FerryJSON
import FerryModel
import FerrySQLite
import FerryWire

/// Takes in the log records that apps wrote on their devices, each once.
struct ReportInbox {
  let store: Store
  let limits: ServiceLimits

  /// One durable transaction. Returns the ids of all of them: those that were here already too.
  func keep(
    _ report: Report, from identity: Identity, device: String
  ) throws(SQLiteError)
    -> [OperationID]
  {
    try store.writer.transaction { () throws(SQLiteError) in
      for record in report.records {
        var writer = JSONWriter()
        writer.logRecord(record)
        try store.writer.run(
          """
          INSERT INTO report (id, package, device, user, level, record, day)
          SELECT ?, ?, ?, ?, ?, ?, days FROM server WHERE true ON CONFLICT DO NOTHING
          """, .text(record.requestID.text), .integer(store.packageNumber), .text(device),
          .text(identity.user), .text(record.level.rawValue), .text(writer.text))
      }
      // A device that does not stop must not fill the store.
      try store.writer.run(
        """
        DELETE FROM report WHERE device = ?1 AND user = ?2 AND number <= (
          SELECT number FROM report WHERE device = ?1 AND user = ?2
          ORDER BY number DESC LIMIT 1 OFFSET ?3)
        """, .text(device), .text(identity.user), .integer(Int64(limits.reportsPerDevice)))
      try store.writer.run(
        """
        DELETE FROM report WHERE user = ?1 AND number <= (
          SELECT number FROM report WHERE user = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)
        """, .text(identity.user), .integer(Int64(limits.reportsPerUser)))
      return report.records.map(\.requestID)
    }
  }
}

/// A log record of a device, as the operator sees it (`ferry log`).
public struct DeviceReport: Sendable, Equatable {
  public let package: String
  public let device: String
  public let user: String
  public let record: LogRecord

  /// Which of them; everything that is given must hold.
  public struct Question: Sendable {
    public var user: String?
    public var device: String?
    public var component: String?
    /// This level or a graver one.
    public var atLeast: LogRecord.Level = .trace
    public var take: Int = 100

    public init() {}
  }

  /// Reads a data folder without disturbing a server that may be working on it; the last ones,
  /// oldest first.
  public static func read(
    folder: String, _ question: Question
  ) throws(ServerError) -> [DeviceReport] {
    let path = "\(folder)/server.sqlite"
    do {
      let connection = try Connection(path: path, mode: .readOnly)
      let graver = LogRecord.Level.allCases.drop { $0 != question.atLeast }
      let levels = graver.map { "'\($0.rawValue)'" }.joined(separator: ", ")
      return try connection.rows(
        """
        SELECT p.name, r.device, r.user, r.record FROM report AS r
        JOIN package AS p ON p.id = r.package
        WHERE r.level IN (\(levels)) AND coalesce(r.user = ?1, true)
          AND coalesce(r.device = ?2, true) AND coalesce(r.record ->> 'component' = ?3, true)
        ORDER BY r.number DESC LIMIT ?4
        """, .optional(question.user), .optional(question.device),
        .optional(question.component), .integer(Int64(question.take))
      ).reversed().compactMap { row in
        guard let text = row[3].text, let record = try? LogRecord(json: Array(text.utf8)) else {
          return nil
        }
        return DeviceReport(
          package: row[0].text ?? "", device: row[1].text ?? "", user: row[2].text ?? "",
          record: record)
      }
    } catch {
      throw ServerError(error, store: path)
    }
  }
}
