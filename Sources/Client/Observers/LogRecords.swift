import FerryModel
import FerrySQLite
public import FerryWire

/// A message of the server about an operation (sync/P17).
public typealias LogRecord = FerryWire.LogRecord

extension BusinessObject {
  /// What the server had to say about this object's operations, oldest first (sync/P18). They stay
  /// until the object is accepted or its pending change is cancelled.
  public var logRecords: [LogRecord] {
    get throws(FerryError) {
      guard let object = record.object else { return [] }
      return try record.store.logRecords(
        "WHERE entity = ? AND object = ?",
        [
          .text(Self.entity.name), .integer(object),
        ])
    }
  }
}

extension Store {
  package func logRecords(
    _ rest: String, _ parameters: [SQLiteValue]
  ) throws(FerryError) -> [LogRecord] {
    let texts = try read { connection throws(FerryError) in
      try self.sql { () throws(SQLiteError) in
        try connection.rows(
          "SELECT record FROM ferry_log_record \(rest) ORDER BY number", parameters)
      }
    }
    return texts.compactMap { row in
      row[0].text.flatMap { try? LogRecord(json: Array($0.utf8)) }
    }
  }
}
