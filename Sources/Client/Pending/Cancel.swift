import FerryModel
import FerrySQLite

extension Store {
  /// Discards what is pending of an object: the downloaded image shows again, a pending create
  /// disappears (sync/P20). What is pending of the object's parts goes with it. What the server has
  /// already cannot be recalled; it stays unseen until it is answered (sync/P21).
  ///
  /// Returns the pending creates that referred to the object's temporary key and went with it.
  package func cancel(_ entity: Entity, _ object: Int64) throws(FerryError) -> [Key] {
    let done = try write { connection throws(FerryError) in
      let done = try self.cancel(entity, object, connection)
      try self.sql { () throws(SQLiteError) in try self.sweepContents(connection) }
      return done
    }
    answers.post(done.operations.map { AnsweredOperation(id: $0, outcome: .cancelled) })
    return done.gone
  }

  /// The same inside a transaction: the operations are to be told of when it is committed.
  func cancel(
    _ entity: Entity, _ object: Int64, _ connection: Connection
  ) throws(FerryError) -> (gone: [Key], operations: [OperationID]) {
    try sql { () throws(SQLiteError) in
      let known = try self.operations.of(entity, object, connection).map(\.id)
      return (try self.cancel(entity, object, connection, depth: 0), known)
    }
  }

  private func cancel(
    _ entity: Entity, _ object: Int64, _ connection: Connection, depth: Int
  ) throws(SQLiteError) -> [Key] {
    var gone: [Key] = []
    for var operation in try operations.of(entity, object, connection) {
      if operation.kind == .create, operation.state != .withdrawn {
        gone += try cancelDependents(of: operation, entity, connection, depth: depth)
      }
      if operation.isOpen {
        try operations.delete(operation, connection)
      } else if try !isRecalled(operation, connection) {
        operation.state = .withdrawn
        operation.isWanted = false
        try operations.update(operation, connection)
      }
    }
    try connection.run(
      "DELETE FROM ferry_log_record WHERE entity = ? AND object = ?", .text(entity.name),
      .integer(object))
    try show(entity, object, shown: nil, connection)
    if entity.ownsChildren, depth < 64 {
      let whole = ObjectReference(entity.name, object)
      for part in try operations.parts(of: whole, connection) {
        guard let child = model.entity(named: part.entity) else { continue }
        gone += try cancel(child, part.object, connection, depth: depth + 1)
      }
    }
    return gone
  }

  /// Takes back what was sealed and never sent. The others of its chain are sealed again without
  /// it; where some of them are on their way the server waits for all, so it must go too.
  private func isRecalled(
    _ operation: PendingOperation, _ connection: Connection
  ) throws(SQLiteError) -> Bool {
    guard !operation.isSent else { return false }
    let others = try operations.select(
      "WHERE chain = ? AND sequence <> ?",
      [.text(operation.chain.text), .integer(operation.sequence)],
      connection)
    guard !others.contains(where: \.isSent) else { return false }
    try operations.delete(operation, connection)
    for var other in others where other.state == .submitted {
      other.state = .waiting
      try operations.update(other, connection)
      try operations.wantAgain(other, connection)
      guard let entity = model.entity(named: other.entity) else { continue }
      try show(entity, other.object, shown: nil, connection)
    }
    return true
  }

  /// Cancels the pending creates that refer to a temporary key which will now never be replaced.
  @discardableResult
  func cancelDependents(
    of create: PendingOperation, _ entity: Entity, _ connection: Connection, depth: Int
  ) throws(SQLiteError) -> [Key] {
    guard create.isTemporary, depth < 64, let key = create.key.values(of: entity) else { return [] }
    var gone: [Key] = []
    for child in model.entities {
      for relationship in child.relationships where relationship.target == entity.name {
        let target = entity.key.map { entity.attributes[$0].name }
        guard relationship.targetAttributes == target else { continue }
        let rows = try self.rows(of: child).visibleRows(
          connection, "WHERE \(matching(relationship.attributes)) AND _pending = 'C'",
          key.map(\.stored))
        for row in rows where !(child.name == entity.name && row.object == create.object) {
          gone.append(child.key(of: row.values))
          gone += try cancel(child, row.object, connection, depth: depth + 1)
        }
      }
    }
    return gone
  }
}
