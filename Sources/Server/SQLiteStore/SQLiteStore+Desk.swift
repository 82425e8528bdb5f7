import FerryConnector
import FerryModel
import FerrySQLite
import FerryServer
import FerryWire

/// Operations as an operator looks for them, and corrections.
extension SQLiteStore {
  package func deskOperations(
    _ filter: DeskFilter, before sequence: Int64?, count: Int
  ) throws(StoreError) -> [DeskOperation] {
    var tests = ["o.package = ?"]
    var parameters: [SQLiteValue] = [number]
    func test(_ sql: String, _ value: String?) {
      guard let value else { return }
      tests.append(sql)
      parameters.append(.text(value))
    }
    test("o.id = ?", filter.id?.text)
    test("o.user = ?", filter.user)
    test("o.device = ?", filter.device)
    test("o.entity = ?", filter.entity)
    test("o.object_key = ?", filter.key)
    test("o.chain = ?", filter.chain?.text)
    if let sequence {
      tests.append("o.sequence < ?")
      parameters.append(.integer(sequence))
    }
    switch filter.state {
    case nil: break
    case .waiting: tests.append("o.state IN ('stored', 'claimed') AND o.outcome IS NULL")
    case .accepted: tests.append("o.outcome = 'replayResult'")
    case .refused: tests.append("o.outcome = 'replayFailed'")
    case .notTried: tests.append("o.outcome = 'notTried'")
    case .unknown: tests.append("o.outcome = 'unknown'")
    }
    if filter.isOpen { tests.append(SQLiteStore.isOpen) }
    if filter.isDiscarded { tests.append(SQLiteStore.isDiscarded) }
    let rows = try sql { () throws(SQLiteError) in
      try writer.rows(
        """
        SELECT sequence, id, device, user, chain, position, count, entity, kind, object_key,
          new_key, state, outcome, may_have_run, payload, answer
        FROM operation AS o WHERE \(tests.joined(separator: " AND "))
        ORDER BY o.sequence DESC LIMIT ?
        """, parameters + [.integer(Int64(count))])
    }
    return try rows.map { row throws(StoreError) in
      guard let sequence = row[0].integer, let id = row[1].text.flatMap({ OperationID($0) }),
        let chain = row[4].text.flatMap({ OperationID($0) }),
        let kind = row[8].text.flatMap(OperationKind.init(rawValue:)),
        let state = row[11].text.flatMap(OperationState.init(rawValue:))
      else { throw StoreError.damaged("an operation cannot be read") }
      return DeskOperation(
        sequence: sequence, id: id,
        owner: Owner(device: row[2].text ?? "", user: row[3].text ?? ""), chain: chain,
        position: Int(row[5].integer ?? 0), count: Int(row[6].integer ?? 1),
        entity: row[7].text ?? "", kind: kind, key: row[9].text, newKey: row[10].text,
        state: DeskState(state, row[12].text.flatMap(Answer.Outcome.init(rawValue:))),
        isClaimed: state == .claimed, mayHaveRun: row[13].integer == 1, payload: row[14].blob,
        answer: row[15].blob)
    }
  }

  private static let isOpen = """
    o.outcome = 'replayFailed' AND o.payload IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM operation AS later
      WHERE later.entity = o.entity AND later.object_key = o.object_key AND later.user = o.user
        AND later.device = o.device AND later.sequence > o.sequence)
    AND NOT EXISTS (SELECT 1 FROM correction AS c
      WHERE c.operation = o.id AND c.verb <> 'restore' AND c.state IN ('taken', 'absent')
        AND \(isNotRestored))
    """

  private static let isDiscarded = """
    o.outcome = 'replayFailed' AND o.payload IS NOT NULL
    AND EXISTS (SELECT 1 FROM correction AS c
      WHERE c.operation = o.id AND c.verb = 'discard' AND c.state = 'taken' AND \(isNotRestored))
    """

