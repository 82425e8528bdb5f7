import FerryModel
import FerrySQLite

/// How an entity's rows are read from and written to its two tables.
///
/// The texts are put together once; see `Store.rows(of:)`.
package final class Rows: Sendable {
  package let entity: Entity
  let selectVisible: String
  /// How many of the attributes are downloaded.
  private let servedCount: Int
  /// Apart from the attributes: a row of many is read without touching their names.
  private let types: [AttributeType]
  /// Attributes that are in no index of the entity's table.
  private let loose: [Int]
  private let texts: RowTexts

  package init(_ entity: Entity) {
    self.entity = entity
    types = entity.attributes.map(\.type)
    servedCount = entity.isClientOnly ? 0 : entity.servedCount
    let names = entity.attributes.map { quoted($0.name) }
    let keyTest = entity.key.map { "\(names[$0]) = ?" }.joined(separator: " AND ")
    let indexed = Set(entity.relationships.flatMap(\.attributes))
    loose = names.indices.filter {
      !entity.key.contains($0) && !indexed.contains(entity.attributes[$0].name)
    }
    selectVisible = "SELECT \(Rows.visibleColumns(of: entity)) FROM \(Schema.table(entity))"
    texts = RowTexts(
      entity, names, visible: selectVisible, keyTest: keyTest, loose: loose,
      servedCount: servedCount)
  }

  /// Columns of a visible row, to be read by `visibleRow`.
  package static func visibleColumns(of entity: Entity) -> String {
    let columns = entity.attributes.map { quoted($0.name) }.joined(separator: ", ")
    return "_id, \(pendingColumn(entity)), _failed, _replay, \(columns)"
  }

  // The visible rows.

  /// The owner of a composite graph is pending with what is pending below it.
  private static func pendingColumn(_ entity: Entity) -> String {
    pendingLetter(of: entity, place: "")
  }

  /// SQL for how a row is pending; `place` is the row's alias with a point, or nothing.
  package static func pendingLetter(of entity: Entity, place: String) -> String {
    guard entity.ownsChildren else { return "\(place)_pending" }
    var below = """
      EXISTS (SELECT 1 FROM ferry_operation WHERE root_entity = '\(entity.name)'
        AND root_object = \(place)_id AND state <> 'withdrawn')
      """
    if entity.owner != nil {
      // Between the top of a graph and a part: what passes through it is noted.
      below += """
         OR EXISTS (SELECT 1 FROM ferry_owner JOIN ferry_operation USING (sequence)
          WHERE ferry_owner.entity = '\(entity.name)' AND ferry_owner.object = \(place)_id
            AND state <> 'withdrawn')
        """
    }
    return "CASE WHEN \(place)_pending = 'N' AND (\(below)) THEN 'P' ELSE \(place)_pending END"
  }

  /// The row that the statement stands at, if it began with `visibleColumns`.
  package func visibleRow(_ statement: Statement) -> VisibleRow {
    VisibleRow(
      object: statement.integer(at: 0), pending: PendingChange(statement.column(at: 1)),
      failed: statement.integer(at: 2) != 0, replay: ReplayState(statement.column(at: 3)),
      values: values(statement, from: Rows.firstValue))
  }

  /// Where the attributes begin among the columns of a visible row.
  static let firstValue: Int = 4

  /// An attribute of a visible row.
  func value(at position: Int, of row: StoredRow) -> AttributeValue {
    row.value(at: Rows.firstValue + position, as: types[position])
  }

  /// All attributes of a visible row.
  func values(of row: StoredRow) -> [AttributeValue] {
    types.indices.map { value(at: $0, of: row) }
  }

  package func visible(_ connection: Connection, object: Int64) throws(SQLiteError) -> VisibleRow? {
    let statement = try connection.statement(texts.visibleByObject)
    defer { statement.reset() }
    try statement.bind(object, at: 0)
    return try statement.step() ? visibleRow(statement) : nil
  }

  package func visible(_ connection: Connection, key: ObjectKey) throws(SQLiteError) -> VisibleRow?
  {
    guard let values = key.values(of: entity) else { return nil }
    return try visible(connection, key: values)
  }

  package func visible(
    _ connection: Connection, key: [AttributeValue]
  ) throws(SQLiteError) -> VisibleRow? {
    let statement = try connection.statement(texts.visibleByKey)
    defer { statement.reset() }
    try statement.bind(key)
    return try statement.step() ? visibleRow(statement) : nil
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

  /// Nil where the key is there already.
  package func insertVisible(
    _ connection: Connection, object: Int64?, values: [AttributeValue], pending: PendingChange,
    replay: ReplayState
  ) throws(SQLiteError) -> Int64? {
    let statement = try connection.statement(texts.insertVisible)
    defer { statement.reset() }
    try statement.bind(.optional(object), at: 0)
    try statement.bind(.text(pending.rawValue), at: 1)
    try statement.bind(.text(replay.text), at: 2)
    try statement.bind(values, from: 3)
    _ = try statement.step()
    return connection.changes == 1 ? connection.lastInsertRowID : nil
  }

  /// Writes a pending object. `known` is what its row held: an index whose attributes stay as they
  /// are is not touched.
  package func updateVisible(
    _ connection: Connection, object: Int64, values: [AttributeValue], pending: PendingChange,
    failed: Bool, replay: ReplayState, known: [AttributeValue]
  ) throws(SQLiteError) {
    let staysInPlace =
      !loose.isEmpty
      && values.indices.allSatisfy { values[$0] == known[$0] || loose.contains($0) }
    let statement = try connection.statement(
      staysInPlace ? texts.updateLoose : texts.updateVisible)
    defer { statement.reset() }
    try statement.bind(.text(pending.rawValue), at: 0)
    try statement.bind(.flag(failed), at: 1)
    try statement.bind(.text(replay.text), at: 2)
    if staysInPlace {
      for (index, position) in loose.enumerated() {
        try statement.bind(value: values[position], at: 3 + index)
      }
      try statement.bind(object, at: 3 + loose.count)
    } else {
      try statement.bind(values, from: 3)
      try statement.bind(object, at: 3 + values.count)
    }
    _ = try statement.step()
  }

  package func deleteVisible(_ connection: Connection, object: Int64) throws(SQLiteError) {
    try connection.run(texts.deleteVisible, .integer(object))
  }

  // The last downloaded images of pending objects.

  package func original(_ connection: Connection, object: Int64) throws(SQLiteError) -> OriginalRow?
  {
    let statement = try connection.statement(texts.originalByObject)
    defer { statement.reset() }
    try statement.bind(object, at: 0)
    return try original(statement)
  }

  package func original(
    _ connection: Connection, key: ObjectKey
  ) throws(SQLiteError) -> OriginalRow? {
    guard let values = key.values(of: entity) else { return nil }
    return try original(connection, key: values)
  }

  package func original(
    _ connection: Connection, key: [AttributeValue]
  ) throws(SQLiteError) -> OriginalRow? {
    let statement = try connection.statement(texts.originalByKey)
    defer { statement.reset() }
    try statement.bind(key)
    return try original(statement)
  }

  private func original(_ statement: Statement) throws(SQLiteError) -> OriginalRow? {
    guard try statement.step() else { return nil }
    return OriginalRow(
      object: statement.integer(at: 0), partition: statement.integer(at: 1),
      hash: statement.integer(at: 2), values: values(statement, from: 3))
  }

  /// Columns that are not downloaded keep what they have: an image under a pending delete is the
  /// only place that has them.
  package func putOriginal(_ connection: Connection, _ row: OriginalRow) throws(SQLiteError) {
    let update = try connection.statement(texts.updateOriginal)
    defer { update.reset() }
    try update.bind(row.partition, at: 0)
    try update.bind(row.hash, at: 1)
    try update.bind(row.values, from: 2)
    try update.bind(row.object, at: 2 + row.values.count)
    _ = try update.step()
    guard connection.changes == 0 else { return }
    let statement = try connection.statement(texts.putOriginal)
    defer { statement.reset() }
    try statement.bind(row.object, at: 0)
    try statement.bind(row.partition, at: 1)
    try statement.bind(row.hash, at: 2)
    try statement.bind(row.values, from: 3)
    _ = try statement.step()
  }

  package func deleteOriginal(_ connection: Connection, object: Int64) throws(SQLiteError) {
    try connection.run(texts.deleteOriginal, .integer(object))
  }

  /// Keeps the downloaded image of a visible object that is about to become pending; false where it
  /// has none, or it is kept already.
  package func keepOriginal(_ connection: Connection, object: Int64) throws(SQLiteError) -> Bool {
    let statement = try connection.statement(texts.keepOriginal)
    defer { statement.reset() }
    try statement.bind(object, at: 0)
    _ = try statement.step()
    return connection.changes == 1
  }

  /// The image of a visible object that is about to be hidden takes what only the device has.
  package func keepClientOnly(_ connection: Connection, object: Int64) throws(SQLiteError) {
    guard servedCount < types.count else { return }
    try connection.run(texts.keepClientOnly, .integer(object))
  }

  // The downloaded images that are visible as they are.

  package func insertDownloaded(
    _ connection: Connection, object: Int64?, values: [AttributeValue], partition: Int64,
    hash: Int64
  ) throws(SQLiteError) -> Bool {
    let statement = try connection.statement(texts.insertDownloaded)
    defer { statement.reset() }
    try statement.bind(.optional(object), at: 0)
    try statement.bind(partition, at: 1)
    try statement.bind(hash, at: 2)
    try statement.bind(values, from: 3)
    _ = try statement.step()
    return connection.changes == 1
  }

  /// Inserts a downloaded row, bound as partition, hash and values, where none has its key.
  package var insertNew: String { texts.insertNew }

  /// Inserts `newBatchRows` downloaded rows, each bound like one of `insertNew`, or none where one of
  /// their keys is there.
  package var insertNewBatch: String { texts.insertNewBatch }
  package var newBatchRows: Int { RowTexts.batchRows(types.count) }

  package func updateDownloaded(
    _ connection: Connection, object: Int64, values: [AttributeValue], partition: Int64, hash: Int64
  ) throws(SQLiteError) {
    let statement = try connection.statement(texts.updateDownloaded)
    defer { statement.reset() }
    try statement.bind(partition, at: 0)
    try statement.bind(hash, at: 1)
    try statement.bind(values.prefix(servedCount), from: 2)
    try statement.bind(object, at: 2 + servedCount)
    _ = try statement.step()
  }

  // What stays on the device.

  /// Writes the attributes that stay on the device, whatever is pending of the others.
  package func updateClientOnly(
    _ connection: Connection, object: Int64, values: [AttributeValue]
  ) throws(SQLiteError) {
    try connection.run(
      texts.updateClientOnly,
      values.dropFirst(servedCount).map(\.stored) + [.integer(object)])
  }

  /// A row of an entity that stays on the device.
  package func insertClientOnly(
    _ connection: Connection, values: [AttributeValue]
  ) throws(SQLiteError) -> Int64 {
    try connection.run(texts.insertClientOnly, values.map(\.stored))
    return connection.lastInsertRowID
  }

  /// Object, partition and hash of the visible row with this key; the last two are nil while it is
  /// pending.
  package func downloaded(
    _ connection: Connection, key: [AttributeValue]
  ) throws(SQLiteError) -> (object: Int64, partition: Int64?, hash: Int64?)? {
    let statement = try connection.statement(texts.downloaded)
    defer { statement.reset() }
    try statement.bind(key)
    guard try statement.step() else { return nil }
    return (
      statement.integer(at: 0), statement.isNull(at: 1) ? nil : statement.integer(at: 1),
      statement.isNull(at: 2) ? nil : statement.integer(at: 2)
    )
  }

  private func values(_ statement: Statement, from first: Int) -> [AttributeValue] {
    [AttributeValue](unsafeUninitializedCapacity: types.count) { values, count in
      for index in types.indices {
        values.initializeElement(
          at: index, to: statement.stored(at: first + index, as: types[index]))
      }
      count = types.count
    }
  }
}

extension Store {
  /// How this entity's rows are read and written.
  package func rows(of entity: Entity) -> Rows {
    tables.withLock { tables in
      if let known = tables[ObjectIdentifier(entity)] { return known }
      let made = Rows(entity)
      tables[ObjectIdentifier(entity)] = made
      return made
    }
  }
}

/// The test that these columns have the values that are bound.
package func matching(_ names: [String]) -> String {
  names.map { "\(quoted($0)) = ?" }.joined(separator: " AND ")
}

/// A row as the app sees it.
package struct VisibleRow: Equatable {
  package var object: Int64
  package var pending: PendingChange
  package var failed: Bool
  package var replay: ReplayState
  package var values: [AttributeValue]
}

/// The last downloaded image of a pending object.
package struct OriginalRow: Equatable {
  package var object: Int64
  package var partition: Int64
  package var hash: Int64
  package var values: [AttributeValue]
}
