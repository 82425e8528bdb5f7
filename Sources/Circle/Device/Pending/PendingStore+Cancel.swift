import FerryModel
import FerrySQLite

extension PendingStore {
  /// Discards what is pending of an object: the downloaded image shows again, a pending create
  /// disappears (sync/P20). What is pending of the object's parts goes with it. What the server has
  /// already cannot be recalled; it stays unseen until it is answered (sync/P21).
  ///
  /// Returns the objects that referred to the object's temporary key: pending creates, which went
  /// with it, pending updates, which do so no longer, and what stays on the device
  /// (`LocalReferences`).
  package static func cancel(
    _ entity: Entity, _ object: Int64, in store: Store
  ) throws(FerryError) -> [ObjectKey] {
    try store.checkTransaction(of: entity)
    return try store.write { connection throws(FerryError) in
      let others = try PendingStore(store, connection).cancel(entity, object)
      try store.sql { () throws(SQLiteError) in try Contents(store).sweep(connection) }
      return others
    }
  }

  /// The same inside a transaction.
  func cancel(_ entity: Entity, _ object: Int64) throws(FerryError) -> [ObjectKey] {
    var done = Cancelled()
    try store.sql { () throws(SQLiteError) in try cancel(entity, object, depth: 0, &done) }
    for operation in done.operations { store.ended(AnsweredOperation(operation, .cancelled)) }
    return done.others
  }

  private func cancel(
    _ entity: Entity, _ object: Int64, depth: Int, _ done: inout Cancelled
  ) throws(SQLiteError) {
    var creates: [PendingOperation] = []
    for var operation in try operations.of(entity, object) {
      done.operations.append(operation)
      if operation.kind == .create, operation.state != .withdrawn {
        creates.append(operation)
        try cancelDependents(of: operation, entity, depth: depth, &done)
      }
      if !operation.isInFlight {
        try letGo(operation)
      } else if try !isRecalled(operation) {
        operation.state = .withdrawn
        try operations.update(operation)
      }
    }
    try LogRecords.forget(entity: entity.name, object: object, connection)
    try show(entity, object, shown: nil)
    // What was recalled with it waits again, and can be changed.
    for create in creates { try takeBackReferences(to: create, entity, &done) }
    if entity.ownsChildren, depth < 64 {
      let whole = LocalObject(entity.name, object)
      for part in try operations.parts(of: whole) {
        guard let child = store.model.entity(named: part.entity) else { continue }
        try cancel(child, part.object, depth: depth + 1, &done)
      }
    }
  }

  /// Takes back what was sealed and never sent. The others of its chain are sealed again without
  /// it; where some of them are on their way the server waits for all, so it must go too.
  private func isRecalled(_ operation: PendingOperation) throws(SQLiteError) -> Bool {
    guard !operation.isSent else { return false }
    let others = try operations.select(
      "WHERE chain = ? AND sequence <> ?",
      [.text(operation.chain.text), .integer(operation.sequence)])
    guard !others.contains(where: \.isSent) else { return false }
    try operations.delete(operation)
    store.freed()
    for var other in others where other.state == .submitted {
      (other.state, other.wanted) = (.waiting, .again)
      try operations.update(other)
      guard let entity = store.model.entity(named: other.entity) else { continue }
      try show(entity, other.object, shown: nil)
    }
    return true
  }

  /// Nothing is left to send of an operation. What was submitted and waited for it need not wait any
  /// longer.
  func letGo(_ operation: PendingOperation) throws(SQLiteError) {
    try operations.delete(operation)
    try submitNotTried(with: operation)
    try wakeMarked()
  }

  /// The session is woken where what is submitted and waits is looked at again.
  func wakeMarked() throws(SQLiteError) {
    if try operations.hasMarked() { store.freed() }
  }

  /// Cancels the pending creates that refer to a temporary key which will now never be replaced.
  private func cancelDependents(
    of create: PendingOperation, _ entity: Entity, depth: Int = 0, _ done: inout Cancelled
  ) throws(SQLiteError) {
    guard depth < 64 else { return }
    for (child, relationship, key) in references(to: create, entity) {
      var objects = Set(try showing(key, by: relationship, child, "'C'"))
      // What is submitted, waits and was deleted since shows nothing any more.
      for object in try operations.objects(of: child, waitingFor: create)
      where try store.rows(of: child).visible(connection, object: object) == nil {
        objects.insert(object)
      }
      for object in objects.sorted()
      where !(child.name == entity.name && object == create.object) {
        // An update behind its create may refer too: that is taken back.
        let known = try operations.of(child, object)
        guard
          let other = known.first(where: {
            $0.kind == .create && $0.names(key, relationship, child)
          })
        else { continue }
        done.others.append(other.key)
        try cancel(child, object, depth: depth + 1, &done)
      }
    }
  }

