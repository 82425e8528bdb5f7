import FerryCrypto
import FerryModel
import FerrySQLite

extension Store {
  package var operations: OperationTable { OperationTable(model: model) }

  /// 128 random bits.
  package func newOperationID() -> OperationID {
    guard let id = OperationID(hexadecimal(world.chance.bytes(16))) else {
      preconditionFailure("32 hexadecimal digits are an operation id")
    }
    return id
  }

  /// Keeps a change beside its object, in one transaction; returns the object as it then is, nil
  /// when it is gone (sync/P1).
  package func save(_ change: LocalChange) throws(FerryError) -> Record? {
    do throws(FerryError) { return try saved(change) } catch {
      throw error.about(change.entity.name)
    }
  }

  private func saved(_ change: LocalChange) throws(FerryError) -> Record? {
    try checkLease()
    return try write { connection throws(FerryError) in
      let change = try self.sql { () throws(SQLiteError) in
        try FormerKeys(self, connection).followed(change)
      }
      guard !change.entity.isClientOnly else { return try self.saveHere(change, connection) }
      switch change.kind {
      case .create:
        let (record, isTemporary) = try self.create(change, connection)
        if let object = record.object {
          self.noteCreation(change.entity, object, isTemporary: isTemporary)
        }
        return record
      case .update: return try self.update(change, connection)
      case .delete:
        // What it owns goes with it, as one.
        let hidden =
          change.entity.ownsChildren
          ? try self.transaction { () throws(FerryError) in try self.delete(change, connection) }
          : try self.delete(change, connection)
        try self.sql { () throws(SQLiteError) in try Contents(self).sweep(connection) }
        return hidden
      }
    }
  }

  private func create(
    _ change: LocalChange, _ connection: Connection
  ) throws(FerryError) -> (Record, isTemporary: Bool) {
    let entity = change.entity
    let rows = rows(of: entity)
    var values = change.after ?? []
    let id = newOperationID()
    makeKey(entity, &values)
    let isTemporary =
      entity.keyOrigin == .businessSystem
      && (change.keepsTemporaryKey || entity.key.contains { values[$0].isNull })
    if isTemporary {
      for position in entity.key where values[position].isNull {
        values[position] = entity.attributes[position].type.temporaryKey(world.chance, id)
      }
    }
    let key = entity.key(of: values)
    let result = try sql { () throws(SQLiteError) -> VisibleRow? in
      let keyValues = entity.key.map { values[$0] }
      if let hidden = try rows.original(connection, key: keyValues) {
        guard try rows.visible(connection, key: keyValues) == nil else { return nil }
        return try self.recreate(hidden, values, id, entity, connection)
      }
      let counter = self.counter(after: 0)
      let replay = ReplayState(counter: counter, pending: 0, failure: 0)
      try self.passSpent(entity, connection)
      let inserted = try rows.insertVisible(
        connection, object: nil, values: values, pending: .create, replay: replay)
      guard let object = inserted else { return nil }
      var changed: [Int: Value] = Dictionary(minimumCapacity: entity.servedCount)
      for position in 0..<entity.servedCount
      where !values[position].isNull && !(isTemporary && entity.key.contains(position)) {
        changed[position] = values[position]
      }
      let owners = try self.owners(of: entity, object, values, connection)
      let operation = PendingOperation(
        sequence: 0, id: id, entity: entity.name, object: object, kind: .create, key: key,
        isTemporary: isTemporary, changed: changed,
        base: [:], chain: self.chain(ofNew: id), state: .waiting,
        counter: counter, root: owners.root, owners: owners.between)
      try self.operations.insert(operation, made: self.world.clock.now.milliseconds, connection)
      return VisibleRow(
        object: object, pending: .create, failed: false, replay: replay,
        values: values.map(\.asStored))
    }
    guard let result else { throw taken(key, of: entity) }
    return (Record(entity, store: self, row: result), isTemporary)
  }

  /// The key belongs to another object that is visible.
  func taken(_ key: Key, of entity: Entity) -> FerryError {
    FerryError(
      .objectExists, "\(entity.name) \(key) already exists",
      hint: "Load it and update it, or choose another key.", entity: entity.name,
      attribute: entity.key.map { entity.attributes[$0].name }.joined(separator: ", "))
  }

