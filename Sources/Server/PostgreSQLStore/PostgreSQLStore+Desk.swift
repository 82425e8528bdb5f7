import FerryConnector
import FerryJSON
import FerryModel
import FerryPostgreSQL
import FerryServer
import FerryWire

/// What must hold of a row, with the values of its parameters.
private struct Conditions {
  private var tests: [String] = []
  private(set) var parameters: [PostgreSQLValue] = []

  var sql: String { tests.joined(separator: " AND ") }

  mutating func add(_ test: String) { tests.append(test) }

  /// Nothing where there is no value. The value is between the texts.
  mutating func add(_ test: String, _ value: PostgreSQLValue?, _ end: String = "") {
    guard let value else { return }
    parameters.append(value)
    tests.append("\(test) $\(parameters.count)\(end)")
  }
}

/// Operations as an operator looks for them, and corrections.
extension PostgreSQLStore {
  package func deskOperations(
    _ filter: DeskFilter, before sequence: Int64?, count: Int
  ) throws(StoreError) -> [DeskOperation] {
    var conditions = Conditions()
    conditions.add("o.package =", number)
    conditions.add("o.id =", filter.id.map { .text($0.text) })
    conditions.add("o.user_name =", filter.user.map { .exact($0) })
    conditions.add("o.device =", filter.device.map { .exact($0) })
    conditions.add("o.entity =", filter.entity.map { .exact($0) })
    conditions.add("o.object_key =", filter.key.map { .exact($0) })
    conditions.add("o.chain =", filter.chain.map { .text($0.text) })
    conditions.add("o.sequence <", sequence.map { .integer($0) })
    switch filter.state {
    case nil: break
    case .waiting: conditions.add("o.state IN ('stored', 'claimed') AND o.outcome IS NULL")
    case .accepted: conditions.add("o.outcome = 'replayResult'")
    case .refused: conditions.add("o.outcome = 'replayFailed'")
    case .notTried: conditions.add("o.outcome = 'notTried'")
    case .unknown: conditions.add("o.outcome = 'unknown'")
    }
    if filter.isOpen { conditions.add(PostgreSQLStore.isOpen) }
    if filter.isDiscarded { conditions.add(PostgreSQLStore.isDiscarded) }
    let rows = try rows(
      """
      SELECT sequence, id, device, user_name, chain, position, count, entity, kind, object_key,
        new_key, state, outcome, may_have_run, payload, answer
      FROM ferry_store.operation AS o WHERE \(conditions.sql)
      ORDER BY o.sequence DESC LIMIT \(count)
      """, conditions.parameters)
    return try (0..<rows.count).map { row throws(StoreError) in
      guard let sequence = rows.integer(row, 0),
        let id = rows.text(row, 1).flatMap(OperationID.init),
        let chain = rows.text(row, 4).flatMap(OperationID.init),
        let kind = rows.text(row, 8).flatMap(OperationKind.init(rawValue:)),
        let state = rows.text(row, 11).flatMap(OperationState.init(rawValue:))
      else { throw StoreError.damaged("an operation cannot be read") }
      return DeskOperation(
        sequence: sequence, id: id,
        owner: Owner(device: rows.exact(row, 2) ?? "", user: rows.exact(row, 3) ?? ""),
        chain: chain, position: Int(rows.integer(row, 5) ?? 0),
        count: Int(rows.integer(row, 6) ?? 1), entity: rows.exact(row, 7) ?? "", kind: kind,
        key: rows.exact(row, 9), newKey: rows.exact(row, 10),
        state: DeskState(state, rows.text(row, 12).flatMap(Answer.Outcome.init(rawValue:))),
        isClaimed: state == .claimed, mayHaveRun: rows.flag(row, 13), payload: rows.blob(row, 14),
        answer: rows.blob(row, 15))
    }
  }

  private static let isOpen = """
    o.outcome = 'replayFailed' AND o.payload IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM ferry_store.operation AS later
      WHERE later.package = o.package AND later.entity = o.entity
        AND later.object_key = o.object_key AND later.user_name = o.user_name
        AND later.device = o.device AND later.sequence > o.sequence)
    AND NOT EXISTS (SELECT 1 FROM ferry_store.correction AS c
      WHERE c.operation = o.id AND c.verb <> 'restore' AND c.state IN ('taken', 'absent')
        AND \(isNotRestored))
    """

