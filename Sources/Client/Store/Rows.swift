import FerryModel
import FerrySQLite

/// How an entity's rows are read from and written to its two tables.
package struct Rows {
  package let entity: Entity
  /// The attributes' columns, quoted and joined by commas.
  private let columns: String
  /// Those of them that are downloaded.
  private let served: [Attribute]
  private let keyTest: String
  /// Apart from the attributes: a row of many is read without touching their names.
  private let types: [AttributeType]

  package init(_ entity: Entity) {
    self.entity = entity
    types = entity.attributes.map(\.type)
    columns = entity.attributes.map { quoted($0.name) }.joined(separator: ", ")
    served = entity.isClientOnly ? [] : Array(entity.attributes.prefix(entity.servedCount))
    keyTest = entity.key.map { "\(quoted(entity.attributes[$0].name)) = ?" }.joined(
      separator: " AND ")
  }

  private var parameters: String { entity.attributes.map { _ in "?" }.joined(separator: ", ") }
  private var assignments: String { Rows.assignments(entity.attributes) }

  // The visible rows.

  /// Columns of a visible row, to be read by `visibleRow`.
  package var visibleColumns: String { "_id, \(pendingColumn), _failed, _replay, \(columns)" }

  package var selectVisible: String { "SELECT \(visibleColumns) FROM \(Schema.table(entity))" }

  /// The owner of a composite graph is pending with what is pending below it.
  private var pendingColumn: String {
    guard entity.ownsChildren else { return "_pending" }
    return """
      CASE WHEN _pending = 'N' AND EXISTS (SELECT 1 FROM ferry_operation
        WHERE root_entity = '\(entity.name)' AND root_object = _id AND state <> 'withdrawn')
      THEN 'P' ELSE _pending END
      """
  }

  /// The row that the statement stands at, if it began with `visibleColumns`.
  package func visibleRow(_ statement: Statement) -> VisibleRow {
    VisibleRow(
      object: statement.integer(at: 0), pending: statement.text(at: 1),
      failed: statement.integer(at: 2) != 0,
      replay: statement.isNull(at: 3) ? .none : ReplayState(text: statement.text(at: 3)),
      values: values(statement, from: 4))
  }

  package func visible(_ connection: Connection, object: Int64) throws(SQLiteError) -> VisibleRow? {
    try visibleRows(connection, "WHERE _id = ?", [.integer(object)]).first
  }

  package func visible(_ connection: Connection, key: Key) throws(SQLiteError) -> VisibleRow? {
    guard let values = key.values(of: entity) else { return nil }
    return try visibleRows(connection, "WHERE \(keyTest)", values.map(\.stored)).first
  }

  package func visibleRows(
    _ connection: Connection, _ rest: String, _ parameters: [SQLiteValue]
  ) throws(SQLiteError) -> [VisibleRow] {
    let statement = try connection.statement("\(selectVisible) \(rest)")
    defer { statement.reset() }
    try statement.bind(parameters)
    var rows: [VisibleRow] = []
    while try statement.step() { rows.append(visibleRow(statement)) }
    return rows
  }

  package func insertVisible(
    _ connection: Connection, object: Int64?, values: [Value], pending: String,
    replay: ReplayState
  ) throws(SQLiteError) -> Int64 {
    try connection.run(
      """
      INSERT INTO \(Schema.table(entity)) (_id, _pending, _replay, \(columns))
      VALUES (?, ?, ?, \(parameters))
      """,
      [.optional(object), .text(pending), .text(replay.text)] + values.map(\.stored))
    return connection.lastInsertRowID
  }

  package func updateVisible(
    _ connection: Connection, object: Int64, values: [Value], pending: String, failed: Bool,
    replay: ReplayState
  ) throws(SQLiteError) {
    try connection.run(
      """
      UPDATE \(Schema.table(entity)) SET _pending = ?, _failed = ?, _replay = ?, _partition = NULL,
      _hash = NULL, \(assignments) WHERE _id = ?
      """,
      [.text(pending), .flag(failed), .text(replay.text)] + values.map(\.stored)
        + [.integer(object)])
  }

  package func deleteVisible(_ connection: Connection, object: Int64) throws(SQLiteError) {
    try connection.run("DELETE FROM \(Schema.table(entity)) WHERE _id = ?", .integer(object))
  }

  // The last downloaded images of pending objects.

  package func original(_ connection: Connection, object: Int64) throws(SQLiteError) -> OriginalRow?
  {
    try originals(connection, "WHERE _id = ?", [.integer(object)])
  }

  package func original(_ connection: Connection, key: Key) throws(SQLiteError) -> OriginalRow? {
    guard let values = key.values(of: entity) else { return nil }
    return try originals(connection, "WHERE \(keyTest)", values.map(\.stored))
  }

  private func originals(
    _ connection: Connection, _ rest: String, _ parameters: [SQLiteValue]
  ) throws(SQLiteError) -> OriginalRow? {
    let statement = try connection.statement(
      "SELECT _id, _partition, _hash, \(columns) FROM \(Schema.original(entity)) \(rest)")
    defer { statement.reset() }
    try statement.bind(parameters)
    guard try statement.step() else { return nil }
    return OriginalRow(
      object: statement.integer(at: 0), partition: statement.integer(at: 1),
      hash: statement.integer(at: 2), values: values(statement, from: 3))
  }

  package func putOriginal(_ connection: Connection, _ row: OriginalRow) throws(SQLiteError) {
    try connection.run(
      """
      INSERT OR REPLACE INTO \(Schema.original(entity)) (_id, _partition, _hash, \(columns))
      VALUES (?, ?, ?, \(parameters))
      """,
      [.integer(row.object), .integer(row.partition), .integer(row.hash)] + row.values.map(\.stored)
    )
  }

  package func deleteOriginal(_ connection: Connection, object: Int64) throws(SQLiteError) {
    try connection.run("DELETE FROM \(Schema.original(entity)) WHERE _id = ?", .integer(object))
  }

  /// Keeps the downloaded image of a visible object that is about to become pending.
  package func keepOriginal(_ connection: Connection, object: Int64) throws(SQLiteError) {
    try connection.run(
      """
      INSERT OR IGNORE INTO \(Schema.original(entity)) (_id, _partition, _hash, \(columns))
      SELECT _id, _partition, _hash, \(columns) FROM \(Schema.table(entity))
      WHERE _id = ? AND _hash IS NOT NULL
      """, .integer(object))
  }

  // The downloaded images that are visible as they are.

  package func insertDownloaded(
    _ connection: Connection, object: Int64?, values: [Value], partition: Int64, hash: Int64
  ) throws(SQLiteError) -> Bool {
    try connection.run(
      """
      INSERT OR IGNORE INTO \(Schema.table(entity)) (_id, _partition, _hash, \(columns))
      VALUES (?, ?, ?, \(parameters))
      """,
      [.optional(object), .integer(partition), .integer(hash)] + values.map(\.stored))
    return connection.changes == 1
  }

  /// Inserts a downloaded row, bound as partition, hash and values, where none has its key.
  package var insertNew: String {
    """
    INSERT OR IGNORE INTO \(Schema.table(entity)) (_partition, _hash, \(columns))
    VALUES (?, ?, \(parameters))
    """
  }

  package func updateDownloaded(
    _ connection: Connection, object: Int64, values: [Value], partition: Int64, hash: Int64
  ) throws(SQLiteError) {
    try connection.run(
      """
      UPDATE \(Schema.table(entity)) SET _pending = 'N', _failed = 0, _replay = NULL,
      _partition = ?, _hash = ?, \(Rows.assignments(served)) WHERE _id = ?
      """,
      [.integer(partition), .integer(hash)] + values.prefix(served.count).map(\.stored)
        + [.integer(object)])
  }

  // What stays on the device.

  /// Writes the attributes that stay on the device, whatever is pending of the others.
  package func updateClientOnly(
    _ connection: Connection, object: Int64, values: [Value]
  ) throws(SQLiteError) {
    let own = entity.attributes.dropFirst(served.count)
    try connection.run(
      "UPDATE \(Schema.table(entity)) SET \(Rows.assignments(own)) WHERE _id = ?",
      values.dropFirst(served.count).map(\.stored) + [.integer(object)])
  }

  /// A row of an entity that stays on the device.
  package func insertClientOnly(
    _ connection: Connection, values: [Value]
  ) throws(SQLiteError) -> Int64 {
    try connection.run(
      "INSERT INTO \(Schema.table(entity)) (\(columns)) VALUES (\(parameters))",
      values.map(\.stored))
    return connection.lastInsertRowID
  }

  private static func assignments(_ attributes: some Sequence<Attribute>) -> String {
    attributes.map { "\(quoted($0.name)) = ?" }.joined(separator: ", ")
  }

  /// Object, partition and hash of the visible row with this key; the last two are nil while it is
  /// pending.
  package func downloaded(
    _ connection: Connection, key: [Value]
  ) throws(SQLiteError) -> (object: Int64, partition: Int64?, hash: Int64?)? {
    let statement = try connection.statement(
      "SELECT _id, _partition, _hash FROM \(Schema.table(entity)) WHERE \(keyTest)")
    defer { statement.reset() }
    try statement.bind(key.map(\.stored))
    guard try statement.step() else { return nil }
    return (
      statement.integer(at: 0), statement.isNull(at: 1) ? nil : statement.integer(at: 1),
      statement.isNull(at: 2) ? nil : statement.integer(at: 2)
    )
  }

  private func values(_ statement: Statement, from first: Int) -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(types.count)
    for index in types.indices {
      values.append(statement.stored(at: first + index, as: types[index]))
    }
    return values
  }
}