  private static let isNotRestored = """
    NOT EXISTS (SELECT 1 FROM correction AS r
      WHERE r.operation = c.operation AND r.verb = 'restore' AND r.state = 'taken'
        AND r.made >= c.ended)
    """

  package func reports(
    _ question: DeviceReport.Question, before: Int64?
  ) throws(StoreError) -> [DeviceReport] {
    let levels = question.levels.map { "'\($0)'" }.joined(separator: ", ")
    let rows = try sql { () throws(SQLiteError) in
      try writer.rows(
        """
        SELECT number, device, user, record FROM report
        WHERE package = ?1 AND level IN (\(levels)) AND coalesce(user = ?2, true)
          AND coalesce(device = ?3, true) AND coalesce(record ->> 'component' = ?4, true)
          AND coalesce(id = ?5, true) AND coalesce(number < ?6, true)
        ORDER BY number DESC LIMIT ?7
        """, number, .optional(question.user), .optional(question.device),
        .optional(question.component), .optional(question.id?.text), .optional(before),
        .integer(Int64(question.take)))
    }
    return try rows.map { row throws(StoreError) in
      guard let text = row[3].text, let record = try? LogRecord(json: Array(text.utf8)) else {
        throw StoreError.damaged("a log record of a device cannot be read")
      }
      return DeviceReport(
        number: row[0].integer ?? 0, package: package.id, device: row[1].text ?? "",
        user: row[2].text ?? "", record: record)
    }
  }

  package func deskCounts() throws(StoreError) -> DeskCounts {
    func count(_ test: String) throws(SQLiteError) -> Int64 {
      try writer.value("SELECT count(*) FROM operation WHERE package = ? AND \(test)", number)?
        .integer ?? 0
    }
    return try sql { () throws(SQLiteError) in
      DeskCounts(
        waiting: try count("state IN ('stored', 'claimed')"),
        refused: try count("outcome = 'replayFailed' AND payload IS NOT NULL"),
        unknown: try count("outcome = 'unknown' AND payload IS NOT NULL"))
    }
  }

  package func deviceCounts(since moment: Int64) throws(StoreError) -> DeviceCounts {
    let row = try sql { () throws(SQLiteError) in
      try writer.row(
        """
        SELECT count(*), count(*) FILTER (WHERE last_seen >= ?),
          count(*) FILTER (WHERE state <> 'active') FROM registered_device
        """, .integer(moment))
    }
    return DeviceCounts(
      all: row?[0].integer ?? 0, recent: row?[1].integer ?? 0, ended: row?[2].integer ?? 0)
  }

  package func add(_ correction: StoredCorrection) throws(StoreError) -> Bool {
    file.mayHaveCorrections = true
    return try sql { () throws(SQLiteError) in
      try writer.run(
        """
        INSERT INTO correction (id, package, operation, user, device, verb, changed, seen, message,
          made_by, reason, made, state, detail)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open', '') ON CONFLICT DO NOTHING
        """,
        [
          .text(correction.id.text), number, .text(correction.operation.text),
          .text(correction.owner.user.text), .text(correction.owner.device.text),
          .text(correction.verb.rawValue), .text(correction.changed), .text(correction.seen),
          .text(correction.message), .text(correction.madeBy), .text(correction.reason),
          .integer(correction.made),
        ])
      return writer.changes == 1
    }
  }

  private static let correctionColumns = """
    id, operation, user, device, verb, changed, seen, message, made_by, reason, made, state, detail,
    became, ended
    """

  package func corrections(
    of operations: [OperationID]
  ) throws(StoreError) -> [StoredCorrection] {
    var found: [StoredCorrection] = []
    for operation in operations {
      found += try sql { () throws(SQLiteError) in
        try writer.rows(
          """
          SELECT \(SQLiteStore.correctionColumns) FROM correction WHERE operation = ?
          ORDER BY made, id
          """, .text(operation.text))
      }.compactMap(SQLiteStore.correction)
    }
    return found
  }

