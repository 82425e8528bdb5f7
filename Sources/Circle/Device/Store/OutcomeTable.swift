import FerryJSON
import FerryModel
import FerrySQLite
import FerryWire

/// How operations ended, kept for 30 days. So each process of the app knows it, after a restart too.
package struct OutcomeTable {
  static let statements = [
    """
    CREATE TABLE IF NOT EXISTS ferry_outcome (
      number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, outcome TEXT NOT NULL, reasons TEXT,
      whole TEXT, entity TEXT, object INTEGER, root_entity TEXT, root_object INTEGER,
      ended INTEGER NOT NULL)
    """,
    "CREATE INDEX IF NOT EXISTS ferry_outcome_object ON ferry_outcome (entity, object)",
    """
    CREATE INDEX IF NOT EXISTS ferry_outcome_root ON ferry_outcome (root_entity, root_object)
    WHERE root_entity IS NOT NULL
    """,
    """
    CREATE INDEX IF NOT EXISTS ferry_outcome_whole ON ferry_outcome (whole)
    WHERE whole IS NOT NULL
    """,
  ]

  /// 30 days, in milliseconds.
  package static let age: Int64 = 30 * 86_400_000

  let connection: Connection

  package init(_ connection: Connection) { self.connection = connection }

  /// Notes how operations ended, in the transaction that ends them. Returns them, and with each one
  /// those that were joined with it: they end as it does.
  func note(
    _ ended: [AnsweredOperation], now: Int64
  ) throws(SQLiteError) -> [AnsweredOperation] {
    var all: [AnsweredOperation] = []
    for operation in ended {
      if case .joined(let whole) = operation.outcome {
        try connection.run(
          "UPDATE ferry_outcome SET whole = ? WHERE whole = ?", .text(whole.text),
          .text(operation.id.text))
        try write(operation, whole: whole, now)
        continue
      }
      try write(operation, whole: nil, now)
      all.append(operation)
      for part in try parts(of: operation.id) {
        let same = AnsweredOperation(id: part, outcome: operation.outcome)
        // After another end it can be submitted again, and then a second answer follows.
        try write(same, whole: operation.outcome == .accepted ? nil : operation.id, now)
        all.append(same)
      }
    }
    try forget(before: now - OutcomeTable.age, atMost: 2 * ended.count + 8)
    return all
  }

  private func parts(of id: OperationID) throws(SQLiteError) -> [OperationID] {
    try connection.rows("SELECT id FROM ferry_outcome WHERE whole = ?", .text(id.text))
      .compactMap { $0[0].text.flatMap { OperationID($0) } }
  }

  /// An operation that was accepted stays so. One that was cancelled on its way changes only if it
  /// was accepted all the same.
  private func write(
    _ operation: AnsweredOperation, whole: OperationID?, _ now: Int64
  ) throws(SQLiteError) {
    let place = operation.place
    let root = place.flatMap { $0.root == $0.object ? nil : $0.root }
    try connection.run(
      """
      INSERT INTO ferry_outcome
      (number, id, outcome, reasons, whole, entity, object, root_entity, root_object, ended)
      VALUES ((SELECT ifnull(max(number), 0) + 1 FROM ferry_outcome), ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET
        number = excluded.number, outcome = excluded.outcome, reasons = excluded.reasons,
        whole = excluded.whole, ended = excluded.ended
      WHERE outcome <> 'accepted' AND (outcome <> 'cancelled' OR excluded.outcome = 'accepted')
      """,
      .text(operation.id.text), .text(operation.outcome.name),
      .optional(operation.outcome.reasons), .optional(whole?.text),
      .optional(place?.object.entity), place.map { .integer($0.object.object) } ?? .null,
      .optional(root?.entity), root.map { .integer($0.object) } ?? .null, .integer(now))
  }

  /// The oldest have the lowest numbers; a few are looked at each time.
  private func forget(before oldest: Int64, atMost count: Int) throws(SQLiteError) {
    try connection.run(
      """
      DELETE FROM ferry_outcome WHERE ended < ? AND number IN
      (SELECT number FROM ferry_outcome ORDER BY number LIMIT ?)
      """, .integer(oldest), .integer(Int64(count)))
  }

  /// The operation that this one is sent with: mostly itself.
  func whole(of id: OperationID) throws(SQLiteError) -> OperationID {
    let text = try connection.value(
      "SELECT whole FROM ferry_outcome WHERE id = ?", .text(id.text))?.text
    return text.flatMap { OperationID($0) } ?? id
  }

  /// How an operation ended; nil where it has not, or ended more than 30 days ago.
  package func outcome(of id: OperationID) throws(SQLiteError) -> AnsweredOperation.Outcome? {
    try connection.row(
      "SELECT outcome, reasons FROM ferry_outcome WHERE id = ?", .text(id.text)
    ).flatMap { AnsweredOperation.Outcome(name: $0[0].text, reasons: $0[1].text) }
  }

  /// How the last operation of an object, or of what it owns, ended.
  func last(of object: LocalObject) throws(SQLiteError) -> AnsweredOperation.Outcome? {
    try connection.row(
      """
      SELECT outcome, reasons FROM ferry_outcome
      WHERE ((entity = ?1 AND object = ?2) OR (root_entity = ?1 AND root_object = ?2))
      AND outcome <> 'joined' ORDER BY number DESC LIMIT 1
      """, .text(object.entity), .integer(object.object)
    ).flatMap { AnsweredOperation.Outcome(name: $0[0].text, reasons: $0[1].text) }
  }
}

extension AnsweredOperation.Outcome {
  fileprivate var name: String {
    switch self {
    case .accepted: "accepted"
    case .refused: "refused"
    case .notTried: "notTried"
    case .unknown: "unknown"
    case .cancelled: "cancelled"
    case .joined: "joined"
    }
  }

  /// The log records of a refusal, as JSON.
  fileprivate var reasons: String? {
    guard case .refused(let records) = self else { return nil }
    var writer = JSONWriter()
    writer.array(records) { $0.logRecord($1) }
    return writer.text
  }

  /// Nil for a part of another operation, which has no end of its own yet.
  fileprivate init?(name: String?, reasons: String?) {
    switch name {
    case "accepted": self = .accepted
    case "refused":
      self = .refused(reasons.flatMap { try? LogRecord.list(json: Array($0.utf8)) } ?? [])
    case "notTried": self = .notTried
    case "unknown": self = .unknown
    case "cancelled": self = .cancelled
    default: return nil
    }
  }
}