/// The test that these columns have the values that are bound.
package func matching(_ names: [String]) -> String {
  names.map { "\(quoted($0)) = ?" }.joined(separator: " AND ")
}

/// A row as the app sees it.
package struct VisibleRow: Equatable {
  package var object: Int64
  /// N not pending, C, U or D pending, P only what it owns; see `PendingChange`.
  package var pending: String
  package var failed: Bool
  package var replay: ReplayState
  package var values: [Value]
}

/// The last downloaded image of a pending object.
package struct OriginalRow: Equatable {
  package var object: Int64
  package var partition: Int64
  package var hash: Int64
  package var values: [Value]
}

extension Value {
  package var stored: SQLiteValue {
    switch self {
    case .null: .null
    case .boolean(let flag): .flag(flag)
    case .integer(let number): .integer(number)
    case .double(let number): .real(number)
    case .text(let text): .text(text)
    case .bytes(let bytes): .blob(bytes)
    }
  }
}

extension Statement {
  /// A column of an entity's table, which only ever holds canonical values of its type.
  func stored(at index: Int, as type: AttributeType) -> Value {
    if isNull(at: index) { return .null }
    return switch type {
    case .boolean: .boolean(integer(at: index) != 0)
    case .byte, .short, .int, .long: .integer(integer(at: index))
    case .float, .double: .double(double(at: index))
    case .binary: .bytes(bytes(at: index))
    case .integer, .decimal, .string, .date, .time, .dateTime, .list, .complex:
      .text(text(at: index))
    }
  }
}
