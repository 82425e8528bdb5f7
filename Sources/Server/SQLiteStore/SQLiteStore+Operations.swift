import FerryModel
import FerrySQLite
import FerryServer
import FerryWire
import FerryWorld

extension SQLiteStore {
  package func known(_ ids: [OperationID]) throws(StoreError) -> [KnownOperation?] {
    try sql { () throws(SQLiteError) in
      var found: [KnownOperation?] = []
      for id in ids {
        let row = try writer.row(
          """
          SELECT user, hash, state, outcome, payload IS NOT NULL, package <> ? FROM operation
          WHERE id = ?
          """, number, .text(id.text))
        guard let row, let user = row[0].text, let hash = row[1].blob,
          let state = row[2].text.flatMap(OperationState.init(rawValue:))
        else {
          found.append(nil)
          continue
        }
        found.append(
          KnownOperation(
            user: ExactText(user), hash: hash, state: state,
            outcome: row[3].text.flatMap(Answer.Outcome.init(rawValue:)),
            hasPayload: row[4].integer == 1, isElsewhere: row[5].integer == 1))
      }
      return found
    }
  }

  /// The plus signs: found by the chain, which is a handful, and not by looking through all that the
  /// device ever sent, as SQLite would rather.
  static let membersOfChain: String =
    "SELECT position, count, outcome FROM operation WHERE chain = ? AND +user = ? AND +device = ?"

  package func members(
    of chains: [OperationID], _ owner: Owner
  ) throws(StoreError) -> [OperationID: [ChainMember]] {
    var members: [OperationID: [ChainMember]] = [:]
    for chain in chains where members[chain] == nil {
      let rows = try sql { () throws(SQLiteError) in
        try writer.rows(
          SQLiteStore.membersOfChain, .text(chain.text), .text(owner.user.text),
          .text(owner.device.text))
      }
      for row in rows {
        guard let position = row[0].integer, let count = row[1].integer else { continue }
        members[chain, default: []].append(
          ChainMember(
            position: Int(position), count: Int(count),
            outcome: row[2].text.flatMap(Answer.Outcome.init(rawValue:))))
      }
    }
    return members
  }

  package func receive(
    _ operations: [NewOperation]
  ) throws(StoreError) -> [ReceivedOperation] {
    var received: [ReceivedOperation] = []
    for new in operations {
      let (operation, owner) = (new.operation, new.owner)
      let group = package.entity(named: operation.entity)?.group ?? ""
      try sql { () throws(SQLiteError) in
        try writer.run(
          """
          INSERT INTO operation
            (id, device, user, roles, claims, package, chain, position, count, entity, kind,
             object_key, group_name, payload, hash, state, may_have_run, day)
          SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'stored', ?, days FROM server
          """, .text(operation.id.text), .text(owner.device.text), .text(owner.user.text),
          .text(ClaimText.encode(roles: new.roles)), .text(ClaimText.encode(new.claims)), number,
          .text(operation.chain.text), .integer(Int64(operation.position)),
          .integer(Int64(operation.count)), .text(operation.entity),
          .text(operation.kind.rawValue), .optional(operation.key?.text), .text(group),
          .blob(new.bytes), .blob(new.hash), .flag(new.mayHaveRun))
      }
      received.append(
        ReceivedOperation(
          sequence: writer.lastInsertRowID, device: owner.device.text, user: owner.user.text,
          roles: new.roles, claims: new.claims, operation: operation, mayHaveRun: new.mayHaveRun,
          bytes: new.bytes.count))
    }
    return received
  }