  /// The key belongs to an object whose delete is pending: it comes back.
  private func recreate(
    _ hidden: OriginalRow, _ values: [Value], _ id: OperationID, _ entity: Entity,
    _ connection: Connection
  ) throws(SQLiteError) -> VisibleRow? {
    let known = try operations.of(entity, hidden.object, connection)
    if let last = known.last, last.isOpen, last.kind == .delete {
      _ = try carryOut(
        PendingMachine.recreate(
          last, after: served(values, of: entity), image: hidden.values), known, entity,
        hidden.object, last.key, values, connection)
    } else {
      let changed = Dictionary(
        uniqueKeysWithValues: served(values, of: entity).enumerated().map {
          ($0.offset, $0.element)
        })
      let owners = try owners(of: entity, hidden.object, values, connection)
      let operation = PendingOperation(
        sequence: 0, id: id, entity: entity.name, object: hidden.object, kind: .create,
        key: entity.key(of: values), isTemporary: false,
        changed: changed.filter { !$0.value.isNull },
        base: [:], chain: chain(ofNew: id), state: .waiting,
        counter: counter(after: known.last?.counter ?? 0),
        root: owners.root, owners: owners.between)
      try operations.insert(operation, made: world.clock.now.milliseconds, connection)
    }
    try show(entity, hidden.object, shown: values, connection)
    return try rows(of: entity).visible(connection, object: hidden.object)
  }

  private func update(_ change: LocalChange, _ connection: Connection) throws(FerryError) -> Record?
  {
    let entity = change.entity
    let rows = rows(of: entity)
    let (object, before) = try present(change, connection)
    guard let after = change.applied(to: before.values) else { return nil }
    // A temporary key that was replaced meanwhile is no change of the app's.
    guard entity.key.allSatisfy({ after[$0] == before.values[$0] }) else {
      throw FerryError(
        .keyChanged, "the key of \(entity.name) \(entity.key(of: before.values)) was changed",
        hint: "Delete the object and create another.", entity: entity.name,
        attribute: entity.key.first { after[$0] != before.values[$0] }
          .map { entity.attributes[$0].name })
    }
    let row = try sql { () throws(SQLiteError) -> VisibleRow? in
      let known = try self.operations.of(entity, object, connection)
      var image: [Value]?
      if known.allSatisfy({ $0.state == .withdrawn }), !self.world.has(.forgottenOriginal),
        try rows.keepOriginal(connection, object: object)
      {
        image = before.values
      } else {
        image = try rows.original(connection, object: object)?.values
      }
      let now = try self.carryOut(
        PendingMachine.update(
          known, seen: change.seen, before: served(before.values, of: entity),
          after: served(after, of: entity), image: image),
        known, entity, object, entity.key(of: before.values), after, connection)
      if let last = known.last, last.kind == .delete, last.isOpen {
        try Parts(self, connection).bringBack(of: LocalObject(entity.name, object), last.chain)
      }
      var row = try self.lay(
        now, on: image, over: before, entity, object, shown: after, connection)
      if after.dropFirst(entity.servedCount) != before.values.dropFirst(entity.servedCount) {
        try rows.updateClientOnly(connection, object: object, values: after)
        for position in entity.servedCount..<after.count {
          row?.values[position] = after[position].asStored
        }
      }
      return row
    }
    return row.map { Record(entity, store: self, row: $0) }
  }

  func delete(_ change: LocalChange, _ connection: Connection) throws(FerryError) -> Record? {
    let entity = change.entity
    let rows = rows(of: entity)
    let (object, before) = try present(change, connection)
    // Based on what the app saw, under the key that the object has now.
    var base = change.seen
    for position in entity.key { base[position] = before.values[position] }
    try Parts(self, connection).delete(of: entity, before.values)
    return try sql { () throws(SQLiteError) -> Record? in
      let known = try self.operations.of(entity, object, connection)
      if known.allSatisfy({ $0.state == .withdrawn }) {
        _ = try rows.keepOriginal(connection, object: object)
      }
      if try rows.original(connection, object: object) == nil, !known.allSatisfy(\.isOpen) {
        // The image comes with the answer to its create; the delete may yet be refused.
        try KeptValues(store: self).keepHidden(entity, object, before.values, connection)
      } else {
        try rows.keepClientOnly(connection, object: object)
      }
      var below: [Value]?
      if let last = known.last, last.isOpenCreate {
        below = try self.below(last, connection)
        if below == nil { try self.forgetKey(of: last, entity, connection) }
      }
      _ = try self.carryOut(
        PendingMachine.delete(known, before: served(base, of: entity), below: below), known,
        entity, object, entity.key(of: before.values), before.values, connection)
      try self.show(entity, object, shown: nil, connection)
      return try PendingObjects(self).hidden(entity, object, connection)
    }
  }

