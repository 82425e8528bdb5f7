import FerryModel
import FerrySQLite

/// The visible objects of the database, read on one snapshot in each call.
package struct Records {
  let store: Store

  package init(_ store: Store) { self.store = store }

  /// Statements that a connection keeps; an app's own queries are few, their texts do not depend on
  /// values.
  static let keptStatements = 500

  package func of(_ entity: Entity, object: Int64) throws(FerryError) -> ObjectRecord? {
    try read { connection throws(SQLiteError) in
      try store.rows(of: entity).visible(connection, object: object)
        .map { ObjectRecord(entity, store: store, row: $0) }
    }
  }

  /// By business key; a temporary key that was replaced since still finds its object.
  package func of(_ entity: Entity, key: ObjectKey) throws(FerryError) -> ObjectRecord? {
    try read { connection throws(SQLiteError) in try of(entity, key: key, connection) }
  }

  private func of(
    _ entity: Entity, key: ObjectKey, _ connection: Connection
  ) throws(SQLiteError) -> ObjectRecord? {
    let rows = store.rows(of: entity)
    var row = try rows.visible(connection, key: key)
    if row == nil {
      let former = FormerKeys(store, connection)
      if let object = try former.object(key, of: entity) {
        row = try rows.visible(connection, object: object)
      } else if let followed = try former.followed(key, of: entity) {
        row = try rows.visible(connection, key: followed)
      }
    }
    return row.map { ObjectRecord(entity, store: store, row: $0) }
  }

  /// The same under its type, with what `paths` lead to.
  func object<Object: BusinessObject>(
    key: ObjectKey, prefetching paths: [any RelationshipPath<Object>]
  ) throws(FerryError) -> Object? {
    try objects(prefetching: paths) { connection throws(SQLiteError) in
      try of(Object.entity, key: key, connection).map { [$0] } ?? []
    }.first
  }

  /// The visible rows of an entity that `rest` leaves.
  package func all(
    _ entity: Entity, _ rest: String, _ parameters: [AttributeValue]
  ) throws(FerryError) -> [ObjectRecord] {
    try read { connection throws(SQLiteError) in
      try objects(entity, rest, parameters, connection) { $0 }
    }
  }

  /// The same, each made an object as it is read.
  func objects<Object>(
    _ entity: Entity, _ rest: String, _ parameters: [AttributeValue], _ connection: Connection,
    _ make: (ObjectRecord) -> Object
  ) throws(SQLiteError) -> [Object] {
    let rows = store.rows(of: entity)
    let statement = try connection.statement("\(rows.selectVisible) \(rest)")
    defer { statement.reset() }
    try statement.bind(parameters)
    return try objects(statement, rows, make)
  }

  /// The rows of a statement that begins with `Rows.visibleColumns`.
  func objects<Object>(
    _ statement: Statement, _ rows: Rows, _ make: (ObjectRecord) -> Object
  ) throws(SQLiteError) -> [Object] {
    let origin = RecordOrigin(rows, store, store.creations)
    var reader = StoredRowReader(statement)
    var read: [StoredRow] = []
    while try statement.step() { read.append(reader.read()) }
    // An array made with room for none writes its length into the one that all empty arrays share.
    guard !read.isEmpty else { return [] }
    // How many there are is known now: an app's own type is moved to its place without more ado.
    return [Object](unsafeUninitializedCapacity: read.count) { objects, count in
      for row in read {
        objects.initializeElement(at: count, to: make(ObjectRecord(origin, row)))
        count += 1
      }
    }
  }

  package func count(_ entity: Entity) throws(FerryError) -> Int {
    try read { connection throws(SQLiteError) in
      Int(try connection.value("SELECT count(*) FROM \(Schema.table(entity))")?.integer ?? 0)
    }
  }

  /// Reads on one snapshot and speaks of SQLite's errors as the store's.
  func read<Result>(
    _ body: (Connection) throws(SQLiteError) -> Result
  ) throws(FerryError) -> Result {
    try store.checkLease()
    return try store.read { connection throws(FerryError) in
      defer { connection.forgetStatements(beyond: Records.keptStatements) }
      do throws(SQLiteError) { return try body(connection) } catch { throw failure(error) }
    }
  }

  /// A sum that is too large is the fault of the query, not of the file.
  func failure(_ error: SQLiteError) -> FerryError {
    guard error.isTooLargeSum else { return Store.failure(error, path: store.path) }
    return FerryError(
      .invalidQuery, "a whole number of the query is too large for a long: \(error.message)",
      hint: "Add up fewer rows, take the average, or give the attribute the type decimal or "
        + "integer in the model: their sums have as many digits as they need.", cause: error)
  }
}

extension SQLiteError {
  /// What `sum` says of whole numbers beyond 64 bits.
  var isTooLargeSum: Bool { message.hasSuffix("integer overflow") }
}