  private static let isDiscarded = """
    o.outcome = 'replayFailed' AND o.payload IS NOT NULL
    AND EXISTS (SELECT 1 FROM ferry_store.correction AS c
      WHERE c.operation = o.id AND c.verb = 'discard' AND c.state = 'taken' AND \(isNotRestored))
    """

  private static let isNotRestored = """
    NOT EXISTS (SELECT 1 FROM ferry_store.correction AS r
      WHERE r.operation = c.operation AND r.verb = 'restore' AND r.state = 'taken'
        AND r.made >= c.ended)
    """

  package func reports(
    _ question: DeviceReport.Question, before: Int64?
  ) throws(StoreError) -> [DeviceReport] {
    let levels = question.levels.map { "'\($0)'" }.joined(separator: ", ")
    var conditions = Conditions()
    conditions.add("package =", number)
    conditions.add("level IN (\(levels))")
    conditions.add("id =", question.id.map { .text($0.text) })
    conditions.add("user_name =", question.user.map { .exact($0) })
    conditions.add("device =", question.device.map { .exact($0) })
    conditions.add("number <", before.map { .integer($0) })
    if let component = question.component {
      // The server has written the record, with this member first. PostgreSQL's own JSON refuses an
      // escaped zero, which a message may have.
      var writer = JSONWriter()
      writer.beginObject()
      writer.field("component", component)
      conditions.add("starts_with(record, ", .text("\(writer.text),"), ")")
    }
    let rows = try rows(
      """
      SELECT number, device, user_name, record FROM ferry_store.report
      WHERE \(conditions.sql) ORDER BY number DESC LIMIT \(question.take)
      """, conditions.parameters)
    return try (0..<rows.count).map { row throws(StoreError) in
      guard let text = rows.text(row, 3), let record = try? LogRecord(json: Array(text.utf8)) else {
        throw StoreError.damaged("a log record of a device cannot be read")
      }
      return DeviceReport(
        number: rows.integer(row, 0) ?? 0, package: package.id, device: rows.exact(row, 1) ?? "",
        user: rows.exact(row, 2) ?? "", record: record)
    }
  }

  package func deskCounts() throws(StoreError) -> DeskCounts {
    let operations = "SELECT count(*) FROM ferry_store.operation WHERE package = $1"
    let rows = try rows(
      """
      SELECT (\(operations) AND state IN ('stored', 'claimed')),
        (\(operations) AND outcome = 'replayFailed' AND payload IS NOT NULL),
        (\(operations) AND outcome = 'unknown' AND payload IS NOT NULL)
      """, [number])
    return DeskCounts(
      waiting: rows.integer(0, 0) ?? 0, refused: rows.integer(0, 1) ?? 0,
      unknown: rows.integer(0, 2) ?? 0)
  }

  package func deviceCounts(since moment: Int64) throws(StoreError) -> DeviceCounts {
    let rows = try rows(
      """
      SELECT count(*), count(*) FILTER (WHERE last_seen >= $1),
        count(*) FILTER (WHERE state <> 'active') FROM ferry_store.registered_device
      """, [.integer(moment)])
    return DeviceCounts(
      all: rows.integer(0, 0) ?? 0, recent: rows.integer(0, 1) ?? 0,
      ended: rows.integer(0, 2) ?? 0)
  }

  package func add(_ correction: StoredCorrection) throws(StoreError) -> Bool {
    try rows(
      """
      INSERT INTO ferry_store.correction (id, package, operation, user_name, device, verb, changed,
        seen, message, made_by, reason, made, state, detail)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 'open', '')
      ON CONFLICT DO NOTHING RETURNING id
      """,
      [
        .text(correction.id.text), number, .text(correction.operation.text),
        .exact(correction.owner.user), .exact(correction.owner.device),
        .text(correction.verb.rawValue), .exact(correction.changed), .exact(correction.seen),
        .exact(correction.message), .exact(correction.madeBy), .exact(correction.reason),
        .integer(correction.made),
      ]
    ).count == 1
  }

  private static let correctionColumns = """
    id, operation, user_name, device, verb, changed, seen, message, made_by, reason, made, state,
    detail, became, ended
    """