  package func confirm(
    _ ids: [OperationID], upTo version: Int64, user: String
  ) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      try writer.transaction { () throws(SQLiteError) in
        for id in ids {
          try writer.run(
            """
            UPDATE operation SET state = 'confirmed',
              payload = CASE WHEN outcome = 'replayFailed' THEN payload END,
              answer = CASE WHEN outcome = 'replayFailed' OR instr(answer, ?) > 0 THEN answer END,
              day = (SELECT days FROM server)
            WHERE id = ? AND user = ? AND state = 'answered' AND answer_version <= ?
              AND outcome <> 'unknown'
            """, .blob(EndedOperation.writtenMark), .text(id.text), .text(user), .integer(version))
          // One whose outcome is unknown keeps all it has.
          guard writer.changes == 0 else { continue }
          try writer.run(
            """
            UPDATE operation SET state = 'confirmed'
            WHERE id = ? AND user = ? AND state = 'answered' AND answer_version <= ?
            """, .text(id.text), .text(user), .integer(version))
        }
      }
    }
  }

  package func ended(_ id: OperationID) throws(StoreError) -> EndedOperation? {
    let row = try sql { () throws(SQLiteError) in
      try writer.row(
        """
        SELECT outcome, answer_version, new_key, answer, entity, kind, object_key FROM operation
        WHERE id = ?
        """, .text(id.text))
    }
    guard let row, let outcome = row[0].text.flatMap(Answer.Outcome.init(rawValue:)),
      let version = row[1].integer
    else { return nil }
    return EndedOperation(
      outcome: outcome, version: version, newKey: row[2].text.map { ObjectKey(text: $0) },
      answer: row[3].blob, entity: row[4].text ?? "",
      kind: row[5].text.flatMap(OperationKind.init(rawValue:)) ?? .update,
      objectKey: row[6].text ?? "")
  }

  package func answerAgain(_ id: OperationID, _ answer: [UInt8]) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      try writer.run(
        "UPDATE operation SET state = 'answered', answer = ? WHERE id = ?", .blob(answer),
        .text(id.text))
    }
  }

  package func finishedChains(of owner: Owner) throws(StoreError) -> [OperationID] {
    try sql { () throws(SQLiteError) in
      try writer.rows(
        """
        SELECT chain FROM operation WHERE device = ? AND user = ? AND package = ?
          AND state IN ('stored', 'claimed', 'answered')
        GROUP BY chain HAVING sum(state <> 'answered') = 0 ORDER BY min(sequence)
        """, .text(owner.device.text), .text(owner.user.text), number
      ).compactMap { $0[0].text.flatMap { OperationID($0) } }
    }
  }

  package func takeUp() throws(StoreError) -> [(ReceivedOperation, wasClaimed: Bool)] {
    let rows = try sql { () throws(SQLiteError) in
      // What an operator had decided and was not done is unknown as before, and theirs to decide.
      try writer.run(
        """
        UPDATE operation SET state = 'answered', claimed_by = NULL
        WHERE package = ? AND state = 'claimed' AND outcome = 'unknown'
        """, number)
      return try writer.rows(
        """
        SELECT sequence, device, user, claims, payload, may_have_run, roles, sent_at, state
        FROM operation
        WHERE package = ? AND state IN ('stored', 'claimed') ORDER BY sequence
        """, number)
    }
    var waiting: [(ReceivedOperation, wasClaimed: Bool)] = []
    for row in rows {
      waiting.append((try received(row), row[8].text == OperationState.claimed.rawValue))
    }
    try sql { () throws(SQLiteError) in
      try writer.run(
        """
        UPDATE operation SET state = 'stored', may_have_run = 1, claimed_by = NULL
        WHERE package = ? AND state = 'claimed'
        """, number)
    }
    return waiting
  }

  package func operations(_ ids: [OperationID]) throws(StoreError) -> [ReceivedOperation] {
    try ids.map { id throws(StoreError) in
      let row = try sql { () throws(SQLiteError) in
        try writer.row(
          """
          SELECT sequence, device, user, claims, payload, may_have_run, roles, sent_at FROM operation
          WHERE id = ?
          """, .text(id.text))
      }
      guard let row else { throw StoreError.damaged("the operation \(id) is missing") }
      return try received(row)
    }
  }

  private func received(_ row: [SQLiteValue]) throws(StoreError) -> ReceivedOperation {
    guard let sequence = row[0].integer, let device = row[1].text, let user = row[2].text,
      let payload = row[4].blob, let operation = try? Operation(payload, in: package)
    else { throw StoreError.damaged("an operation that waits cannot be read") }
    return ReceivedOperation(
      sequence: sequence, device: device, user: user,
      roles: ClaimText.decodeRoles(row[6].text ?? ""),
      claims: ClaimText.decode(row[3].text ?? "{}"), operation: operation,
      mayHaveRun: row[5].integer == 1, bytes: payload.count,
      sentAt: row[7].integer.map { Timestamp(milliseconds: $0) })
  }

  package func state(
    of id: OperationID, user: String
  ) throws(StoreError) -> OperationState? {
    try sql { () throws(SQLiteError) in
      try writer.value(
        "SELECT state FROM operation WHERE id = ? AND user = ? AND package = ?", .text(id.text),
        .text(user), number)?.text.flatMap(OperationState.init(rawValue:))
    }
  }

  package func unknownOperations() throws(StoreError) -> [OperationID] {
    try sql { () throws(SQLiteError) in
      try writer.rows(
        """
        SELECT id FROM operation
        WHERE package = ? AND outcome = 'unknown' AND payload IS NOT NULL
        """, number
      ).compactMap { $0[0].text.flatMap { OperationID($0) } }
    }
  }

  package func claim(_ claims: [(ids: [OperationID], mark: Mark)]) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      try writer.transaction { () throws(SQLiteError) in
        for (ids, mark) in claims {
          for id in ids {
            try writer.run(
              """
              UPDATE operation SET state = 'claimed', claimed_by = ?, mark = ?,
                sent_at = coalesce(sent_at, ?) WHERE id = ?
              """, .text(era), .integer(mark.version), .integer(world.clock.now.milliseconds),
              .text(id.text))
          }
        }
      }
    }
  }

  package func release(_ ids: [OperationID], mayHaveRun: Bool) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      try writer.transaction { () throws(SQLiteError) in
        for id in ids {
          try writer.run(
            """
            UPDATE operation SET state = 'stored', claimed_by = NULL, may_have_run = ?,
              sent_at = CASE WHEN ? THEN sent_at END WHERE id = ?
            """, .flag(mayHaveRun), .flag(mayHaveRun), .text(id.text))
        }
      }
    }
  }

  package func answer(
    _ answers: [Answer], _ transaction: NumberedTransaction
  ) throws(StoreError) {
    for answer in answers {
      transaction.hasWritten = true
      try sql { () throws(SQLiteError) in
        try writer.run(
          """
          UPDATE operation SET state = 'answered', claimed_by = NULL, outcome = ?, answer = ?,
            answer_version = ?, new_key = ? WHERE id = ?
          """, .text(answer.outcome.rawValue), .blob(answer.json), .integer(answer.version),
          .optional(answer.newKey?.text), .text(answer.id.text))
      }
    }
  }
}

