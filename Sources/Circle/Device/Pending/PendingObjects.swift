import FerryModel
import FerrySQLite

/// Objects by what is pending of them.
package struct PendingObjects {
  private let store: Store

  package init(_ store: Store) { self.store = store }

  /// An object that is visible, or whose delete is pending; nil for any other.
  package func record(_ entity: Entity, _ object: Int64) throws(FerryError) -> ObjectRecord? {
    try store.read { connection throws(SQLiteError) in try record(entity, object, connection) }
  }

  private func record(
    _ entity: Entity, _ object: Int64, _ connection: Connection
  ) throws(SQLiteError) -> ObjectRecord? {
    if let row = try store.rows(of: entity).visible(connection, object: object) {
      return ObjectRecord(entity, store: store, row: row)
    }
    return try hidden(entity, object, connection)
  }

  /// The record of an object whose delete is pending, which no table of visible rows holds; nil
  /// for any other.
  func hidden(
    _ entity: Entity, _ object: Int64, _ connection: Connection
  ) throws(SQLiteError) -> ObjectRecord? {
    let live = try OperationTable(store, connection).of(entity, object).filter {
      $0.state != .withdrawn
    }
    guard let last = live.last, last.kind == .delete else { return nil }
    var values = try store.rows(of: entity).original(connection, object: object)?.values
    if values == nil, last.base.count == entity.servedCount {
      values = entity.attributes.indices.map { last.base[$0] ?? .null }
    }
    guard let values else { return nil }
    var record = ObjectRecord(
      entity, store: store,
      row: VisibleRow(
        object: object, pending: .delete,
        failed: live.contains { $0.state == .replayFailed },
        replay: PendingMachine.replayState(live), values: values))
    record.deleted = true
    return record
  }

  /// Pending objects in the order of their surrogate keys, pending deletes among them; those with
  /// operations in one of `states`, and with this pending change if one is given.
  package func all(
    _ entity: Entity, _ change: PendingChange?, _ states: PendingStates, skip: Int, take: Int?
  ) throws(FerryError) -> [ObjectRecord] {
    try RowQuery.checkPage(skip: skip, take: take)
    return try store.read { connection throws(SQLiteError) in
      let objects = try objects(entity, change, states, connection)
      return try objects.dropFirst(skip).prefix(take ?? objects.count)
        .map { object throws(SQLiteError) in try record(entity, object, connection) }
        .compactMap { $0 }
    }
  }

  package func count(
    _ entity: Entity, _ change: PendingChange?, _ states: PendingStates
  ) throws(FerryError) -> Int {
    try store.read { connection throws(SQLiteError) in
      try objects(entity, change, states, connection).count
    }
  }

  private func objects(
    _ entity: Entity, _ change: PendingChange?, _ states: PendingStates, _ connection: Connection
  ) throws(SQLiteError) -> [Int64] {
    let statement = try connection.statement(
      """
      SELECT object, kind FROM ferry_operation WHERE entity = ? AND \(states.test)
      ORDER BY object, sequence
      """)
    defer { statement.reset() }
    try statement.bind([.text(entity.name)])
    var objects: [Int64] = []
    // Of one object: its first operation says whether it is new, its last whether it is to go.
    var first: OperationKind?
    var last: OperationKind?
    func end() {
      guard let change, let found = first, let newest = last, !objects.isEmpty else { return }
      let letter: PendingChange =
        newest == .delete ? .delete : found == .create ? .create : .update
      if letter != change { objects.removeLast() }
    }
    while try statement.step() {
      let object = statement.integer(at: 0)
      let kind = OperationKind(rawValue: statement.text(at: 1))
      if object != objects.last || first == nil {
        end()
        objects.append(object)
        first = kind
      }
      last = kind
    }
    end()
    return objects
  }
}

/// Which operations make an object count as pending.
package enum PendingStates: Sendable {
  case all
  /// Submitted and not answered.
  case replaying

  /// Of an operation.
  var test: String {
    switch self {
    case .all: "state <> 'withdrawn'"
    case .replaying: OperationTable.isSubmitted
    }
  }
}

extension ObjectRecord {
  /// The object that was created from another copy of this new one, with what this copy changed since;
  /// the record itself where there is none.
  func createdBefore() throws(FerryError) -> ObjectRecord {
    guard object == nil, !deleted, !isDetached, let created = origin.created.withLock({ $0 }),
      var now = try PendingObjects(try store).record(entity, created.object)
    else { return self }
    var values = now.values
    for position in values.indices where value(at: position) != created.values[position] {
      values[position] = value(at: position)
    }
    if values != now.values { now.values = values }
    return now
  }

  /// The image beneath the pending change.
  func downloaded() throws(FerryError) -> ObjectRecord? {
    try beneath { store, connection, object throws(SQLiteError) in
      try store.rows(of: entity).original(connection, object: object)?.values
    }
  }

  /// The image beneath, with what each attribute was when the app first changed it: an import may
  /// have changed the image since.
  func original() throws(FerryError) -> ObjectRecord? {
    try beneath { store, connection, object throws(SQLiteError) in
      let live = try OperationTable(store, connection).of(entity, object)
        .filter { $0.state != .withdrawn }
      guard let first = live.first, first.kind != .create else { return nil }
      let rows = store.rows(of: entity)
      var values = try rows.original(connection, object: object)?.values
      if values == nil { values = try rows.visible(connection, object: object)?.values }
      for operation in live.reversed() {
        for (position, value) in operation.base { values?[position] = value }
      }
      return values
    }
  }

  private func beneath(
    _ read: (Store, Connection, Int64) throws(SQLiteError) -> [AttributeValue]?
  ) throws(FerryError) -> ObjectRecord? {
    guard let object else { return nil }
    let store = try store
    let values = try store.read { connection throws(SQLiteError) in
      try read(store, connection, object)
    }
    return values.map { values in
      ObjectRecord(
        entity, store: store,
        row: VisibleRow(
          object: object, pending: .none, failed: false, replay: .none, values: values))
    }
  }
}
