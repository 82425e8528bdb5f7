import FerryModel
import FerryPostgreSQL
import FerryServer
import FerryWire

extension PostgreSQLStore {
  package func explain(_ entity: String, _ key: String) throws(StoreError) -> Explanation {
    // A key may be given as people write it: a text without its quotes.
    let keys = PostgreSQLValue.texts([key, ObjectKey([.text(key)]).text])
    let entityNumber = try rows(
      "SELECT id FROM ferry_store.entity WHERE package = $1 AND name = $2",
      [number, .exact(entity)]
    ).first?.integer(0, 0)
    let row = try rows(
      """
      SELECT r.version, r.deleted, r.body, r.key, p.group_name, p.rule, p.place
      FROM ferry_store.row AS r LEFT JOIN ferry_store.partition AS p ON p.id = r.partition
      WHERE r.entity = $1 AND r.key = ANY($2::text[]) ORDER BY r.key = $3 DESC LIMIT 1
      """, [entityNumber.map { .integer($0) } ?? .null, keys, .exact(key)]
    ).first
    let rejected = try rows(
      """
      SELECT attribute, reason FROM ferry_store.rejected
      WHERE package = $1 AND entity = $2 AND key = ANY($3::text[]) LIMIT 1
      """, [number, .exact(entity), keys]
    ).first.map { "\($0.exact(0, 0) ?? ""): \($0.exact(0, 1) ?? "")" }
    let operations = try rows(
      """
      SELECT id, kind, user_name, device, state, outcome, answer_version, answer
      FROM ferry_store.operation
      WHERE package = $1 AND entity = $2
        AND (object_key = ANY($3::text[]) OR new_key = ANY($3::text[]))
      ORDER BY sequence DESC LIMIT 20
      """, [number, .exact(entity), keys])
    return Explanation(
      package: package.id, entity: entity, key: row?.exact(0, 3) ?? key,
      verdict: verdict(
        hasEntity: entityNumber != nil, entity, row, rejected, try borders(),
        isLoaded: try isLoaded()),
      version: row?.integer(0, 0), isDeleted: row?.flag(0, 1) ?? false,
      group: row?.exact(0, 4), rule: row?.exact(0, 5), place: row?.exact(0, 6),
      body: row?.text(0, 2), rejectedReason: rejected,
      operations: (0..<operations.count).map { line(operations, $0) })
  }

  private func verdict(
    hasEntity: Bool, _ entity: String, _ row: PostgreSQLRows?, _ reason: String?,
    _ borders: [WindowBorder], isLoaded: Bool
  ) -> String {
    guard hasEntity else { return "The model has no such entity." }
    if let reason { return "The row does not fit the model: \(reason)" }
    guard let row else {
      return isLoaded
        ? "The business system had no such row when it was last read."
        : "The business system has not been read yet."
    }
    if row.flag(0, 1) { return "The row was deleted in the business system." }
    guard let rule = row.exact(0, 5) else {
      return WindowBorder.verdict(of: entity, body: row.body(0, 2) ?? [], borders)
    }
    if rule.isEmpty { return "Every device that subscribes its group has the row." }
    return "Devices whose user has [\(row.exact(0, 6) ?? "")] for \(rule) have the row."
  }

  private func line(_ rows: PostgreSQLRows, _ row: Int) -> Explanation.OperationLine {
    let record = rows.blob(row, 7).flatMap { try? Answer(json: $0) }?.logRecords.first
    return Explanation.OperationLine(
      id: rows.text(row, 0) ?? "", kind: rows.text(row, 1) ?? "", user: rows.exact(row, 2) ?? "",
      device: rows.exact(row, 3) ?? "", state: rows.text(row, 4) ?? "",
      outcome: rows.text(row, 5), version: rows.integer(row, 6),
      reason: record.map { "\($0.code) \($0.message)" })
  }
}
