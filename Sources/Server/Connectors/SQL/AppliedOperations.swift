import FerryConnector
import FerryModel
import FerrySQLite

/// The table in the business database that remembers which operations were performed.
///
/// A row is written first in the operation's own transaction, so it is there exactly when the
/// effect is there: Documentation/Decisions/0005-ferry-applied.md.
enum AppliedOperations {
  static let table: String = "ferry_applied"

  /// Somebody else's table of this name: nothing could be remembered in it.
  static func mismatch(_ connection: Connection) throws(SQLiteError) -> Mismatch? {
    let columns = try connection.rows(
      "SELECT name FROM pragma_table_info(?) ORDER BY cid", .text(table)
    ).map { $0[0].text ?? "" }
    guard !columns.isEmpty, columns != ["operation", "hash", "result"] else { return nil }
    return Mismatch(
      place: table, problem: "the database has a table of this name that is not Ferry's",
      cure: "Rename it, or start ferryd with --forget-operations.")
  }

  static let creation: String = """
    CREATE TABLE IF NOT EXISTS ferry_applied (
      operation TEXT NOT NULL PRIMARY KEY, hash TEXT NOT NULL, result TEXT NOT NULL
    ) WITHOUT ROWID
    """

  static func create(_ connection: Connection) throws(SQLiteError) {
    try connection.execute(creation)
  }

  static func claim(
    _ operation: ConnectorOperation, _ connection: Connection
  ) throws(SQLiteError) -> OperationClaim {
    let hash = operation.contentHash
    try connection.run(
      """
      INSERT INTO ferry_applied (operation, hash, result) VALUES (?, ?, '') ON CONFLICT DO NOTHING
      """,
      .text(operation.id.text), .text(hash))
    guard connection.changes == 0 else { return .new }
    let known = try connection.row(
      "SELECT hash, result FROM ferry_applied WHERE operation = ?", .text(operation.id.text))
    guard known?[0].text == hash else { return .otherContent }
    return .performed(ObjectKey(text: known?[1].text ?? ""))
  }

  static func finish(
    _ operation: ConnectorOperation, key: ObjectKey, _ connection: Connection
  ) throws(SQLiteError) {
    try connection.run(
      "UPDATE ferry_applied SET result = ? WHERE operation = ?", .text(key.text),
      .text(operation.id.text))
  }

  /// A database that has no such table yet performed nothing.
  static func recall(
    _ ids: [OperationID], _ connection: Connection
  ) throws(SQLiteError) -> [OperationOutcome?] {
    let exists = try connection.value(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'ferry_applied'")
    guard exists != nil else { return ids.map { _ in nil } }
    var outcomes: [OperationOutcome?] = []
    for id in ids {
      let result = try connection.value(
        "SELECT result FROM ferry_applied WHERE operation = ?", .text(id.text))
      outcomes.append(result?.text.map { .accepted(key: ObjectKey(text: $0)) })
    }
    return outcomes
  }
}
