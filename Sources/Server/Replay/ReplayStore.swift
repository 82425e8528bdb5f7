import FerryConnector
import FerryModel
import FerrySQLite
import FerryWire

/// Reads the operations that wait, claims them, and writes their answers.
struct ReplayStore {
  let store: Store

  /// What a stop or a crash left, in the order of arrival. Claims are given back: each may have
  /// been performed.
  func waiting() throws(SQLiteError) -> [(ReceivedOperation, wasClaimed: Bool)] {
    // What an operator had decided and was not done is unknown as before, and theirs to decide.
    try store.writer.run(
      """
      UPDATE operation SET state = 'answered', claimed_by = NULL
      WHERE package = ? AND state = 'claimed' AND outcome = 'unknown'
      """, .integer(store.packageNumber))
    let rows = try store.writer.rows(
      """
      SELECT sequence, device, user, claims, payload, may_have_run, roles, state FROM operation
      WHERE package = ? AND state IN ('stored', 'claimed') ORDER BY sequence
      """, .integer(store.packageNumber))
    var waiting: [(ReceivedOperation, wasClaimed: Bool)] = []
    for row in rows {
      waiting.append((try received(row), row[7].text == OperationState.claimed.rawValue))
    }
    try store.writer.run(
      """
      UPDATE operation SET state = 'stored', may_have_run = 1, claimed_by = NULL
      WHERE package = ? AND state = 'claimed'
      """, .integer(store.packageNumber))
    return waiting
  }

  func operation(_ id: OperationID) throws(SQLiteError) -> ReceivedOperation {
    let row = try store.writer.row(
      """
      SELECT sequence, device, user, claims, payload, may_have_run, roles FROM operation WHERE id = ?
      """, .text(id.text))
    guard let row else { throw SQLiteError.damaged("the operation \(id) is missing") }
    return try received(row)
  }

  /// Before anything is performed, and durable.
  func claim(_ claims: [(ids: [OperationID], mark: Mark)]) throws(SQLiteError) {
    try store.writer.transaction { () throws(SQLiteError) in
      for (ids, mark) in claims {
        for id in ids {
          try store.writer.run(
            "UPDATE operation SET state = 'claimed', claimed_by = ?, mark = ? WHERE id = ?",
            .text(store.era), .integer(mark.version), .text(id.text))
        }
      }
    }
  }

  func release(_ ids: [OperationID], mayHaveRun: Bool) throws(SQLiteError) {
    try store.writer.transaction { () throws(SQLiteError) in
      for id in ids {
        try store.writer.run(
          "UPDATE operation SET state = 'stored', claimed_by = NULL, may_have_run = ? WHERE id = ?",
          .flag(mayHaveRun), .text(id.text))
      }
    }
  }

  func answer(
    _ operation: ConnectorOperation, _ answer: Answer, _ transaction: NumberedTransaction
  ) throws(SQLiteError) {
    transaction.hasWritten = true
    try store.writer.run(
      """
      UPDATE operation SET state = 'answered', claimed_by = NULL, outcome = ?, answer = ?,
        answer_version = ?, new_key = ? WHERE id = ?
      """, .text(answer.outcome.rawValue), .blob(answer.json), .integer(answer.version),
      .optional(answer.newKey?.text), .text(operation.id.text))
  }

  private func received(_ row: [SQLiteValue]) throws(SQLiteError) -> ReceivedOperation {
    guard let sequence = row[0].integer, let device = row[1].text, let user = row[2].text,
      let payload = row[4].blob, let operation = try? Operation(payload, in: store.package)
    else { throw SQLiteError.damaged("an operation that waits cannot be read") }
    return ReceivedOperation(
      sequence: sequence, device: device, user: user,
      roles: ClaimText.decodeRoles(row[6].text ?? ""),
      claims: ClaimText.decode(row[3].text ?? "{}"), operation: operation,
      mayHaveRun: row[5].integer == 1, bytes: payload.count)
  }
}