  package func openCorrections(
    of owner: Owner, count: Int
  ) throws(StoreError) -> [StoredCorrection] {
    // Each exchange asks: one with nothing new runs no statement.
    guard file.mayHaveCorrections else { return [] }
    return try sql { () throws(SQLiteError) in
      let found = try writer.rows(
        """
        SELECT \(SQLiteStore.correctionColumns) FROM correction
        WHERE user = ? AND device = ? AND state = 'open' ORDER BY made, id LIMIT ?
        """, .text(owner.user.text), .text(owner.device.text), .integer(Int64(count)))
      // Within a transaction, what has ended may be open again after a rollback.
      if found.isEmpty, !writer.isInTransaction,
        try writer.row("SELECT 1 FROM correction WHERE state = 'open' LIMIT 1") == nil
      {
        file.mayHaveCorrections = false
      }
      return found
    }.compactMap(SQLiteStore.correction)
  }

  package func end(
    _ id: OperationID, of owner: Owner, as state: StoredCorrection.State, detail: String,
    became operation: OperationID?, at moment: Int64
  ) throws(StoreError) -> StoredCorrection? {
    try sql { () throws(SQLiteError) in
      try writer.row(
        """
        UPDATE correction SET state = ?, detail = ?, became = ?, ended = ?
        WHERE id = ? AND user = ? AND device = ? AND state = 'open'
        RETURNING \(SQLiteStore.correctionColumns)
        """,
        [
          .text(state.rawValue), .text(detail), .optional(operation?.text), .integer(moment),
          .text(id.text), .text(owner.user.text), .text(owner.device.text),
        ])
    }.flatMap(SQLiteStore.correction)
  }

  private static func correction(_ row: [SQLiteValue]) -> StoredCorrection? {
    guard let id = row[0].text.flatMap({ OperationID($0) }),
      let operation = row[1].text.flatMap({ OperationID($0) }), let user = row[2].text,
      let device = row[3].text, let verb = row[4].text.flatMap(Correction.Verb.init(rawValue:))
    else { return nil }
    var correction = StoredCorrection(
      id: id, operation: operation, owner: Owner(device: device, user: user), verb: verb)
    correction.changed = row[5].text ?? "{}"
    correction.seen = row[6].text ?? "{}"
    correction.message = row[7].text ?? ""
    correction.madeBy = row[8].text ?? ""
    correction.reason = row[9].text ?? ""
    correction.made = row[10].integer ?? 0
    correction.state = row[11].text.flatMap(StoredCorrection.State.init(rawValue:)) ?? .open
    correction.detail = row[12].text ?? ""
    correction.became = row[13].text.flatMap { OperationID($0) }
    correction.ended = row[14].integer
    return correction
  }

  package func leftOutRows(count: Int) throws(StoreError) -> [RejectedRow] {
    try sql { () throws(SQLiteError) in
      try writer.rows(
        """
        SELECT entity, key, attribute, reason FROM rejected WHERE package = ?
        ORDER BY entity, key, attribute LIMIT ?
        """, number, .integer(Int64(count)))
    }.map { row in
      RejectedRow(
        entity: row[0].text ?? "", key: row[1].text ?? "", attribute: row[2].text ?? "",
        reason: row[3].text ?? "")
    }
  }

  package func emptyRefused(afterDays days: Int64, before moment: Int64) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      try writer.run(
        """
        UPDATE operation SET payload = NULL, answer = CASE WHEN instr(answer, ?) > 0 THEN answer END
        WHERE outcome = 'replayFailed' AND payload IS NOT NULL AND state = 'confirmed'
          AND day < (SELECT days FROM server) - ?
          AND NOT EXISTS (SELECT 1 FROM correction AS c WHERE c.operation = operation.id
            AND c.verb = 'discard' AND (c.ended IS NULL OR c.ended >= ?))
        """, .blob(EndedOperation.writtenMark), .integer(days), .integer(moment))
      try writer.run(
        "DELETE FROM correction WHERE ended IS NOT NULL AND ended < ?", .integer(moment))
    }
  }
}
