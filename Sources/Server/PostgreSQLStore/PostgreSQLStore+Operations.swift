import FerryModel
import FerryPostgreSQL
import FerryServer
import FerryWire
import FerryWorld

extension PostgreSQLStore {
  package func known(_ ids: [OperationID]) throws(StoreError) -> [KnownOperation?] {
    guard !ids.isEmpty else { return [] }
    let rows = try rows(
      """
      SELECT id, user_name, hash, state, outcome, payload IS NOT NULL, package <> $2
      FROM ferry_store.operation WHERE id = ANY($1::text[])
      """, [.texts(ids.map(\.text)), number])
    var found: [String: KnownOperation] = [:]
    for row in 0..<rows.count {
      guard let id = rows.text(row, 0), let user = rows.exact(row, 1),
        let hash = rows.blob(row, 2), let state = rows.text(row, 3).flatMap(OperationState.init)
      else { throw StoreError.damaged("an operation lacks a value") }
      found[id] = KnownOperation(
        user: ExactText(user), hash: hash, state: state,
        outcome: rows.text(row, 4).flatMap(Answer.Outcome.init(rawValue:)),
        hasPayload: rows.flag(row, 5), isElsewhere: rows.flag(row, 6))
    }
    return ids.map { found[$0.text] }
  }

  package func members(
    of chains: [OperationID], _ owner: Owner
  ) throws(StoreError) -> [OperationID: [ChainMember]] {
    guard !chains.isEmpty else { return [:] }
    let rows = try rows(
      """
      SELECT chain, position, count, outcome FROM ferry_store.operation
      WHERE chain = ANY($1::text[]) AND user_name = $2 AND device = $3
      """, [.texts(chains.map(\.text)), .exact(owner.user), .exact(owner.device)])
    var members: [OperationID: [ChainMember]] = [:]
    for row in 0..<rows.count {
      guard let chain = rows.text(row, 0).flatMap({ OperationID($0) }),
        let position = rows.integer(row, 1), let count = rows.integer(row, 2)
      else { throw StoreError.damaged("an operation lacks a value") }
      members[chain, default: []].append(
        ChainMember(
          position: Int(position), count: Int(count),
          outcome: rows.text(row, 3).flatMap(Answer.Outcome.init(rawValue:))))
    }
    return members
  }

  package func receive(
    _ operations: [NewOperation]
  ) throws(StoreError) -> [ReceivedOperation] {
    guard !operations.isEmpty else { return [] }
    let texts: (KeyPath<NewOperation, String>) -> PostgreSQLValue = { path in
      .texts(operations.map { $0[keyPath: path] })
    }
    let rows = try line.pipeline([
      PostgreSQLConnection.Request(
        """
        INSERT INTO ferry_store.operation
          (id, device, user_name, roles, claims, package, chain, position, count, entity, kind,
           object_key, group_name, payload, hash, state, may_have_run, day, named_in)
        SELECT n.id, n.device, n.user_name, n.roles, n.claims, $1, n.chain, n.position, n.count,
          n.entity, n.kind, n.object_key, n.group_name, n.payload, n.hash, 'stored',
          n.may_have_run, s.days, $17
        FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
          $8::int8[], $9::int8[], $10::text[], $11::text[], $12::text[], $13::text[],
          $14::bytea[], $15::bytea[], $16::bool[]) WITH ORDINALITY
          AS n(id, device, user_name, roles, claims, chain, position, count, entity, kind,
            object_key, group_name, payload, hash, may_have_run, place),
          ferry_store.server AS s
        ORDER BY n.place RETURNING id, sequence
        """,
        [
          number, texts(\.operation.id.text), texts(\.owner.device.text), texts(\.owner.user.text),
          .texts(operations.map { ClaimText.encode(roles: $0.roles) }),
          .texts(operations.map { ClaimText.encode($0.claims) }), texts(\.operation.chain.text),
          .integers(operations.map { Int64($0.operation.position) }),
          .integers(operations.map { Int64($0.operation.count) }), texts(\.operation.entity),
          texts(\.operation.kind.rawValue), .texts(operations.map { $0.operation.key?.text }),
          .texts(operations.map { package.entity(named: $0.operation.entity)?.group ?? "" }),
          .blobs(operations.map(\.bytes)), .blobs(operations.map(\.hash)),
          .flags(operations.map(\.mayHaveRun)), .text(era),
        ])
    ])[0]
    hasArrivals = term == nil
    var sequences: [String: Int64] = [:]
    for row in 0..<rows.count { sequences[rows.text(row, 0) ?? ""] = rows.integer(row, 1) }
    return operations.map { new in
      ReceivedOperation(
        sequence: sequences[new.operation.id.text] ?? 0, device: new.owner.device.text,
        user: new.owner.user.text, roles: new.roles, claims: new.claims, operation: new.operation,
        mayHaveRun: new.mayHaveRun, bytes: new.bytes.count)
    }
  }

