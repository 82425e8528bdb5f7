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
/// Two copies are equal if object, values and state are equal. Generated types are `Identifiable`
/// by the device's own key, which stays the same when the business system assigns another business
/// key. A type whose model has an attribute `id` is an exception. It is `Identifiable` by that
/// attribute if `id` is the key and the app gives it; otherwise it is not `Identifiable`, and lists
/// use `id: \.record.identity`.
public protocol BusinessObject: Sendable, Hashable, CustomDebugStringConvertible {
  static var entity: Entity { get }
  var record: Record { get set }
  init(record: Record)
}

extension BusinessObject {
  /// Whether the object exists only in memory: it was neither created nor loaded, or the
  /// transaction that created it was undone.
  public var isNew: Bool { record.object == nil && !record.deleted }
  /// Whether the copy has changes in memory that are not saved, or whose transaction was undone.
  public var isDirty: Bool { !isNew && record.isChanged }
  /// Whether the object was deleted here; true also if the delete left nothing to send.
  public var isDeleted: Bool { record.deleted }
  /// Whether its create is pending: not submitted, on its way, or refused.
  public var isCreated: Bool { pendingChange == .create }
  /// Whether an update of it is pending: not submitted, on its way, or refused.
  public var isUpdated: Bool { pendingChange == .update }
  /// Whether a change of it or of its parts waits to be submitted, replayed or answered.
  public var isPending: Bool { pendingChange != .none }
  public var pendingChange: PendingChange { isNew ? .none : record.pending }
  /// Whether the last replay was refused; `logRecords` have the reason.
  public var replayFailed: Bool { record.failed }
  /// A counter of local changes and submits; 0 if nothing is pending. Like the whole object it has
  /// the state of the last load or save.
  public var replayCounter: Int64 { record.replay.counter }
  /// `replayCounter` at the time of the submit, until the answer is here; else 0.
  public var replayPending: Int64 { record.replay.pending }
  /// `replayCounter` at the time of the refusal; else 0.
  public var replayFailure: Int64 { record.replay.failure }
  /// The device's own key of the object; it stays the same when the business key changes.
  public var surrogateKey: Int64? { record.object }

  /// Reads the object again; changes in memory are dropped.
  ///
  /// Errors: `objectNotFound` for a new object, for one with a pending delete, and if it is no
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
          ? "Its delete is pending here: cancelPending restores it."
          : "Another user deleted it or it moved out of your data.", entity: Self.entity.name)
    }
    let old = record
    record = read
    record.follows(old, in: old.store.creations, dropped: true)
  }

  /// Copies every attribute of `other` except the key and big values; nothing is saved yet.
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
