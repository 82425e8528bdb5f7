import FerryJSON
import FerryModel
import FerrySQLite

/// Why an object is on a device, or why it is not.
package struct DeviceWhy {
  package let entity: String
  package let key: String
  /// The values under their names, as JSON; nil when the object is not visible.
  package let values: String?
  package let pending: String?
  package let partition: Int64?
  package let operations: [DeviceInspection.OperationView]
  package let logRecords: [String]
  /// What somebody may have meant where it is not there: keys, or names of entities.
  package let similar: [String]
  /// One sentence that says it.
  package let verdict: String

  init(_ connection: Connection, _ entity: String, _ key: String) throws(SQLiteError) {
    self.entity = entity
    let columns = try DeviceWhy.keyColumns(connection, entity)
    let candidates = DeviceWhy.keys(key, count: columns.count)
    var found: (object: Int64, row: [SQLiteValue], names: [String])?
    for values in candidates where found == nil && !columns.isEmpty {
      let test = columns.map { "\(quoted($0)) = ?" }.joined(separator: " AND ")
      let statement = try connection.statement("SELECT * FROM \(quoted(entity)) WHERE \(test)")
      defer { statement.reset() }
      try statement.bind(values)
      guard try statement.step() else { continue }
      let names = (0..<statement.columnCount).map { statement.columnName(at: $0) }
      found = (statement.integer(at: 0), statement.row, names)
    }
    let texts = candidates.map { ObjectKey($0.map(DeviceWhy.value)).text }
    self.key = texts.first ?? key
    var operations: [DeviceInspection.OperationView] = []
    for text in texts {
      operations += try DeviceInspection.operations(
        connection, "WHERE entity = ? AND key = ?", .text(entity), .text(text))
    }
    self.operations = operations
    let object = found?.object ?? -1
    logRecords = try connection.rows(
      "SELECT record FROM ferry_log_record WHERE entity = ? AND object = ? ORDER BY number",
      .text(entity), .integer(object)
    ).compactMap { $0[0].text }
    guard let found else {
      values = nil
      pending = nil
      partition = nil
      let mistake =
        operations.isEmpty ? try DeviceWhy.mistyped(connection, entity, columns, key) : nil
      if let mistake {
        verdict = mistake
      } else {
        verdict = try DeviceWhy.absence(connection, entity, columns, operations)
      }
      similar =
        operations.isEmpty ? try DeviceWhy.similar(connection, entity, columns, key) : []
      return
    }
    similar = []
    let named = Dictionary(zip(found.names, found.row)) { first, _ in first }
    values = DeviceWhy.json(found.names, found.row)
    let letter = named["_pending"]?.text ?? "N"
    pending = letter
    partition = named["_partition"]?.integer
    verdict =
      letter == "N"
      ? "It is here as the server sent it, in partition \(named["_partition"]?.integer ?? 0)."
      : named["_failed"]?.integer == 1
        ? "It is here with a change that the business system refused; see the log records."
        : "It is here with a change that waits; see the operations."
  }

  private static func absence(
    _ connection: Connection, _ entity: String, _ columns: [String],
    _ operations: [DeviceInspection.OperationView]
  ) throws(SQLiteError) -> String {
    if columns.isEmpty {
      return "The package of this device has no entity \(entity); names are case-sensitive."
    }
    if operations.contains(where: { $0.kind == "delete" }) {
      return "It is not visible because its delete is pending."
    }
    let imported = try connection.value(
      "SELECT count(*) FROM ferry_checkpoint WHERE era IS NOT NULL")
    if imported?.integer == 0 { return "Nothing was imported yet." }
    return
      "It is not on this device: no partition of the device has it. Ask the server with --data."
  }

  /// What was typed can be no key of the entity.
  private static func mistyped(
    _ connection: Connection, _ entity: String, _ columns: [String], _ key: String
  ) throws(SQLiteError) -> String? {
    guard !columns.isEmpty else { return nil }
    let parts = (try? JSONNode.parse(Array("[\(key)]".utf8)))?.array
    guard columns.count == 1 || parts?.count == columns.count else {
      let names = columns.joined(separator: ", ")
      return "The key of \(entity) is \(names): write the values with commas, texts in quotes."
    }
    for (place, column) in columns.enumerated() {
      let type = try connection.value(
        "SELECT type FROM pragma_table_info(?) WHERE name = ?", .text(entity), .text(column))
      guard type?.text?.uppercased() == "INTEGER", parts?[place].integer == nil else { continue }
      return "\(key) is not a key of \(entity): \(column) is a number."
    }
    return nil
  }

  private static func keyColumns(
    _ connection: Connection, _ entity: String
  ) throws(SQLiteError)
    -> [String]
  {
    let index = try connection.rows(
      "SELECT name FROM pragma_index_list(?) WHERE origin = 'u' LIMIT 1", .text(entity))
    guard let name = index.first?[0].text else { return [] }
    return try connection.rows("SELECT name FROM pragma_index_info(?) ORDER BY seqno", .text(name))
      .compactMap { $0[0].text }
  }

  /// What the typed text may mean: canonical JSON values, or the bare text of a text key.
  private static func keys(_ text: String, count: Int) -> [[SQLiteValue]] {
    var keys: [[SQLiteValue]] = []
    if let node = try? JSONNode.parse(Array("[\(text)]".utf8)), let array = node.array,
      array.count == count
    {
      keys.append(
        array.map { node in
          if let number = node.integer { return .integer(number) }
          return .optional(node.string)
        })
    }
    if count == 1 { keys.append([.text(text)]) }
    return keys
  }

  static func value(_ stored: SQLiteValue) -> AttributeValue {
    switch stored {
    case .integer(let number): .integer(number)
    case .text(let text): .text(text)
    case .real(let number): .double(number)
    case .blob(let bytes): .bytes(bytes)
    case .null: .null
    }
  }

  private static func json(_ names: [String], _ row: [SQLiteValue]) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    for (name, stored) in zip(names, row) where !name.hasPrefix("_") {
      writer.key(name)
      writer.value(value(stored))
    }
    writer.endObject()
    return writer.text
  }
}
