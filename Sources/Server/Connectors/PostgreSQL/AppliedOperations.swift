import FerryConnector
import FerryModel
import FerryPostgreSQL

/// The table in the business database that remembers which operations were performed.
///
/// A row is written first in the operation's own transaction, so it is there exactly when the
/// effect is there: Documentation/Decisions/0005-ferry-applied.md.
enum AppliedOperations {
  static let create: [String] = [
    "CREATE SCHEMA IF NOT EXISTS ferry",
    """
    CREATE TABLE IF NOT EXISTS ferry.applied (
      operation text NOT NULL PRIMARY KEY, hash text NOT NULL, result text NOT NULL)
    """,
    """
    CREATE TABLE IF NOT EXISTS ferry.leader (
      store text NOT NULL PRIMARY KEY, term bigint NOT NULL)
    """,
  ]

  static func exists(_ connection: PostgreSQLConnection) throws(PostgreSQLError) -> Bool {
    try connection.value(
      """
      SELECT pg_catalog.to_regclass('ferry.applied') IS NOT NULL
        AND pg_catalog.to_regclass('ferry.leader') IS NOT NULL
      """) == "t"
  }

  /// Claims an operation that nobody has claimed: one that is known fails with `isKnown`. Waits for a
  /// transaction that has claimed the same operation and has not ended. `result`: the key it will come
  /// to, where that is known before.
  static func claiming(
    _ operation: ConnectorOperation, result: ObjectKey?
  ) -> PostgreSQLConnection.Request {
    PostgreSQLConnection.Request(
      "INSERT INTO ferry.applied (operation, hash, result) VALUES ($1, $2, $3)",
      [.text(operation.id.text), .text(operation.contentHash), .text(result?.text ?? "")])
  }

  /// Whether an operation that is known was claimed.
  static func isKnown(_ error: PostgreSQLError) -> Bool {
    error.sqlState == "23505" && error.schema == "ferry" && error.table == "applied"
      && !error.isRaised
  }

  /// The same where the operation may be known, in a trip of its own.
  static func claim(
    _ operation: ConnectorOperation, _ connection: PostgreSQLConnection
  ) throws(PostgreSQLError) -> OperationClaim {
    let claimed = try connection.rows(
      """
      INSERT INTO ferry.applied (operation, hash, result) VALUES ($1, $2, '')
      ON CONFLICT DO NOTHING
      """, [.text(operation.id.text), .text(operation.contentHash)])
    guard claimed.affected == 0 else { return .new }
    let known = try connection.rows(
      "SELECT hash, result FROM ferry.applied WHERE operation = $1", [.text(operation.id.text)])
    guard known.count == 1, known.text(0, 0) == operation.contentHash else { return .otherContent }
    return .performed(ObjectKey(text: known.text(0, 1) ?? ""))
  }

  static func finishing(
    _ operation: ConnectorOperation, key: ObjectKey
  ) -> PostgreSQLConnection.Request {
    PostgreSQLConnection.Request(
      "UPDATE ferry.applied SET result = $1 WHERE operation = $2",
      [.text(key.text), .text(operation.id.text)])
  }

  /// To be called in a transaction that is rolled back. It claims what nobody has claimed, and so
  /// waits for a transaction that may still commit; it throws where that takes too long.
  static func recall(
    _ ids: [OperationID], _ connection: PostgreSQLConnection
  ) throws(PostgreSQLError) -> [OperationOutcome?] {
    var outcomes: [OperationOutcome?] = []
    for id in ids {
      let claimed = try connection.rows(
        """
        INSERT INTO ferry.applied (operation, hash, result) VALUES ($1, '', '')
        ON CONFLICT DO NOTHING
        """, [.text(id.text)])
      guard claimed.affected == 0 else {
        outcomes.append(nil)
        continue
      }
      let result = try connection.value(
        "SELECT result FROM ferry.applied WHERE operation = $1", [.text(id.text)])
      outcomes.append(result.map { .accepted(key: ObjectKey(text: $0)) })
    }
    return outcomes
  }
}