  /// The objects pending so that refer to the one with this key, as the app sees them.
  private func showing(
    _ key: [AttributeValue], by relationship: Relationship, _ child: Entity, _ letters: String
  ) throws(SQLiteError) -> [Int64] {
    try connection.rows(
      """
      SELECT _id FROM \(Schema.table(child))
      WHERE \(matching(relationship.attributes)) AND _pending IN (\(letters))
      """, key.map(\.stored)
    ).compactMap { $0[0].integer }
  }

  /// The app has taken back what made a new object, and nothing may refer to
  /// its temporary key. Nothing for any other operation.
  func forgetKey(of create: PendingOperation, _ entity: Entity) throws(SQLiteError) {
    guard create.kind == .create else { return }
    var done = Cancelled()
    try cancelDependents(of: create, entity, &done)
    try takeBackReferences(to: create, entity, &done)
    for operation in done.operations { store.ended(AnsweredOperation(operation, .cancelled)) }
  }

  /// Pending changes that made other objects refer to the temporary key: the reference is again what
  /// it was before them, and what else they changed stays pending. What is on its way cannot be
  /// changed: it is followed when it is answered.
  private func takeBackReferences(
    to create: PendingOperation, _ entity: Entity, _ done: inout Cancelled
  ) throws(SQLiteError) {
    // One that is on its way may be done after all: then they follow its key.
    let left = create.isInFlight ? try operations.with(create.id) : nil
    if left == nil {
      let local = LocalReferences(model: store.model, connection: connection)
      for (child, object) in try local.forget(create, of: entity) {
        guard let row = try store.rows(of: child).visible(connection, object: object) else {
          continue
        }
        done.others.append(child.key(of: row.values))
      }
    }
    for (child, relationship, key) in references(to: create, entity) {
      let shown = try showing(key, by: relationship, child, "'C', 'U'")
      // What is submitted and waits may refer to it while the row shows what was changed since.
      let held = try operations.objects(of: child, waitingFor: create)
      for object in Set(shown + held).sorted()
      where !(child.name == entity.name && object == create.object) {
        try takeBackReference(of: child, object, relationship, to: key, &done)
      }
    }
  }

  private func takeBackReference(
    of child: Entity, _ object: Int64, _ relationship: Relationship, to key: [AttributeValue],
    _ done: inout Cancelled
  ) throws(SQLiteError) {
    let visible = try store.rows(of: child).visible(connection, object: object)?.values
    let positions = relationship.attributes.compactMap(child.position(of:))
    let (changes, shown) = PendingMachine.takenBack(
      try operations.of(child, object),
      from: Dictionary(zip(positions, key)) { first, _ in first }, shown: visible)
    for found in changes {
      var change = found.operation
      if !found.isTaken {
        try operations.update(change)
      } else if found.isNothing {
        try operations.delete(change)
        done.operations.append(change)
        try LogRecords.forget(entity: child.name, object: object, connection)
      } else {
        change.counter = counter(after: change.counter)
        if let shown {
          let owners = try owners(of: child, object, shown)
          (change.root, change.owners) = (owners.root, owners.between)
        }
        try operations.update(change)
      }
    }
    guard changes.contains(where: \.isTaken) else { return }
    try wakeMarked()
    if let shown { done.others.append(child.key(of: shown)) }
    try show(child, object, shown: shown)
  }

  /// The relationships that may refer to an object by its temporary key, or by one that has its
  /// parent's, and the key; none where it is final.
  private func references(
    to create: PendingOperation, _ entity: Entity
  ) -> [(Entity, Relationship, [AttributeValue])] {
    guard let key = create.key.values(of: entity),
      create.isTemporary || KeyReference.isTemporary(key, of: entity, in: store.model)
    else { return [] }
    return store.model.entities.flatMap { child in
      child.relationships.filter { $0.refers(byKeyOf: entity) }.map { (child, $0, key) }
    }
  }
}

/// What went when an object's changes were cancelled.
struct Cancelled {
  /// The keys of other objects that it took along, or that no longer refer to it.
  var others: [ObjectKey] = []
  /// Those who wait for their answers are told.
  var operations: [PendingOperation] = []
}

extension PendingOperation {
  /// Whether it makes its object refer to the one with this key.
  fileprivate func names(
    _ key: [AttributeValue], _ relationship: Relationship, _ entity: Entity
  ) -> Bool {
    let given = zip(relationship.attributes.compactMap(entity.position(of:)), key)
      .compactMap { position, value in changed[position].map { $0 == value } }
    return !given.isEmpty && given.allSatisfy { $0 }
  }
}

extension LocalReferences {
  /// Forgets the temporary key of a create; nothing for any other operation.
  @discardableResult
  func forget(
    _ create: PendingOperation, of entity: Entity
  ) throws(SQLiteError) -> [(entity: Entity, object: Int64)] {
    guard create.kind == .create, let key = create.key.values(of: entity),
      create.isTemporary || KeyReference.isTemporary(key, of: entity, in: model)
    else { return [] }
    return try forget(key, of: entity)
  }
}