  package func confirm(
    _ ids: [OperationID], upTo version: Int64, user: String
  ) throws(StoreError) {
    guard !ids.isEmpty else { return }
    // Of one whose outcome is unknown, or that was refused, payload and answer stay.
    try write(
      """
      UPDATE ferry_store.operation AS o SET state = 'confirmed',
        payload = CASE WHEN o.outcome IN ('unknown', 'replayFailed') THEN o.payload END,
        answer = CASE WHEN o.outcome IN ('unknown', 'replayFailed')
          OR position($4 IN o.answer) > 0 THEN o.answer END,
        day = CASE WHEN o.outcome = 'unknown' THEN o.day ELSE s.days END
      FROM ferry_store.server AS s
      WHERE o.id = ANY($1::text[]) AND o.user_name = $2 AND o.state = 'answered'
        AND o.answer_version <= $3
      """,
      [
        .texts(ids.map(\.text)), .exact(user), .integer(version),
        .bytes(EndedOperation.writtenMark),
      ])
  }

  package func ended(_ id: OperationID) throws(StoreError) -> EndedOperation? {
    let rows = try rows(
      """
      SELECT outcome, answer_version, new_key, answer, entity, kind, object_key
      FROM ferry_store.operation WHERE id = $1
      """, [.text(id.text)])
    guard rows.count == 1, let outcome = rows.text(0, 0).flatMap(Answer.Outcome.init(rawValue:)),
      let version = rows.integer(0, 1)
    else { return nil }
    return EndedOperation(
      outcome: outcome, version: version, newKey: rows.exact(0, 2).map { ObjectKey(text: $0) },
      answer: rows.blob(0, 3), entity: rows.exact(0, 4) ?? "",
      kind: rows.text(0, 5).flatMap(OperationKind.init(rawValue:)) ?? .update,
      objectKey: rows.exact(0, 6) ?? "")
  }

  package func answerAgain(_ id: OperationID, _ answer: [UInt8]) throws(StoreError) {
    try write(
      "UPDATE ferry_store.operation SET state = 'answered', answer = $1 WHERE id = $2",
      [.bytes(answer), .text(id.text)])
  }

  package func finishedChains(of owner: Owner) throws(StoreError) -> [OperationID] {
    let rows = try rows(
      """
      SELECT chain FROM ferry_store.operation
      WHERE device = $1 AND user_name = $2 AND package = $3
        AND state IN ('stored', 'claimed', 'answered')
      GROUP BY chain HAVING bool_and(state = 'answered') ORDER BY min(sequence)
      """, [.exact(owner.device), .exact(owner.user), number])
    return (0..<rows.count).compactMap { rows.text($0, 0).flatMap { OperationID($0) } }
  }

  /// Columns of a received operation, as `received` reads them.
  static let received: String =
    "o.sequence, o.device, o.user_name, o.claims, o.payload, o.may_have_run, o.roles, "
    + "o.sent_at"

