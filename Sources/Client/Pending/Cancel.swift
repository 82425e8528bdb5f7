import FerryModel
import FerrySQLite

extension Store {
  /// Discards what is pending of an object: the downloaded image shows again, a pending create
  /// disappears (sync/P20). What is pending of the object's parts goes with it. What the server has
  /// already cannot be recalled; it stays unseen until it is answered (sync/P21).
  ///
  /// Returns the objects that referred to the object's temporary key: pending creates, which went
  /// with it, and pending updates, which do so no longer.
  package func cancel(_ entity: Entity, _ object: Int64) throws(FerryError) -> [Key] {
    let done = try write { connection throws(FerryError) in
      let done = try self.cancel(entity, object, connection)
      try self.sql { () throws(SQLiteError) in try self.sweepContents(connection) }
      return done
    }
    answers.post(done.answers)
    return done.others
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
    var creates: [PendingOperation] = []
    for var operation in try operations.of(entity, object, connection) {
      done.operations.append(operation.id)
      if operation.kind == .create, operation.state != .withdrawn {
        creates.append(operation)
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
    // What was recalled with it waits again, and can be changed.
    for create in creates { try takeBackReferences(to: create, entity, connection, &done) }
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
  private func cancelDependents(
    of create: PendingOperation, _ entity: Entity, _ connection: Connection, depth: Int = 0,
    _ done: inout Cancelled
  ) throws(SQLiteError) {
    guard depth < 64 else { return }
    for (child, relationship, key) in references(to: create, entity) {
      let rows = try self.rows(of: child).visibleRows(
        connection, "WHERE \(matching(relationship.attributes)) AND _pending = 'C'",
        key.map(\.stored))
      for row in rows where !(child.name == entity.name && row.object == create.object) {
        done.others.append(child.key(of: row.values))
        try cancel(child, row.object, connection, depth: depth + 1, &done)
      }
    }
  }

  /// Inside a transaction: a new object is gone for good, and nothing may refer to its temporary key.
  func forgetKey(
    of create: PendingOperation, _ entity: Entity, _ connection: Connection
  ) throws(SQLiteError) -> Cancelled {
    var done = Cancelled()
    try cancelDependents(of: create, entity, connection, &done)
    try takeBackReferences(to: create, entity, connection, &done)
    return done
  }

  /// Pending updates that made other objects refer to the temporary key: the reference is again what
  /// it was before them, and what else they changed stays pending. What is on its way cannot be
  /// changed: it is followed when it is answered.
  private func takeBackReferences(
    to create: PendingOperation, _ entity: Entity, _ connection: Connection,
    _ done: inout Cancelled
  ) throws(SQLiteError) {
    for (child, relationship, key) in references(to: create, entity) {
      let positions = relationship.attributes.compactMap(child.position(of:))
      let rows = try self.rows(of: child).visibleRows(
        connection, "WHERE \(matching(relationship.attributes)) AND _pending = 'U'",
        key.map(\.stored))
      for row in rows {
        var values = row.values
        var isTaken = false
        // What is submitted and waits, and what was changed since: the newest first.
        for var update in try operations.of(child, row.object, connection).reversed() {
          guard !update.isInFlight, update.kind == .update,
            positions.contains(where: { update.changed[$0] != nil })
          else { break }
          isTaken = true
          for position in positions where update.changed.removeValue(forKey: position) != nil {
            values[position] = update.base.removeValue(forKey: position) ?? .null
          }
          if update.changed.isEmpty {
            try operations.delete(update, connection)
            done.operations.append(update.id)
            try connection.run(
              "DELETE FROM ferry_log_record WHERE entity = ? AND object = ?", .text(child.name),
              .integer(row.object))
          } else {
            update.counter = counter(after: update.counter)
            try operations.update(update, connection)
          }
        }
        guard isTaken else { continue }
        done.others.append(child.key(of: row.values))
        try show(child, row.object, shown: values, connection)
      }
    }
  }

  /// The relationships that may refer to an object by its temporary key, and the key; none where it
  /// is final.
  private func references(
    to create: PendingOperation, _ entity: Entity
  ) -> [(Entity, Relationship, [Value])] {
    guard create.isTemporary, let key = create.key.values(of: entity) else { return [] }
    let target = entity.key.map { entity.attributes[$0].name }
    return model.entities.flatMap { child in
      child.relationships.filter {
        $0.target == entity.name && $0.targetAttributes == target
      }.map { (child, $0, key) }
    }
  }
}

/// What went when an object's changes were cancelled.
struct Cancelled {
  /// The keys of other objects that it took along, or that no longer refer to it.
  var others: [Key] = []
  /// Those who wait for their answers are told.
  var operations: [OperationID] = []

  var answers: [AnsweredOperation] {
    operations.map { AnsweredOperation(id: $0, outcome: .cancelled) }
  }
}
