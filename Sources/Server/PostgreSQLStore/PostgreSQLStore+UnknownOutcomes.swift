import FerryModel
import FerryPostgreSQL
import FerryServer

/// What an operator may see of operations whose outcome nobody knows.
extension PostgreSQLStore {
  package func note(_ outcomes: [UnknownOutcome]) throws(StoreError) {
    for outcome in outcomes {
      try lead(
        """
        INSERT INTO ferry_store.unknown_outcome (operation, package, reason, candidates)
        VALUES ($1, $2, $3, $4)
        ON CONFLICT (operation)
          DO UPDATE SET reason = excluded.reason, candidates = excluded.candidates
        """,
        [.text(outcome.operation.text), number, .exact(outcome.reason), .exact(outcome.candidates)])
    }
  }

  package func unknownOutcomes() throws(StoreError) -> [UnknownOutcome] {
    let rows = try rows(
      """
      SELECT o.id, u.reason, u.candidates FROM ferry_store.operation AS o
      LEFT JOIN ferry_store.unknown_outcome AS u ON u.operation = o.id
      WHERE o.package = $1 AND o.outcome = 'unknown' AND o.payload IS NOT NULL ORDER BY o.sequence
      """, [number])
    return (0..<rows.count).compactMap { row in
      rows.text(row, 0).flatMap { OperationID($0) }.map {
        UnknownOutcome(
          operation: $0, reason: rows.exact(row, 1) ?? "",
          candidates: rows.exact(row, 2) ?? "[]")
      }
    }
  }
}
