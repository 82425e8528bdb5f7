import FerryModel
import FerrySQLite
import FerryServer
import FerryWire

extension Explanation {
  /// Reads a data folder without disturbing a server that may be working on it.
  package static func read(
    folder: String, entity: String, key: String
  ) throws(ServerError)
    -> [Explanation]
  {
    try MoveMark.requireNone(in: folder)
    let path = "\(folder)/server.sqlite"
    do {
      let connection = try Connection(path: path, mode: .readOnly)
      return try connection.transaction(.deferred) { () throws(SQLiteError) in
        var found: [Explanation] = []
        for row in try connection.rows("SELECT id, name FROM package ORDER BY name") {
          guard let package = row[0].integer, let name = row[1].text else { continue }
          var why = try explain(
            connection, package, name, entity, key,
            isWithdrawn: WithdrawnPackages(folder: folder).contains(name))
          if why.version == nil, why.operations.isEmpty {
            why.similar = try similar(connection, package, entity, key)
          }
          found.append(why)
        }
        return found
      }
    } catch  where error.isCannotOpen {
      throw .noStore(in: folder)
    } catch {
      throw ServerError(StoreError(error), store: path)
    }
  }

  static func explain(
    _ connection: Connection, _ package: Int64, _ packageName: String, _ entity: String,
    _ key: String, isWithdrawn: Bool = false
  ) throws(SQLiteError) -> Explanation {
    // A key may be given as people write it: a text without its quotes.
    let quotedKey = ObjectKey([.text(key)]).text
    let number = try connection.value(
      "SELECT id FROM entity WHERE package = ? AND name = ?", .integer(package), .text(entity))?
      .integer
    let row = try connection.row(
      """
      SELECT r.version, r.deleted, r.body, r.partition, r.key, p.group_name, p.rule, p.place
      FROM row AS r LEFT JOIN partition AS p ON p.id = r.partition
      WHERE r.entity = ? AND r.key IN (?, ?) ORDER BY r.key = ? DESC LIMIT 1
      """, .optional(number), .text(key), .text(quotedKey), .text(key))
    let rejected = try connection.row(
      """
      SELECT attribute, reason FROM rejected
      WHERE package = ? AND entity = ? AND key IN (?, ?) LIMIT 1
      """, .integer(package), .text(entity), .text(key), .text(quotedKey))
    let reason = rejected.map { "\($0[0].text ?? ""): \($0[1].text ?? "")" }
    let text = row?[4].text ?? key
    // A store of an earlier server has no such table.
    let hasFound =
      try connection.value(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'unknown_outcome'") != nil
    let found =
      hasFound
      ? "(SELECT candidates FROM unknown_outcome AS u WHERE u.operation = operation.id)" : "NULL"
    let operations = try connection.rows(
      """
      SELECT id, kind, user, device, state, outcome, answer_version, answer, \(found) FROM operation
      WHERE package = ? AND entity = ? AND (object_key IN (?, ?) OR new_key IN (?, ?))
      ORDER BY sequence DESC LIMIT 20
      """, .integer(package), .text(entity), .text(key), .text(quotedKey), .text(key),
      .text(quotedKey))
    let isLoaded =
      try connection.value(
        "SELECT loaded FROM package WHERE id = ?", .integer(package))?.integer == 1
    // A store of an earlier server has no such table.
    let hasBorders =
      try connection.value(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'border'") != nil
    let borders = hasBorders ? try SQLiteStore.borders(connection, .integer(package)) : []
    return Explanation(
      package: packageName, entity: entity, key: text,
      verdict: (isWithdrawn
        ? "The package was withdrawn from the server, and no device gets anything of it. When it was: "
        : "")
        + verdict(
          hasEntity: number != nil, entity, row, reason, borders, isLoaded: isLoaded),
      version: row?[0].integer, isDeleted: row?[1].integer == 1, group: row?[5].text,
      rule: row?[6].text, place: row?[7].text,
      body: row?[2].blob.map { String(decoding: $0, as: UTF8.self) }, rejectedReason: reason,
      operations: operations.map(line), isWithdrawn: isWithdrawn)
  }

  private static func verdict(
    hasEntity: Bool, _ entity: String, _ row: [SQLiteValue]?, _ reason: String?,
    _ borders: [WindowBorder], isLoaded: Bool
  ) -> String {
    guard hasEntity else { return "The model has no such entity." }
    if let reason { return "The row does not fit the model: \(reason)" }
    guard let row else {
      return isLoaded
        ? "The business system had no such row when it was last read."
        : "The business system has not been read yet."
    }
    if row[1].integer == 1 { return "The row was deleted in the business system." }
    guard let rule = row[6].text else {
      return WindowBorder.verdict(of: entity, body: row[2].blob ?? [], borders)
    }
    if rule.isEmpty { return "Every device that subscribes its group has the row." }
    return "Devices whose user has [\(row[7].text ?? "")] for \(rule) have the row."
  }

  private static func line(_ row: [SQLiteValue]) -> OperationLine {
    let record = row[7].blob.flatMap { try? Answer(json: $0) }?.logRecords.first
    return OperationLine(
      id: row[0].text ?? "", kind: row[1].text ?? "", user: row[2].text ?? "",
      device: row[3].text ?? "", state: row[4].text ?? "", outcome: row[5].text,
      version: row[6].integer, reason: record.map { "\($0.code) \($0.message)" },
      found: row[5].text == "unknown" ? row[8].text : nil)
  }
}
