import FerryModel
import FerrySQLite

/// A mobile business object: a value with the attributes of one entity, generated from the model.
///
/// Reading attributes never waits. `save` and `delete` change the local database in one transaction
/// and leave the object *pending*. The change is sent as soon as there is a connection, unless the app
/// saves it `.later` or collects its changes: see `Database.submitsAutomatically`.
///
/// ```swift
/// let booking = try await Booking(passenger: "Ada", in: database).save()
/// ```
///
/// Two copies are equal when object, values and state are. Generated types are `Identifiable` by the
/// device's own key, which stays when the business system gives another business key; one whose model
/// has an attribute `id` is so by that attribute where it is the key and the app gives it, and else
/// not: its lists say `id: \.record.identity`.
public protocol BusinessObject: Sendable, Hashable, CustomDebugStringConvertible {
  static var entity: Entity { get }
  var record: Record { get set }
  init(record: Record)
}

extension BusinessObject {
  /// Only in memory: neither created nor loaded, or the transaction that created it was undone.
  public var isNew: Bool { record.object == nil && !record.deleted }
  /// Changed in memory and not saved, or saved by a transaction that was undone.
  public var isDirty: Bool { !isNew && record.isChanged }
  /// Deleted here, whether its delete is pending or left nothing to send.
  public var isDeleted: Bool { record.deleted }
  /// Its create is pending: not submitted, on its way, or refused.
  public var isCreated: Bool { pendingChange == .create }
  /// An update of it is pending: not submitted, on its way, or refused.
  public var isUpdated: Bool { pendingChange == .update }
  /// A change of it, or of what it owns, waits to be replayed or to be answered.
  public var isPending: Bool { pendingChange != .none }
  public var pendingChange: PendingChange { isNew ? .none : record.pending }
  /// The last replay was refused; `logRecords` tell why (sync/P15).
  public var replayFailed: Bool { record.failed }
  /// Grows with each local change and each submit; 0 where nothing is pending (facts/1.5). Like all
  /// of the object it is what it was at the last load or save.
  public var replayCounter: Int64 { record.replay.counter }
  /// `replayCounter` as it was submitted while the answer is not here, else 0.
  public var replayPending: Int64 { record.replay.pending }
  /// `replayCounter` as it was when the change was refused, else 0.
  public var replayFailure: Int64 { record.replay.failure }
  /// The device's own key of the object, which outlives a change of the business key.
  public var surrogateKey: Int64? { record.object }

  /// Reads the object again; what was changed in memory is dropped.
  ///
  /// Errors: `objectNotFound` for a new object, for one whose delete is pending, and where it is no
  /// longer on the device; the hint says which.
  public mutating func refresh() throws(FerryError) {
    guard let object = record.object else {
      throw FerryError(
        .objectNotFound, "the \(Self.entity.name) to refresh was not saved",
        hint: "Call create or save first.", entity: Self.entity.name)
    }
    let read = try record.store.recordOrHidden(Self.entity, object: object)
    guard let read, !read.deleted else {
      throw FerryError(
        .objectNotFound, "\(Self.entity.name) \(record.key) is no longer on the device",
        hint: read != nil
          ? "Its delete is pending here: cancelPending brings it back."
          : "Another user deleted it or it moved out of your data.", entity: Self.entity.name)
    }
    let old = record
    record = read
    record.follows(old, in: old.store.creations, dropped: true)
  }

  /// Takes over every attribute of `other` but the key and big values; nothing is saved yet.
  public mutating func copyAll(from other: Self) {
    var values = record.values
    for position in values.indices
    where !Self.entity.key.contains(position) && !Self.entity.attributes[position].type.isBig {
      values[position] = other.record.value(at: position)
    }
    record.values = values
  }
}

extension Store {
  package func record(_ entity: Entity, object: Int64) throws(FerryError) -> Record? {
    try checkLease()
    return try read { connection throws(FerryError) in
      let row = try self.sql { () throws(SQLiteError) in
        try self.rows(of: entity).visible(connection, object: object)
      }
      return row.map { Record(entity, store: self, row: $0) }
    }
  }

  /// By business key; a temporary key that was replaced since still finds its object.
  package func record(_ entity: Entity, key: Key) throws(FerryError) -> Record? {
    try checkLease()
    return try read { connection throws(FerryError) in
      try self.sql { () throws(SQLiteError) in try self.record(entity, key: key, connection) }
    }
  }

  private func record(
    _ entity: Entity, key: Key, _ connection: Connection
  ) throws(SQLiteError) -> Record? {
    let rows = self.rows(of: entity)
    var row = try rows.visible(connection, key: key)
    if row == nil {
      if let object = try object(formerly: key, of: entity, connection) {
        row = try rows.visible(connection, object: object)
      } else if let followed = try followed(key, of: entity, connection) {
        row = try rows.visible(connection, key: followed)
      }
    }
    return row.map { Record(entity, store: self, row: $0) }
  }

  /// The same under its type, with what `paths` lead to.
  func object<Object: BusinessObject>(
    key: Key, prefetching paths: [any RelationshipPath<Object>]
  ) throws(FerryError) -> Object? {
    guard !paths.isEmpty else {
      return try record(Object.entity, key: key).map(Object.init(record:))
    }
    return try objects(prefetching: paths) { connection throws(SQLiteError) in
      try self.record(Object.entity, key: key, connection).map { [$0] } ?? []
    }.first
  }

  package func records(
    _ entity: Entity, _ rest: String, _ parameters: [Value]
  ) throws(FerryError) -> [Record] { try objects(entity, rest, parameters) { $0 } }

  /// The visible rows of an entity that `rest` leaves, each made an object as it is read.
  func objects<Object>(
    _ entity: Entity, _ rest: String, _ parameters: [Value], _ make: (Record) -> Object
  ) throws(FerryError) -> [Object] {
    try checkLease()
    return try read { connection throws(FerryError) in
      try self.sql { () throws(SQLiteError) in
        try self.objects(entity, rest, parameters, connection, make)
      }
    }
  }

  func objects<Object>(
    _ entity: Entity, _ rest: String, _ parameters: [Value], _ connection: Connection,
    _ make: (Record) -> Object
  ) throws(SQLiteError) -> [Object] {
    let rows = rows(of: entity)
    let statement = try connection.statement("\(rows.selectVisible) \(rest)")
    defer { statement.reset() }
    try statement.bind(parameters)
    return try objects(statement, rows, make)
  }

  /// The rows of a statement that begins with `Rows.visibleColumns`.
  func objects<Object>(
    _ statement: Statement, _ rows: Rows, _ make: (Record) -> Object
  ) throws(SQLiteError) -> [Object] {
    let origin = RecordOrigin(rows, self, creations)
    var reader = StoredRowReader(statement)
    var read: [StoredRow] = []
    while try statement.step() { read.append(reader.read()) }
    // An array made with room for none writes its length into the one that all empty arrays share.
    guard !read.isEmpty else { return [] }
    // How many there are is known now: an app's own type is moved to its place without more ado.
    return [Object](unsafeUninitializedCapacity: read.count) { objects, count in
      for row in read {
        objects.initializeElement(at: count, to: make(Record(origin, row)))
        count += 1
      }
    }
  }

  package func count(_ entity: Entity) throws(FerryError) -> Int {
    try checkLease()
    return try read { connection throws(FerryError) in
      try self.sql { () throws(SQLiteError) in
        Int(try connection.value("SELECT count(*) FROM \(Schema.table(entity))")?.integer ?? 0)
      }
    }
  }
}
