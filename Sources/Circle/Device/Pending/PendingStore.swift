import FerryModel
import FerrySQLite

/// The pending changes of objects, inside one transaction.
package struct PendingStore {
  let store: Store
  let connection: Connection
  let operations: OperationTable

  package init(_ store: Store, _ connection: Connection) {
    self.store = store
    self.connection = connection
    operations = OperationTable(store, connection)
  }

  /// Keeps a change beside its object, in one transaction; returns the object as it then is, nil
  /// when it is gone (sync/P1).
  package static func save(
    _ change: LocalChange, in store: Store
  ) throws(FerryError) -> ObjectRecord? {
    do throws(FerryError) {
      try store.checkLease()
      return try store.write { connection throws(FerryError) in
        try PendingStore(store, connection).save(change)
      }
    } catch { throw error.about(change.entity.name) }
  }

  private func save(_ change: LocalChange) throws(FerryError) -> ObjectRecord? {
    let change = try store.sql { () throws(SQLiteError) in
      try FormerKeys(store, connection).followed(change)
    }
    guard !change.entity.isClientOnly else { return try saveHere(change) }
    switch change.kind {
    case .create:
      let (record, isTemporary) = try create(change)
      if let object = record.object {
        store.noteCreation(change.entity, object, isTemporary: isTemporary)
      }
      return record
    case .update: return try update(change)
    case .delete:
      // What it owns goes with it, as one.
      let hidden =
        change.entity.ownsChildren
        ? try store.transaction { () throws(FerryError) in try delete(change) }
        : try delete(change)
      try store.sql { () throws(SQLiteError) in try Contents(store).sweep(connection) }
      return hidden
    }
  }

  private func create(_ change: LocalChange) throws(FerryError) -> (ObjectRecord, isTemporary: Bool)
  {
    let entity = change.entity
    let rows = store.rows(of: entity)
    var values = change.after ?? []
    let id = store.newOperationID()
    makeKey(entity, &values)
    let isTemporary =
      entity.keyOrigin == .businessSystem
      && (change.keepsTemporaryKey || entity.key.contains { values[$0].isNull })
    if isTemporary { giveTemporaryKey(entity, &values, id) }
    let key = entity.key(of: values)
    let result = try store.sql { () throws(SQLiteError) -> VisibleRow? in
      let keyValues = entity.key.map { values[$0] }
      if let hidden = try rows.original(connection, key: keyValues) {
        guard try rows.visible(connection, key: keyValues) == nil else { return nil }
        return try recreate(hidden.object, hidden.values, values, id, entity)
      }
      if !isTemporary, let object = try deleted(entity, key),
        try rows.visible(connection, key: keyValues) == nil
      {
        return try recreate(object, nil, values, id, entity)
      }
      let counter = counter(after: 0)
      let replay = ReplayState(counter: counter, pending: 0, failure: 0)
      try store.passSpent(entity, connection)
      let inserted = try rows.insertVisible(
        connection, object: nil, values: values, pending: .create, replay: replay)
      guard let object = inserted else { return nil }
      let changed = given(values, of: entity, isTemporary: isTemporary)
      let owners = try owners(of: entity, object, values)
      let operation = PendingOperation(
        sequence: 0, id: id, entity: entity.name, object: object, kind: .create, key: key,
        isTemporary: isTemporary, changed: changed,
        base: [:], chain: store.chain(else: id), state: .waiting,
        counter: counter, root: owners.root, owners: owners.between)
      try operations.insert(operation, made: store.world.clock.now.milliseconds)
      return VisibleRow(
        object: object, pending: .create, failed: false, replay: replay,
        values: values.map(\.asStored))
    }
    guard let result else { throw taken(key, of: entity) }
    return (ObjectRecord(entity, store: store, row: result), isTemporary)
  }

  /// What the key of a new object lacks is the device's own, until the business system gives it.
  func giveTemporaryKey(
    _ entity: Entity, _ values: inout [AttributeValue], _ id: OperationID
  ) {
    for position in entity.key where values[position].isNull {
      values[position] = entity.attributes[position].type.temporaryKey(store.world.chance, id)
    }
  }

  /// What a create gives: no nulls, and no temporary key.
  func given(
    _ values: [AttributeValue], of entity: Entity, isTemporary: Bool
  ) -> [Int: AttributeValue] {
    var given: [Int: AttributeValue] = Dictionary(minimumCapacity: entity.servedCount)
    for position in 0..<entity.servedCount
    where !values[position].isNull && !(isTemporary && entity.key.contains(position)) {
      given[position] = values[position]
    }
    return given
  }

  /// The key belongs to another object that is visible.
  func taken(_ key: ObjectKey, of entity: Entity) -> FerryError {
    FerryError(
      .objectExists, "\(entity.name) \(key) already exists",
      hint: "Load it and update it, or choose another key.", entity: entity.name,
      attribute: entity.key.map { entity.attributes[$0].name }.joined(separator: ", "))
  }

  /// The object with this key whose delete is pending, and whose image is not here: it was never
  /// here, or others have deleted the object.
  private func deleted(_ entity: Entity, _ key: ObjectKey) throws(SQLiteError) -> Int64? {
    let known = try operations.select(
      "WHERE entity = ? AND key = ? AND state <> 'withdrawn' ORDER BY sequence",
      [.text(entity.name), .text(key.text)])
    guard let object = known.last?.object else { return nil }
    return PendingMachine.isMadeAgain(by: known.filter { $0.object == object }) ? object : nil
  }

  /// The key belongs to an object whose delete is pending: it comes back.
  private func recreate(
    _ object: Int64, _ image: [AttributeValue]?, _ values: [AttributeValue], _ id: OperationID,
    _ entity: Entity
  ) throws(SQLiteError) -> VisibleRow? {
    let known = try operations.of(entity, object)
    if let last = known.last, last.isOpen, last.kind == .delete {
      var below = image
      if below == nil { below = try self.below(last) }
      _ = try carryOut(
        PendingMachine.recreate(last, after: served(values, of: entity), below: below), known,
        entity, object, last.key, values)
    } else {
      let changed = Dictionary(
        uniqueKeysWithValues: served(values, of: entity).enumerated().map {
          ($0.offset, $0.element)
        })
      let owners = try owners(of: entity, object, values)
      let operation = PendingOperation(
        sequence: 0, id: id, entity: entity.name, object: object, kind: .create,
        key: entity.key(of: values), isTemporary: false,
        changed: changed.filter { !$0.value.isNull },
        base: [:], chain: store.chain(else: id), state: .waiting,
        counter: counter(after: known.last?.counter ?? 0),
        root: owners.root, owners: owners.between)
      try operations.insert(operation, made: store.world.clock.now.milliseconds)
    }
    try show(entity, object, shown: values)
    return try store.rows(of: entity).visible(connection, object: object)
  }

  private func update(_ change: LocalChange) throws(FerryError) -> ObjectRecord? {
    let entity = change.entity
    let rows = store.rows(of: entity)
    let (object, before) = try present(change)
    guard let after = change.applied(to: before.values) else { return nil }
    // A temporary key that was replaced meanwhile is no change of the app's.
    guard entity.key.allSatisfy({ after[$0] == before.values[$0] }) else {
      throw FerryError(
        .keyChanged, "the key of \(entity.name) \(entity.key(of: before.values)) was changed",
        hint: "Delete the object and create another.", entity: entity.name,
        attribute: entity.key.first { after[$0] != before.values[$0] }
          .map { entity.attributes[$0].name })
    }
    let row = try store.sql { () throws(SQLiteError) -> VisibleRow? in
      let known = try operations.of(entity, object)
      var image: [AttributeValue]?
      if known.allSatisfy({ $0.state == .withdrawn }), !store.world.has(.forgottenOriginal),
        try rows.keepOriginal(connection, object: object)
      {
        image = before.values
      } else {
        image = try rows.original(connection, object: object)?.values
      }
      let now = try carryOut(
        PendingMachine.update(
          known, seen: change.seen, before: served(before.values, of: entity),
          after: served(after, of: entity), image: image),
        known, entity, object, entity.key(of: before.values), after)
      if let last = known.last, last.kind == .delete, last.isOpen {
        try bringBackParts(of: LocalObject(entity.name, object), last.chain)
      }
      var row = try lay(now, on: image, over: before, entity, object, shown: after)
      if after.dropFirst(entity.servedCount) != before.values.dropFirst(entity.servedCount) {
        try rows.updateClientOnly(connection, object: object, values: after)
        for position in entity.servedCount..<after.count {
          row?.values[position] = after[position].asStored
        }
      }
      return row
    }
    return row.map { ObjectRecord(entity, store: store, row: $0) }
  }

  func delete(_ change: LocalChange) throws(FerryError) -> ObjectRecord? {
    let entity = change.entity
    let rows = store.rows(of: entity)
    let (object, before) = try present(change)
    // Based on what the app saw, under the key that the object has now.
    var base = change.seen
    for position in entity.key { base[position] = before.values[position] }
    try deleteParts(of: entity, before.values)
    return try store.sql { () throws(SQLiteError) -> ObjectRecord? in
      let known = try operations.of(entity, object)
      if known.allSatisfy({ $0.state == .withdrawn }) {
        _ = try rows.keepOriginal(connection, object: object)
      }
      if try rows.original(connection, object: object) == nil, !known.allSatisfy(\.isOpen) {
        // The image comes with the answer to its create; the delete may yet be refused.
        try KeptValues(store: store).keepHidden(entity, object, before.values, connection)
      } else {
        try rows.keepClientOnly(connection, object: object)
      }
      var below: [AttributeValue]?
      if let last = known.last, last.isOpenCreate {
        below = try self.below(last)
        if below == nil { try forgetKey(of: last, entity) }
      }
      _ = try carryOut(
        PendingMachine.delete(known, before: served(base, of: entity), below: below), known,
        entity, object, entity.key(of: before.values), before.values)
      try show(entity, object, shown: nil)
      return try PendingObjects(store).hidden(entity, object, connection)
    }
  }

  /// The row to change as it is now; `objectNotFound` where it is gone.
  func present(_ change: LocalChange) throws(FerryError) -> (Int64, VisibleRow) {
    let row = try store.sql { () throws(SQLiteError) -> VisibleRow? in
      guard let object = change.object else { return nil }
      return try store.rows(of: change.entity).visible(connection, object: object)
    }
    guard let row else {
      throw FerryError(
        .objectNotFound,
        "the \(change.entity.name) to \(change.kind.rawValue) is not on the device",
        hint: change.object == nil
          ? "Create it first." : "It was deleted, here or by another user.",
        entity: change.entity.name)
    }
    return (row.object, row)
  }

  private func served(_ values: [AttributeValue], of entity: Entity) -> [AttributeValue] {
    Array(values.prefix(entity.servedCount))
  }

  /// Writes what was decided on the object's operations, which are `known`; returns them as they
  /// then are.
  private func carryOut(
    _ decision: PendingMachine.Decision, _ known: [PendingOperation], _ entity: Entity,
    _ object: Int64, _ key: ObjectKey, _ values: [AttributeValue]
  ) throws(SQLiteError) -> [PendingOperation] {
    switch decision {
    case .append(let kind, let changed, let base):
      let id = store.newOperationID()
      let owners = try owners(of: entity, object, values)
      var operation = PendingOperation(
        sequence: 0, id: id, entity: entity.name, object: object, kind: kind, key: key,
        isTemporary: known.contains(where: \.isTemporary), changed: changed, base: base,
        chain: store.chain(else: id), state: .waiting,
        counter: counter(after: known.last?.counter ?? 0),
        root: owners.root, owners: owners.between)
      operation.sequence = try operations.insert(
        operation, made: store.world.clock.now.milliseconds)
      return known + [operation]
    case .merge(var operation):
      operation.counter = counter(after: operation.counter)
      operation.chain = try chain(of: operation)
      let owners = try owners(of: entity, object, values)
      (operation.root, operation.owners) = (owners.root, owners.between)
      try operations.update(operation)
      if known.last?.kind != operation.kind || References(store, connection).concerns(operation) {
        try wakeMarked()
      }
      return known.map { $0.sequence == operation.sequence ? operation : $0 }
    case .remove(let operation):
      try letGo(operation)
      return known.filter { $0.sequence != operation.sequence }
    case .nothing: return known
    }
  }

  /// Makes the visible row of an object what its image and its operations say.
  ///
  /// `shown` stands in for an image that there is not.
  package func show(_ entity: Entity, _ object: Int64, shown: [AttributeValue]?) throws(SQLiteError)
  {
    let rows = store.rows(of: entity)
    _ = try lay(
      try operations.of(entity, object),
      on: try rows.original(connection, object: object)?.values,
      over: try rows.visible(connection, object: object), entity, object, shown: shown)
  }

  /// The same for who has read operations, image and visible row. Returns the row as it then is.
  private func lay(
    _ operations: [PendingOperation], on image: [AttributeValue]?, over visible: VisibleRow?,
    _ entity: Entity, _ object: Int64, shown: [AttributeValue]?
  ) throws(SQLiteError) -> VisibleRow? {
    assert(
      PendingMachine.disorder(operations) == nil,
      "what \(entity.name) \(object) has open stands before what was submitted of it")
    let rows = store.rows(of: entity)
    try References(store, connection).note(operations, image: image)
    let live = operations.filter { $0.state != .withdrawn }
    guard !live.isEmpty else {
      return try bare(entity, object, visible, hasImage: image != nil)
    }
    let values = PendingMachine.lay(live, on: image, shown: shown ?? visible?.values)
    guard var values else {
      if visible != nil { try rows.deleteVisible(connection, object: object) }
      return nil
    }
    // Neither image nor operation knows what stays on the device.
    for position in entity.servedCount..<values.count {
      values[position] = (visible?.values ?? shown ?? values)[position]
    }
    if visible == nil {
      let kept = try KeptValues(store: store).takeHidden(entity, object, connection)
      if shown == nil { values.replace(kept) }
    }
    let row = VisibleRow(
      object: object, pending: PendingMachine.pendingChange(live),
      failed: live.contains { $0.state == .replayFailed },
      replay: PendingMachine.replayState(live), values: values.map(\.asStored))
    if visible == nil {
      let inserted = try rows.insertVisible(
        connection, object: object, values: values, pending: row.pending, replay: row.replay)
      guard inserted != nil else {
        throw SQLiteError(
          code: SQLiteError.constraint, message: "another object has the key",
          subject: "\(entity.name) \(entity.key(of: values))")
      }
    }
    try rows.updateVisible(
      connection, object: object, values: values, pending: row.pending, failed: row.failed,
      replay: row.replay, known: visible?.values ?? values)
    return row
  }

  /// Not pending: the image itself, where it was put aside, or nothing.
  private func bare(
    _ entity: Entity, _ object: Int64, _ visible: VisibleRow?, hasImage: Bool
  ) throws(SQLiteError) -> VisibleRow? {
    let rows = store.rows(of: entity)
    let kept =
      visible == nil ? try KeptValues(store: store).takeHidden(entity, object, connection) : [:]
    guard hasImage, var image = try rows.original(connection, object: object) else {
      guard let visible, visible.pending != .none, visible.pending != .parent else {
        return visible
      }
      try rows.deleteVisible(connection, object: object)
      return nil
    }
    try rows.deleteOriginal(connection, object: object)
    if visible == nil {
      image.values.replace(kept)
      _ = try rows.insertDownloaded(
        connection, object: object, values: image.values, partition: image.partition,
        hash: image.hash)
    } else {
      try rows.updateDownloaded(
        connection, object: object, values: image.values, partition: image.partition,
        hash: image.hash)
    }
    return try rows.visible(connection, object: object)
  }
}

extension [AttributeValue] {
  fileprivate mutating func replace(_ others: [Int: AttributeValue]) {
    for (position, value) in others { self[position] = value }
  }
}

extension AttributeValue {
  /// The value as it is read again: SQLite keeps no NaN.
  var asStored: AttributeValue {
    if case .double(let number) = self, number.isNaN { .null } else { self }
  }
}