/// Operations that came to another package of this store.
extension SQLiteStore {
  package func elsewhere(
    _ ids: [OperationID], user: String
  ) throws(StoreError) -> [OperationElsewhere] {
    var found: [OperationElsewhere] = []
    for id in ids {
      let row = try sql { () throws(SQLiteError) in
        try writer.row(
          """
          SELECT p.name, o.chain, o.state, o.entity, coalesce(o.new_key, o.object_key), o.payload,
            o.answer, o.may_have_run
          FROM operation AS o JOIN package AS p ON p.id = o.package
          WHERE o.id = ? AND o.user = ? AND o.package <> ?
          """, .text(id.text), .text(user), number)
      }
      guard let row, let chain = row[1].text.flatMap({ OperationID($0) }),
        let state = row[2].text.flatMap(OperationState.init(rawValue:))
      else { continue }
      found.append(
        OperationElsewhere(
          id: id, package: row[0].text ?? "", chain: chain, state: state,
          entity: row[3].text ?? "", key: row[4].text.map { ObjectKey(text: $0) },
          payload: row[5].blob, answer: row[6].blob.flatMap { try? Answer(json: $0) },
          mayHaveRun: row[7].integer == 1 || state == .claimed))
    }
    return found
  }

  package func takeOver(
    _ ids: [OperationID], groups: [String], isWaiting: Bool
  ) throws(StoreError) {
    let change =
      isWaiting
      ? """
      , may_have_run = may_have_run OR state = 'claimed', state = 'stored', claimed_by = NULL
      """ : ""
    try sql { () throws(SQLiteError) in
      for (id, group) in zip(ids, groups) {
        try writer.run(
          "UPDATE operation SET package = ?, group_name = ?\(change) WHERE id = ?", number,
          .text(group), .text(id.text))
      }
    }
  }
}

/// What an operator may see of operations whose outcome nobody knows.
extension SQLiteStore {
  package func note(_ outcomes: [UnknownOutcome]) throws(StoreError) {
    for outcome in outcomes {
      try sql { () throws(SQLiteError) in
        try writer.run(
          """
          INSERT INTO unknown_outcome (operation, package, reason, candidates) VALUES (?, ?, ?, ?)
          ON CONFLICT DO UPDATE SET reason = excluded.reason, candidates = excluded.candidates
          """, .text(outcome.operation.text), number, .text(outcome.reason),
          .text(outcome.candidates))
      }
    }
  }

  package func unknownOutcomes() throws(StoreError) -> [UnknownOutcome] {
    try sql { () throws(SQLiteError) in
      try writer.rows(
        """
        SELECT o.id, u.reason, u.candidates FROM operation AS o
        LEFT JOIN unknown_outcome AS u ON u.operation = o.id
        WHERE o.package = ? AND o.outcome = 'unknown' AND o.payload IS NOT NULL ORDER BY o.sequence
        """, number
      ).compactMap { row in
        row[0].text.flatMap { OperationID($0) }.map {
          UnknownOutcome(operation: $0, reason: row[1].text ?? "", candidates: row[2].text ?? "[]")
        }
      }
    }
  }
}
