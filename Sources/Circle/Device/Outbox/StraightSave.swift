import FerryModel
import FerrySQLite
import FerryWire

/// The common save: nothing is pending of the object, of its key, or of what it refers to.
///
/// Then the sealed operation is known before anything is written. The row and the operation are written
/// once, with the same content that a save and a submit leave, one after the other. Every other change
/// goes through `PendingStore.save` and `ChainSealing.submit` (Decision 0127).
struct StraightSave {
  private let transaction: Transaction
  private let connection: Connection
  private let operations: OperationTable

  init(_ transaction: Transaction) {
    self.transaction = transaction
    connection = transaction.connection
    operations = OperationTable(transaction.store, transaction.connection)
  }

  private var store: Store { transaction.store }

  /// Returns the object as it then is; nil, with nothing written, if the change is not of the common
  /// kind.
  func save(_ change: LocalChange) throws(FerryError) -> ObjectRecord? {
    guard StraightSave.fits(change, in: store) else { return nil }
    do throws(FerryError) {
      try store.checkLease()
      switch change.kind {
      case .create: return try create(change)
      case .update: return try update(change)
      case .delete: return nil
      }
    } catch { throw error.about(change.entity.name) }
  }

  /// What can be told without the database. A part of a composite, a delete, and a temporary key
  /// among the values depend on other objects.
  static func fits(_ change: LocalChange, in store: Store) -> Bool {
    let entity = change.entity
    guard change.kind != .delete, !entity.isClientOnly, entity.owner == nil,
      !change.keepsTemporaryKey, !store.isInTransaction, !store.world.isPlanted,
      let after = change.after
    else { return false }
    return !entity.bigPositions.contains { after[$0] != change.seen[$0] }
      && !(store.keyReferences[entity.name] ?? []).contains { reference in
        reference.positions.contains {
          entity.attributes[$0].type.isTemporaryKey(after[$0])
            || entity.attributes[$0].type.isTemporaryKey(change.seen[$0])
        }
      }
  }

  private func create(_ change: LocalChange) throws(FerryError) -> ObjectRecord? {
    let entity = change.entity
    let rows = store.rows(of: entity)
    guard var values = change.after else { return nil }
    let isGivenLater =
      entity.keyOrigin == .businessSystem && entity.key.contains { values[$0].isNull }
    // A key that the device makes now is on no other object.
    let isNewKey = isGivenLater || entity.keyOrigin == .device && values[entity.key[0]].isNull
    let isFree = try transaction.sql { connection throws(SQLiteError) -> Bool in
      if !isNewKey {
        let key = entity.key.map { values[$0] }
        guard try rows.original(connection, key: key) == nil,
          try !operations.areThere(of: entity, key: ObjectKey(key))
        else { return false }
      }
      return try targetsAreThere(entity, values)
    }
    guard isFree else { return nil }
    let id = store.newOperationID()
    let pending = PendingStore(store, connection)
    pending.makeKey(entity, &values)
    if isGivenLater { pending.giveTemporaryKey(entity, &values, id) }
    let counter = pending.counter(after: pending.counter(after: 0))
    let replay = ReplayState(counter: counter, pending: counter, failure: 0)
    let object = try transaction.sql { connection throws(SQLiteError) -> Int64? in
      try store.passSpent(entity, connection)
      return try rows.insertVisible(
        connection, object: nil, values: values, pending: .create, replay: replay)
    }
    guard let object else { throw pending.taken(entity.key(of: values), of: entity) }
    let changed = pending.given(values, of: entity, isTemporary: isGivenLater)
    store.noteCreation(entity, object, isTemporary: isGivenLater)
    let own = LocalObject(entity.name, object)
    try keep(
      PendingOperation(
        sequence: 0, id: id, entity: entity.name, object: object, kind: .create,
        key: entity.key(of: values), isTemporary: isGivenLater, changed: changed, base: [:],
        chain: id, state: .submitted, counter: counter, root: own))
    return record(entity, object, .create, replay, values)
  }

  private func update(_ change: LocalChange) throws(FerryError) -> ObjectRecord? {
    let entity = change.entity
    let rows = store.rows(of: entity)
    guard let object = change.object else { return nil }
    let own = LocalObject(entity.name, object)
    let visible = try transaction.sql { connection throws(SQLiteError) -> VisibleRow? in
      guard let visible = try rows.visible(connection, object: object), visible.pending == .none,
        try !operations.areThere(of: own, key: entity.key(of: visible.values))
      else { return nil }
      return visible
    }
    guard let visible, let after = change.applied(to: visible.values) else { return nil }
    let before = visible.values
    let decision = PendingMachine.update(
      [], seen: change.seen, before: Array(before.prefix(entity.servedCount)),
      after: Array(after.prefix(entity.servedCount)), image: nil)
    guard case .append(let kind, let changed, let base) = decision,
      entity.key.allSatisfy({ after[$0] == before[$0] }),
      after.dropFirst(entity.servedCount) == before.dropFirst(entity.servedCount)
    else { return nil }
    let pending = PendingStore(store, connection)
    let counter = pending.counter(after: pending.counter(after: 0))
    let replay = ReplayState(counter: counter, pending: counter, failure: 0)
    // A reference that is made or ended is noted for others that wait.
    let references = ReferenceMachine(
      entity: entity, references: store.keyReferences[entity.name] ?? [])
    guard references.touched(by: kind, changed).isEmpty,
      try transaction.sql({ connection throws(SQLiteError) in
        try rows.keepOriginal(connection, object: object)
      })
    else { return nil }
    let id = store.newOperationID()
    let operation = PendingOperation(
      sequence: 0, id: id, entity: entity.name, object: object, kind: kind,
      key: entity.key(of: before), isTemporary: false, changed: changed, base: base, chain: id,
      state: .submitted, counter: counter, root: own)
    try transaction.sql { connection throws(SQLiteError) in
      try rows.updateVisible(
        connection, object: object, values: after, pending: .update, failed: false,
        replay: replay, known: before)
    }
    try keep(operation)
    return record(entity, object, .update, replay, after)
  }

  /// No create of what the values refer to is pending: the change need not wait for one.
  private func targetsAreThere(
    _ entity: Entity, _ values: [AttributeValue]
  ) throws(SQLiteError) -> Bool {
    for reference in store.keyReferences[entity.name] ?? []
    where reference.target.keyOrigin != .businessSystem {
      let key = reference.positions.map { values[$0] }
      if key.contains(.null) { continue }
      if try operations.areThere(of: reference.target, key: ObjectKey(key)) { return false }
    }
    return true
  }

  private func keep(_ operation: PendingOperation) throws(FerryError) {
    let payload = try ChainSealing(transaction).payload(operation, operation.id, 0, 1)
    _ = try transaction.sql { _ throws(SQLiteError) in
      try operations.insert(
        operation, made: store.world.clock.now.milliseconds, payload: payload)
    }
  }

  private func record(
    _ entity: Entity, _ object: Int64, _ pending: PendingChange, _ replay: ReplayState,
    _ values: [AttributeValue]
  ) -> ObjectRecord {
    ObjectRecord(
      entity, store: store,
      row: VisibleRow(
        object: object, pending: pending, failed: false, replay: replay,
        values: values.map(\.asStored)))
  }
}