  package func corrections(
    of operations: [OperationID]
  ) throws(StoreError) -> [StoredCorrection] {
    guard !operations.isEmpty else { return [] }
    return PostgreSQLStore.corrections(
      try rows(
        """
        SELECT \(PostgreSQLStore.correctionColumns) FROM ferry_store.correction
        WHERE operation = ANY($1::text[]) ORDER BY made, id
        """, [.texts(operations.map(\.text))]))
  }

  package func openCorrections(
    of owner: Owner, count: Int
  ) throws(StoreError) -> [StoredCorrection] {
    PostgreSQLStore.corrections(
      try rows(
        """
        SELECT \(PostgreSQLStore.correctionColumns) FROM ferry_store.correction
        WHERE user_name = $1 AND device = $2 AND state = 'open' ORDER BY made, id LIMIT \(count)
        """, [.exact(owner.user), .exact(owner.device)]))
  }

  package func end(
    _ id: OperationID, of owner: Owner, as state: StoredCorrection.State, detail: String,
    became operation: OperationID?, at moment: Int64
  ) throws(StoreError) -> StoredCorrection? {
    PostgreSQLStore.corrections(
      try rows(
        """
        UPDATE ferry_store.correction SET state = $1, detail = $2, became = $3, ended = $4
        WHERE id = $5 AND user_name = $6 AND device = $7 AND state = 'open'
        RETURNING \(PostgreSQLStore.correctionColumns)
        """,
        [
          .text(state.rawValue), .exact(detail), operation.map { .text($0.text) } ?? .null,
          .integer(moment), .text(id.text), .exact(owner.user), .exact(owner.device),
        ])
    ).first
  }

  private static func corrections(_ rows: PostgreSQLRows) -> [StoredCorrection] {
    (0..<rows.count).compactMap { row in
      guard let id = rows.text(row, 0).flatMap(OperationID.init),
        let operation = rows.text(row, 1).flatMap(OperationID.init),
        let user = rows.exact(row, 2), let device = rows.exact(row, 3),
        let verb = rows.text(row, 4).flatMap(Correction.Verb.init(rawValue:))
      else { return nil }
      var correction = StoredCorrection(
        id: id, operation: operation, owner: Owner(device: device, user: user), verb: verb)
      correction.changed = rows.exact(row, 5) ?? "{}"
      correction.seen = rows.exact(row, 6) ?? "{}"
      correction.message = rows.exact(row, 7) ?? ""
      correction.madeBy = rows.exact(row, 8) ?? ""
      correction.reason = rows.exact(row, 9) ?? ""
      correction.made = rows.integer(row, 10) ?? 0
      correction.state = rows.text(row, 11).flatMap(StoredCorrection.State.init) ?? .open
      correction.detail = rows.exact(row, 12) ?? ""
      correction.became = rows.text(row, 13).flatMap(OperationID.init)
      correction.ended = rows.integer(row, 14)
      return correction
    }
  }

  package func leftOutRows(count: Int) throws(StoreError) -> [RejectedRow] {
    let rows = try rows(
      """
      SELECT entity, key, attribute, reason FROM ferry_store.rejected WHERE package = $1
      ORDER BY entity, key, attribute LIMIT \(count)
      """, [number])
    return (0..<rows.count).map { row in
      RejectedRow(
        entity: rows.exact(row, 0) ?? "", key: rows.exact(row, 1) ?? "",
        attribute: rows.exact(row, 2) ?? "", reason: rows.exact(row, 3) ?? "")
    }
  }

  package func emptyRefused(afterDays days: Int64, before moment: Int64) throws(StoreError) {
    try lead(
      """
      UPDATE ferry_store.operation AS o SET payload = NULL,
        answer = CASE WHEN position($1 IN answer) > 0 THEN answer END
      WHERE outcome = 'replayFailed' AND payload IS NOT NULL AND state = 'confirmed'
        AND day < \(PostgreSQLStore.today) - $2
        AND NOT EXISTS (SELECT 1 FROM ferry_store.correction AS c WHERE c.operation = o.id
          AND c.verb = 'discard' AND (c.ended IS NULL OR c.ended >= $3))
      """, [.bytes(EndedOperation.writtenMark), .integer(days), .integer(moment)])
    try lead(
      "DELETE FROM ferry_store.correction WHERE ended IS NOT NULL AND ended < $1",
      [.integer(moment)])
  }
}
