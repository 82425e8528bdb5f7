import FerryModel
import FerrySQLite
import FerryWire

/// The operations that are sealed, on their way to the server.
package struct OperationQueue {
  let transaction: Transaction

  package init(_ transaction: Transaction) { self.transaction = transaction }

  /// The operations to send now, in order, as many as go into one message; they count as sent. The
  /// next exchange takes the rest.
  package func outgoing() throws(FerryError) -> Replay? {
    try outgoing(where: "?1 IS NULL", .null)?.message
  }

  /// The same of those that a test of one parameter, `?1`, chooses.
  func outgoing(
    where test: String, _ parameter: SQLiteValue
  ) throws(FerryError) -> (message: Replay, ids: [OperationID])? {
    let waiting = try transaction.rows(
      """
      SELECT id, payload, may_have_run FROM ferry_operation
      WHERE \(Self.isOutgoing) AND \(test) ORDER BY sequence
      LIMIT \(WireLimits.operationsInFlight)
      """, parameter)
    guard !waiting.isEmpty else { return nil }
    var bytes = 0
    let rows = waiting.prefix { row in
      bytes += row[1].blob?.count ?? 0
      return bytes <= WireLimits.replayBytes
    }
    for row in rows {
      try transaction.run("UPDATE ferry_operation SET sent = 1 WHERE id = ?", row[0])
    }
    let message = Replay(
      operations: rows.compactMap { $0[1].blob },
      mayHaveRun: rows.filter { $0[2].integer == 1 }.compactMap { OperationID($0[0].text ?? "") })
    return (message, rows.compactMap { OperationID($0[0].text ?? "") })
  }

  /// What is submitted and not acknowledged; and what was cancelled so, if others of its chain are
  /// there: the server performs a chain when it has all of it.
  static let isOutgoing = """
    acknowledged = 0 AND state IN ('submitted', 'withdrawn') AND (state = 'submitted' OR EXISTS (
      SELECT 1 FROM ferry_operation AS other WHERE other.chain = ferry_operation.chain
        AND other.sequence <> ferry_operation.sequence))
    """

  /// Whether anything waits to be sent. Two questions: an "or" of both would look at everything.
  package func hasOutgoing() throws(FerryError) -> Bool {
    let again = try transaction.value(
      "SELECT 1 FROM ferry_operation WHERE wanted = 2 LIMIT 1")
    if again != nil { return true }
    return try transaction.value(
      "SELECT 1 FROM ferry_operation WHERE \(Self.isOutgoing) LIMIT 1") != nil
  }

  /// Whether anything was sent, or may have been, and is not answered.
  package func hasUnanswered() throws(FerryError) -> Bool {
    try transaction.value(
      """
      SELECT 1 FROM ferry_operation WHERE state IN ('submitted', 'withdrawn', 'unknown')
      AND sent = 1 LIMIT 1
      """) != nil
  }

  /// Operations that were sent, or may have been, and are not answered.
  package func unanswered() throws(FerryError) -> [OperationID] {
    try transaction.rows(
      """
      SELECT id FROM ferry_operation WHERE state IN ('submitted', 'withdrawn', 'unknown')
      AND sent = 1 ORDER BY sequence LIMIT \(WireLimits.operationsInFlight)
      """
    ).compactMap { OperationID($0[0].text ?? "") }
  }

  /// The server has these.
  package func acknowledge(_ ids: [OperationID]) throws(FerryError) {
    for id in ids {
      try transaction.run(
        "UPDATE ferry_operation SET acknowledged = 1, may_have_run = 0 WHERE id = ?", .text(id.text)
      )
    }
  }

  /// Another server is asked from now on, which knows of no operation what became of it before.
  func mayHaveRun() throws(FerryError) {
    try transaction.run(
      "UPDATE ferry_operation SET acknowledged = 0, may_have_run = 1 WHERE sent = 1")
  }

  /// The server does not know an operation that was sent: it is sent again. If the server had
  /// acknowledged it, it was restored from an older state and must look before it performs. A
  /// withdrawn one is let go, unless others of its chain need it; should it have been done, the next
  /// import shows it.
  package func neverSeen(_ id: OperationID) throws(FerryError) {
    let store = transaction.store
    try transaction.sql { connection throws(SQLiteError) in
      let pending = PendingStore(store, connection)
      let withdrawn = try pending.operations.select(
        """
        WHERE id = ? AND state = 'withdrawn' AND NOT EXISTS (
          SELECT 1 FROM ferry_operation AS other WHERE other.chain = ferry_operation.chain
            AND other.sequence <> ferry_operation.sequence)
        """, [.text(id.text)])
      for operation in withdrawn {
        try pending.letGo(operation)
        if let entity = store.model.entity(named: operation.entity) {
          try pending.forgetKey(of: operation, entity)
        }
      }
    }
    try transaction.run(
      """
      UPDATE ferry_operation SET acknowledged = 0, may_have_run = 1
      WHERE id = ? AND acknowledged = 1
      """, .text(id.text))
    try Uploads(transaction).begin(again: id)
  }
}