  package func takeUp() throws(StoreError) -> [(ReceivedOperation, wasClaimed: Bool)] {
    let answers = try leadRows([
      // What an operator had decided and was not done is unknown as before, and theirs to decide.
      PostgreSQLConnection.Request(
        """
        UPDATE ferry_store.operation SET state = 'answered', claimed_by = NULL
        WHERE package = $1 AND state = 'claimed' AND outcome = 'unknown'
        """, [number]),
      PostgreSQLConnection.Request(
        """
        SELECT \(PostgreSQLStore.received), o.state FROM ferry_store.operation AS o
        WHERE o.package = $1 AND o.state IN ('stored', 'claimed') ORDER BY o.sequence
        """, [number]),
      PostgreSQLConnection.Request(
        """
        UPDATE ferry_store.operation
        SET state = 'stored', may_have_run = true, claimed_by = NULL
        WHERE package = $1 AND state = 'claimed'
        """, [number]),
    ])
    let rows = answers[1]
    var waiting: [(ReceivedOperation, wasClaimed: Bool)] = []
    for row in 0..<rows.count {
      waiting.append(
        (try received(rows, row), rows.text(row, 8) == OperationState.claimed.rawValue))
    }
    return waiting
  }

  package func operations(_ ids: [OperationID]) throws(StoreError) -> [ReceivedOperation] {
    guard !ids.isEmpty else { return [] }
    let rows = try rows(
      """
      SELECT \(PostgreSQLStore.received) FROM ferry_store.operation AS o
      WHERE o.id = ANY($1::text[])
      """, [.texts(ids.map(\.text))])
    var found: [OperationID: ReceivedOperation] = [:]
    for row in 0..<rows.count {
      let received = try received(rows, row)
      found[received.operation.id] = received
    }
    return try ids.map { id throws(StoreError) in
      guard let received = found[id] else {
        throw StoreError.damaged("the operation \(id) is missing")
      }
      return received
    }
  }

  func received(_ rows: PostgreSQLRows, _ row: Int) throws(StoreError) -> ReceivedOperation {
    guard let sequence = rows.integer(row, 0), let device = rows.exact(row, 1),
      let user = rows.exact(row, 2), let payload = rows.blob(row, 4),
      let operation = try? Operation(payload, in: package)
    else { throw StoreError.damaged("an operation that waits cannot be read") }
    return ReceivedOperation(
      sequence: sequence, device: device, user: user,
      roles: ClaimText.decodeRoles(rows.exact(row, 6) ?? ""),
      claims: ClaimText.decode(rows.exact(row, 3) ?? "{}"), operation: operation,
      mayHaveRun: rows.flag(row, 5), bytes: payload.count,
      sentAt: rows.integer(row, 7).map { Timestamp(milliseconds: $0) })
  }

  package func state(
    of id: OperationID, user: String
  ) throws(StoreError) -> OperationState? {
    try rows(
      "SELECT state FROM ferry_store.operation WHERE id = $1 AND user_name = $2 AND package = $3",
      [.text(id.text), .exact(user), number]
    ).first?.text(0, 0).flatMap(OperationState.init(rawValue:))
  }

  package func unknownOperations() throws(StoreError) -> [OperationID] {
    let rows = try rows(
      """
      SELECT id FROM ferry_store.operation
      WHERE package = $1 AND outcome = 'unknown' AND payload IS NOT NULL
      """, [number])
    return (0..<rows.count).compactMap { rows.text($0, 0).flatMap { OperationID($0) } }
  }

