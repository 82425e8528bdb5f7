import FerryJSON
import FerryModel
import FerrySQLite
public import FerryWire

/// Log records that the app writes itself, for the operator of the server (the reference's
/// `createLogRecord`, facts/1.5).
extension BusinessObject {
  /// Writes a log record about this object. It stays on the device until
  /// `FerryDatabase.submitLogRecords`, and is part of the transaction that is open.
  ///
  /// `code` is the app's own; a message has at most `WireLimits.reportCharacters` characters. An
  /// object that was not saved has no key yet: its record tells of the entity alone.
  @discardableResult
  public func createLogRecord(
    _ level: LogRecord.Level, _ message: String, code: Int = 0
  ) throws(FerryError) -> LogRecord {
    try Reports(record.store).write(
      level, message, code: code, component: Self.entity.name,
      entityKey: record.object == nil ? "" : record.key.text,
      operation: ["C": .create, "U": .update, "D": .delete][record.pending.rawValue])
  }
}

/// The log records of the app that the server does not have yet.
package struct Reports {
  private let store: Store

  package init(_ store: Store) { self.store = store }

  /// How many reports wait on a device at most; the oldest go for new ones.
  package static let kept = 10_000

  package func write(
    _ level: LogRecord.Level, _ message: String, code: Int, component: String, entityKey: String,
    operation: OperationKind?
  ) throws(FerryError) -> LogRecord {
    guard message.count <= WireLimits.reportCharacters else {
      throw FerryError(
        .tooLarge,
        "a log record of \(message.count) characters was written, "
          + "\(WireLimits.reportCharacters) are allowed",
        hint: "Shorten the message.", entity: component.isEmpty ? nil : component)
    }
    let record = LogRecord(
      component: component, entityKey: entityKey, code: code, message: message,
      operation: operation, requestID: store.newOperationID(),
      timestamp: store.world.clock.now.milliseconds, level: level)
    var writer = JSONWriter()
    writer.logRecord(record)
    let text = writer.text
    try store.withTransaction { transaction throws(FerryError) in
      try transaction.run(
        "INSERT INTO ferry_report (id, record) VALUES (?, ?)", .text(record.requestID.text),
        .text(text))
      try transaction.run(
        "DELETE FROM ferry_report WHERE number <= ?",
        .integer(transaction.connection.lastInsertRowID - Int64(Reports.kept)))
    }
    return record
  }

  /// Oldest first.
  package func all() throws(FerryError) -> [LogRecord] {
    try store.withSnapshot { transaction throws(FerryError) in
      try transaction.rows("SELECT record FROM ferry_report ORDER BY number").compactMap { row in
        row[0].text.flatMap { try? LogRecord(json: Array($0.utf8)) }
      }
    }
  }
}
