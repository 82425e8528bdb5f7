import FerryModel
import FerrySQLite
import FerryWire

extension Store {
  /// Fixes the bytes of what is pending of an object, or remembers the wish where something must be
  /// answered first (sync/P2). False when nothing is pending (sync/P4).
  package func submit(_ entity: Entity, _ object: Int64) throws(FerryError) -> Bool {
    let found = try write { connection throws(FerryError) in
      let known = try self.sql { () throws(SQLiteError) in
        try self.operations.of(entity, object, connection)
      }
      guard let last = known.last, last.isOpen else { return false }
      try self.seal(last, behind: known.dropLast(), entity, connection)
      return true
    }
    if found { bell.ring() }
    return found
  }

  private func seal(
    _ operation: PendingOperation, behind earlier: some Collection<PendingOperation>,
    _ entity: Entity, _ connection: Connection
  ) throws(FerryError) {
    var operation = operation
    let ready = try sql { () throws(SQLiteError) in
      try self.isReady(operation, behind: earlier, entity, connection)
    }
    guard ready else {
      operation.isWanted = true
      try sql { () throws(SQLiteError) in try self.operations.update(operation, connection) }
      return
    }
    operation.state = .submitted
    operation.isWanted = false
    let payload = Operation(
      id: operation.id, chain: operation.chain, entity: entity.name, kind: operation.kind,
      key: operation.kind == .create && operation.isTemporary ? nil : operation.key,
      changed: operation.changed, base: operation.base
    ).encoded(for: entity)
    guard payload.count <= WireLimits.operationBytes else {
      throw FerryError(
        .invalidChange,
        "the change of \(entity.name) \(operation.key) has \(payload.count) bytes, "
          + "\(WireLimits.operationBytes) are allowed",
        hint: "Make its texts or binary values smaller.")
    }
    try sql { () throws(SQLiteError) in
      try self.operations.update(operation, connection)
      try connection.run(
        "UPDATE ferry_operation SET payload = ? WHERE sequence = ?", .blob(payload),
        .integer(operation.sequence))
      try self.show(entity, operation.object, shown: nil, connection)
    }
  }

  /// One in flight per object, and nothing that depends on an unanswered operation.
  private func isReady(
    _ operation: PendingOperation, behind earlier: some Collection<PendingOperation>,
    _ entity: Entity, _ connection: Connection
  ) throws(SQLiteError) -> Bool {
    guard earlier.isEmpty else { return false }
    if operation.kind != .create, operation.isTemporary { return false }
    for relationship in entity.relationships {
      let positions = relationship.attributes.compactMap(entity.position(of:))
      let values = positions.compactMap { operation.changed[$0] }
      guard values.count == positions.count, !values.contains(.null) else { continue }
      let waiting = try connection.value(
        """
        SELECT 1 FROM ferry_operation WHERE entity = ? AND key = ? AND temporary = 1
        AND kind = 'create' AND sequence <> ? LIMIT 1
        """, .text(relationship.target), .text(Key(values).text), .integer(operation.sequence))
      if waiting != nil { return false }
    }
    return true
  }

  /// Seals what was wanted and is ready now. Called when answers have been taken.
  package func sealWanted(_ connection: Connection) throws(FerryError) {
    let wanted = try sql { () throws(SQLiteError) in
      try self.operations.select("WHERE wanted = 1 ORDER BY sequence", [], connection)
    }
    for operation in wanted {
      guard let entity = model.entity(named: operation.entity) else { continue }
      let known = try sql { () throws(SQLiteError) in
        try self.operations.of(entity, operation.object, connection)
      }
      try seal(
        operation, behind: known.filter { $0.sequence < operation.sequence }, entity, connection)
    }
  }

  /// The operations to send now, in order, as many as go into one message; they count as sent. The
  /// next exchange takes the rest.
  package func outgoing(_ connection: Connection) throws(SQLiteError) -> Replay? {
    let waiting = try connection.rows(
      """
      SELECT id, payload, may_have_run FROM ferry_operation
      WHERE state = 'submitted' AND acknowledged = 0 ORDER BY sequence
      LIMIT \(WireLimits.operationsInFlight)
      """)
    guard !waiting.isEmpty else { return nil }
    var bytes = 0
    let rows = waiting.prefix { row in
      bytes += row[1].blob?.count ?? 0
      return bytes <= WireLimits.replayBytes
    }
    for row in rows {
      try connection.run("UPDATE ferry_operation SET sent = 1 WHERE id = ?", row[0])
    }
    return Replay(
      operations: rows.compactMap { $0[1].blob },
      mayHaveRun: rows.filter { $0[2].integer == 1 }.compactMap { OperationID($0[0].text ?? "") })
  }

  /// Whether anything waits to be sent.
  package func hasOutgoing(_ connection: Connection) throws(SQLiteError) -> Bool {
    try connection.value(
      "SELECT 1 FROM ferry_operation WHERE state = 'submitted' AND acknowledged = 0 LIMIT 1") != nil
  }

  /// Operations that were sent, or may have been, and are not answered.
  package func unanswered(_ connection: Connection) throws(SQLiteError) -> [OperationID] {
    try connection.rows(
      """
      SELECT id FROM ferry_operation WHERE state IN ('submitted', 'withdrawn', 'unknown')
      AND sent = 1 ORDER BY sequence LIMIT \(WireLimits.operationsInFlight)
      """
    ).compactMap { OperationID($0[0].text ?? "") }
  }

  /// The server has these.
  package func acknowledge(_ ids: [OperationID], _ connection: Connection) throws(SQLiteError) {
    for id in ids {
      try connection.run(
        "UPDATE ferry_operation SET acknowledged = 1, may_have_run = 0 WHERE id = ?", .text(id.text)
      )
    }
  }

  /// The server does not know an operation that was sent: it is sent again. If the server had
  /// acknowledged it, it was restored from an older state and must look before it performs. A
  /// withdrawn one is let go; should it have been done, the next import shows it.
  package func neverSeen(_ id: OperationID, _ connection: Connection) throws(SQLiteError) {
    try connection.run(
      "DELETE FROM ferry_operation WHERE id = ? AND state = 'withdrawn'", .text(id.text))
    try connection.run(
      """
      UPDATE ferry_operation SET acknowledged = 0, may_have_run = 1
      WHERE id = ? AND acknowledged = 1
      """, .text(id.text))
  }
}