  /// The row to change as it is now; `objectNotFound` where it is gone.
  func present(
    _ change: LocalChange, _ connection: Connection
  ) throws(FerryError)
    -> (Int64, VisibleRow)
  {
    let row = try sql { () throws(SQLiteError) -> VisibleRow? in
      guard let object = change.object else { return nil }
      return try self.rows(of: change.entity).visible(connection, object: object)
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

  private func served(_ values: [Value], of entity: Entity) -> [Value] {
    Array(values.prefix(entity.servedCount))
  }

  /// Writes what was decided on the object's operations, which are `known`; returns them as they
  /// then are.
  private func carryOut(
    _ decision: PendingMachine.Decision, _ known: [PendingOperation], _ entity: Entity,
    _ object: Int64, _ key: Key, _ values: [Value], _ connection: Connection
  ) throws(SQLiteError) -> [PendingOperation] {
    switch decision {
    case .append(let kind, let changed, let base):
      let id = newOperationID()
      let owners = try owners(of: entity, object, values, connection)
      var operation = PendingOperation(
        sequence: 0, id: id, entity: entity.name, object: object, kind: kind, key: key,
        isTemporary: known.contains(where: \.isTemporary), changed: changed, base: base,
        chain: chain(ofNew: id), state: .waiting,
        counter: counter(after: known.last?.counter ?? 0),
        root: owners.root, owners: owners.between)
      operation.sequence = try operations.insert(
        operation, made: world.clock.now.milliseconds, connection)
      return known + [operation]
    case .merge(var operation):
      operation.counter = counter(after: operation.counter)
      operation.chain = try chain(ofOpen: operation, connection)
      let owners = try owners(of: entity, object, values, connection)
      (operation.root, operation.owners) = (owners.root, owners.between)
      try operations.update(operation, connection)
      if known.last?.kind != operation.kind || References(self, connection).concerns(operation) {
        try wakeMarked(connection)
      }
      return known.map { $0.sequence == operation.sequence ? operation : $0 }
    case .remove(let operation):
      try letGo(operation, connection)
      return known.filter { $0.sequence != operation.sequence }
    case .nothing: return known
    }
  }

  /// Makes the visible row of an object what its image and its operations say.
  ///
  /// `shown` stands in for an image that there is not.
  package func show(
    _ entity: Entity, _ object: Int64, shown: [Value]?, _ connection: Connection
  ) throws(SQLiteError) {
    let rows = rows(of: entity)
    _ = try lay(
      try operations.of(entity, object, connection),
      on: try rows.original(connection, object: object)?.values,
      over: try rows.visible(connection, object: object), entity, object, shown: shown, connection)
  }

  /// The same for who has read operations, image and visible row. Returns the row as it then is.
  private func lay(
    _ operations: [PendingOperation], on image: [Value]?, over visible: VisibleRow?,
    _ entity: Entity, _ object: Int64, shown: [Value]?, _ connection: Connection
  ) throws(SQLiteError) -> VisibleRow? {
    let rows = rows(of: entity)
    try References(self, connection).note(operations, image: image)
    let live = operations.filter { $0.state != .withdrawn }
    guard !live.isEmpty else {
      return try bare(entity, object, visible, hasImage: image != nil, connection)
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
      let kept = try KeptValues(store: self).takeHidden(entity, object, connection)
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
    _ entity: Entity, _ object: Int64, _ visible: VisibleRow?, hasImage: Bool,
    _ connection: Connection
  ) throws(SQLiteError) -> VisibleRow? {
    let rows = rows(of: entity)
    let kept =
      visible == nil ? try KeptValues(store: self).takeHidden(entity, object, connection) : [:]
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

extension [Value] {
  fileprivate mutating func replace(_ others: [Int: Value]) {
    for (position, value) in others { self[position] = value }
  }
}

extension Value {
  /// The value as it is read again: SQLite keeps no NaN.
  var asStored: Value {
    if case .double(let number) = self, number.isNaN { .null } else { self }
  }
}