  package func claim(_ claims: [(ids: [OperationID], mark: Mark)]) throws(StoreError) {
    let marks = claims.flatMap { claim in claim.ids.map { ($0.text, claim.mark.version) } }
    guard !marks.isEmpty else { return }
    try lead(
      """
      UPDATE ferry_store.operation AS o SET state = 'claimed', claimed_by = $1, mark = n.mark,
        sent_at = coalesce(o.sent_at, $4)
      FROM unnest($2::text[], $3::int8[]) AS n(id, mark) WHERE o.id = n.id
      """,
      [
        .text(era), .texts(marks.map(\.0)), .integers(marks.map(\.1)),
        .integer(world.clock.now.milliseconds),
      ])
  }

  package func release(_ ids: [OperationID], mayHaveRun: Bool) throws(StoreError) {
    guard !ids.isEmpty else { return }
    try lead(
      """
      UPDATE ferry_store.operation SET state = 'stored', claimed_by = NULL, may_have_run = $1,
        sent_at = CASE WHEN $1 THEN sent_at END
      WHERE id = ANY($2::text[])
      """, [.flag(mayHaveRun), .texts(ids.map(\.text))])
  }

  package func answer(
    _ answers: [Answer], _ transaction: NumberedTransaction
  ) throws(StoreError) {
    guard !answers.isEmpty else { return }
    transaction.hasWritten = true
    try lead(
      """
      UPDATE ferry_store.operation AS o SET state = 'answered', claimed_by = NULL,
        outcome = n.outcome, answer = n.answer, answer_version = n.version, new_key = n.new_key
      FROM unnest($1::text[], $2::text[], $3::bytea[], $4::int8[], $5::text[])
        AS n(id, outcome, answer, version, new_key)
      WHERE o.id = n.id
      """,
      [
        .texts(answers.map(\.id.text)), .texts(answers.map(\.outcome.rawValue)),
        .blobs(answers.map(\.json)), .integers(answers.map(\.version)),
        .texts(answers.map { $0.newKey?.text }),
      ])
  }
}

/// Operations that came to another package of this store.
extension PostgreSQLStore {
  package func elsewhere(
    _ ids: [OperationID], user: String
  ) throws(StoreError) -> [OperationElsewhere] {
    guard !ids.isEmpty else { return [] }
    let rows = try rows(
      """
      SELECT o.id, p.name, o.chain, o.state, o.entity, coalesce(o.new_key, o.object_key),
        o.payload, o.answer, o.may_have_run
      FROM ferry_store.operation AS o JOIN ferry_store.package AS p ON p.id = o.package
      WHERE o.id = ANY($1::text[]) AND o.user_name = $2 AND o.package <> $3 ORDER BY o.sequence
      """, [.texts(ids.map(\.text)), .exact(user), number])
    return (0..<rows.count).compactMap { row in
      guard let id = rows.text(row, 0).flatMap({ OperationID($0) }),
        let chain = rows.text(row, 2).flatMap({ OperationID($0) }),
        let state = rows.text(row, 3).flatMap(OperationState.init(rawValue:))
      else { return nil }
      return OperationElsewhere(
        id: id, package: rows.exact(row, 1) ?? "", chain: chain, state: state,
        entity: rows.exact(row, 4) ?? "", key: rows.exact(row, 5).map { ObjectKey(text: $0) },
        payload: rows.blob(row, 6), answer: rows.blob(row, 7).flatMap { try? Answer(json: $0) },
        mayHaveRun: rows.flag(row, 8) || state == .claimed)
    }
  }

  package func takeOver(
    _ ids: [OperationID], groups: [String], isWaiting: Bool
  ) throws(StoreError) {
    guard !ids.isEmpty else { return }
    let change =
      isWaiting
      ? """
      , may_have_run = o.may_have_run OR o.state = 'claimed', state = 'stored', claimed_by = NULL
      """ : ""
    try lead(
      """
      UPDATE ferry_store.operation AS o SET package = $1, group_name = n.group_name\(change)
      FROM unnest($2::text[], $3::text[]) AS n(id, group_name) WHERE o.id = n.id
      """, [number, .texts(ids.map(\.text)), .texts(groups)])
  }
}
