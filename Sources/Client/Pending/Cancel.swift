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
    answers.post(done.answers)
    return done.gone
  }

  /// The same inside a transaction: the operations are to be told of when it is committed.
  func cancel(
    _ entity: Entity, _ object: Int64, _ connection: Connection
  ) throws(FerryError) -> Cancelled {
    var done = Cancelled()
    try sql { () throws(SQLiteError) in
      try self.cancel(entity, object, connection, depth: 0, &done)
    }
    return done
  }

  private func cancel(
    _ entity: Entity, _ object: Int64, _ connection: Connection, depth: Int,
    _ done: inout Cancelled
  ) throws(SQLiteError) {
    var freed: Set<OperationID> = []
    for var operation in try operations.of(entity, object, connection) {
      done.operations.append(operation.id)
      if operation.kind == .create, operation.state != .withdrawn {
        try cancelDependents(of: operation, entity, connection, depth: depth, &done)
      }
      if !operation.isInFlight {
        try operations.delete(operation, connection)
        freed.insert(operation.chain)
      } else if try !isRecalled(operation, connection) {
        operation.state = .withdrawn
        try operations.update(operation, connection)
      }
    }
    // What was submitted and waited for it need not wait any longer.
    for chain in freed {
      try connection.run(
        "UPDATE ferry_operation SET wanted = ? WHERE chain = ? AND wanted > 0",
        .integer(PendingOperation.Wanted.again.rawValue), .text(chain.text))
    }
    try connection.run(
      "DELETE FROM ferry_log_record WHERE entity = ? AND object = ?", .text(entity.name),
      .integer(object))
    try show(entity, object, shown: nil, connection)
    if entity.ownsChildren, depth < 64 {
      let whole = ObjectReference(entity.name, object)
      for part in try operations.parts(of: whole, connection) {
        guard let child = model.entity(named: part.entity) else { continue }
        try cancel(child, part.object, connection, depth: depth + 1, &done)
      }
    }
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
      (other.state, other.wanted) = (.waiting, .again)
      try operations.update(other, connection)
      guard let entity = model.entity(named: other.entity) else { continue }
      try show(entity, other.object, shown: nil, connection)
    }
    return true
  }

  /// Cancels the pending creates that refer to a temporary key which will now never be replaced.
  func cancelDependents(
    of create: PendingOperation, _ entity: Entity, _ connection: Connection, depth: Int = 0,
    _ done: inout Cancelled
  ) throws(SQLiteError) {
    guard create.isTemporary, depth < 64, let key = create.key.values(of: entity) else { return }
    for child in model.entities {
      for relationship in child.relationships where relationship.target == entity.name {
        let target = entity.key.map { entity.attributes[$0].name }
        guard relationship.targetAttributes == target else { continue }
        let rows = try self.rows(of: child).visibleRows(
          connection, "WHERE \(matching(relationship.attributes)) AND _pending = 'C'",
          key.map(\.stored))
        for row in rows where !(child.name == entity.name && row.object == create.object) {
          done.gone.append(child.key(of: row.values))
          try cancel(child, row.object, connection, depth: depth + 1, &done)
        }
      }
    }
  }
}

/// What went when an object's changes were cancelled.
struct Cancelled {
  /// Pending creates that referred to the object's temporary key.
  var gone: [Key] = []
  /// Those who wait for their answers are told.
  var operations: [OperationID] = []

  var answers: [AnsweredOperation] {
    operations.map { AnsweredOperation(id: $0, outcome: .cancelled) }
  }
}
