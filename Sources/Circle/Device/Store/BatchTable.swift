import FerryModel
import FerrySQLite
import FerryWire

/// The operations that one synchronization sent and does not wait for: when the server has ended
/// their replay, a synchronization fetches the results.
///
/// A batch is removed when that synchronization has ended or was cancelled, so a crash in between
/// repeats it.
package enum BatchTable {
  static let statements = [
    """
    CREATE TABLE IF NOT EXISTS ferry_batch (
      number INTEGER PRIMARY KEY AUTOINCREMENT, groups TEXT NOT NULL,
      notifies INTEGER NOT NULL DEFAULT 1)
    """,
    """
    CREATE TABLE IF NOT EXISTS ferry_batch_member (
      operation TEXT PRIMARY KEY, chain TEXT NOT NULL, batch INTEGER NOT NULL,
      finished INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID
    """,
    "CREATE INDEX IF NOT EXISTS ferry_batch_member_batch ON ferry_batch_member (batch)",
    "CREATE INDEX IF NOT EXISTS ferry_batch_member_chain ON ferry_batch_member (chain)",
  ]

  static func begin(
    of groups: [String], notifies: Bool, _ connection: Connection
  ) throws(SQLiteError) -> Int64 {
    try connection.run(
      "INSERT INTO ferry_batch (groups, notifies) VALUES (?, ?)",
      .text(SQLiteValue.list(groups.map(SQLiteValue.text)) ?? "[]"), .flag(notifies))
    return connection.lastInsertRowID
  }

  /// Operations that a request sends; those of an earlier batch belong to this one from now on.
  /// Returns which batch each of them was in.
  static func add(
    _ operations: [OperationID], to batch: Int64, _ connection: Connection
  ) throws(SQLiteError) -> [OperationID: Int64] {
    var earlier: [OperationID: Int64] = [:]
    for id in operations {
      let known = try connection.value(
        "SELECT batch FROM ferry_batch_member WHERE operation = ?", .text(id.text))
      if let number = known?.integer, number != batch { earlier[id] = number }
      try connection.run(
        """
        INSERT INTO ferry_batch_member (operation, chain, batch)
        SELECT id, chain, ? FROM ferry_operation WHERE id = ?
        ON CONFLICT (operation) DO UPDATE SET chain = excluded.chain, batch = excluded.batch
        """, .integer(batch), .text(id.text))
    }
    return earlier
  }

  static func remove(_ batch: Int64, _ connection: Connection) throws(SQLiteError) {
    try connection.run("DELETE FROM ferry_batch_member WHERE batch = ?", .integer(batch))
    try connection.run("DELETE FROM ferry_batch WHERE number = ?", .integer(batch))
  }

  /// The server has answered these; the answers come with a checkpoint.
  static func finish(
    operations: [OperationID], chains: [OperationID] = [], _ connection: Connection
  ) throws(SQLiteError) {
    for id in operations {
      try connection.run(
        "UPDATE ferry_batch_member SET finished = 1 WHERE operation = ?", .text(id.text))
    }
    for id in chains {
      try connection.run(
        "UPDATE ferry_batch_member SET finished = 1 WHERE chain = ?", .text(id.text))
    }
  }

  /// A server that has started again, or is a restored one, may replay again what it had ended, though
  /// it knows the operations: only what it says from now on counts.
  static func ask(in era: String, _ connection: Connection) throws(SQLiteError) {
    guard try Settings.get(.batchEra, connection) != era else { return }
    try connection.run("UPDATE ferry_batch_member SET finished = 0 WHERE finished <> 0")
    try Settings.set(.batchEra, era, connection)
  }

  /// The server has forgotten this operation, so its answer too.
  static func reopen(_ id: OperationID, _ connection: Connection) throws(SQLiteError) {
    try connection.run(
      "UPDATE ferry_batch_member SET finished = 0 WHERE operation = ?", .text(id.text))
  }

  /// Whether the server still replays something of a batch. What is answered and imported has left
  /// the device's queue, or has another id by now.
  private static let isRunning = """
    EXISTS (SELECT 1 FROM ferry_batch_member AS member JOIN ferry_operation AS operation
      ON operation.id = member.operation
      WHERE member.batch = ferry_batch.number AND member.finished = 0
        AND operation.state IN ('submitted', 'withdrawn'))
    """

  package static func isFinished(
    _ batch: Int64, _ connection: Connection
  ) throws(SQLiteError) -> Bool {
    try connection.value(
      "SELECT 1 FROM ferry_batch WHERE number = ? AND \(isRunning)", .integer(batch)) == nil
  }

  /// Whether a batch is here that the server is to report on.
  package static func isWaiting(_ connection: Connection) throws(SQLiteError) -> Bool {
    try connection.value("SELECT 1 FROM ferry_batch LIMIT 1") != nil
  }

  /// The oldest finished batch and its groups; `open` is still being sent.
  static func finished(
    but open: Int64?, _ connection: Connection
  ) throws(SQLiteError) -> (number: Int64, groups: [String])? {
    let row = try connection.row(
      """
      SELECT number, (SELECT group_concat(value, char(10)) FROM json_each(groups)) FROM ferry_batch
      WHERE number IS NOT ? AND notifies AND NOT \(isRunning) ORDER BY number LIMIT 1
      """, .optional(open))
    guard let row, let number = row[0].integer, let groups = row[1].text else { return nil }
    return (number, groups.split(separator: "\n").map(String.init))
  }

  /// Nothing of a batch has left: its operations belong to the batch that they were in before, which
  /// may have left. Where that is gone they stay in this one, which then reports on them.
  static func takeBack(
    _ batch: Int64, earlier: [OperationID: Int64], _ connection: Connection
  ) throws(SQLiteError) {
    for (id, number) in earlier {
      try connection.run(
        """
        UPDATE ferry_batch_member SET batch = ? WHERE operation = ? AND batch = ?
          AND EXISTS (SELECT 1 FROM ferry_batch WHERE number = ?)
        """, .integer(number), .text(id.text), .integer(batch), .integer(number))
    }
    try connection.run(
      """
      DELETE FROM ferry_batch_member WHERE batch = ? AND operation IN
        (SELECT id FROM ferry_operation WHERE acknowledged = 0)
        AND operation NOT IN (SELECT value FROM json_each(?))
      """, .integer(batch), .text(SQLiteValue.list(earlier.keys.map { .text($0.text) }) ?? "[]"))
    try sweep(but: nil, connection)
  }

  /// Batches that no synchronization of this process is at and of which nothing is left: their
  /// operations were sent again in a later one. And those that nobody waits for any more.
  static func sweep(but open: Int64?, _ connection: Connection) throws(SQLiteError) {
    let left = try connection.rows(
      """
      SELECT number FROM ferry_batch WHERE number IS NOT ? AND (NOT notifies OR NOT EXISTS
        (SELECT 1 FROM ferry_batch_member WHERE batch = ferry_batch.number))
      """, .optional(open))
    for row in left { if let number = row[0].integer { try remove(number, connection) } }
  }
}
