import FerryConnector
import FerryModel
import FerrySQLite

/// The statements of one operation in SQLite.
struct SQLiteDialect: SQLDialect {
  private let operation: ConnectorOperation
  private let table: EntityTable
  private let tables: EntityTables
  private let connection: Connection

  init(
    _ operation: ConnectorOperation, _ table: EntityTable, _ tables: EntityTables,
    _ connection: Connection
  ) {
    self.operation = operation
    self.table = table
    self.tables = tables
    self.connection = connection
  }

  func value(at position: Int, of row: [SQLiteValue]) -> AttributeValue? {
    table.columns[position].value(row[position])
  }

  func shown(at position: Int, of row: [SQLiteValue]) -> String { row[position].shown }

  /// A transaction that writes keeps every other writer away, so nothing needs a lock.
  func fitting(
    _ entity: Entity, _ positions: [Int], _ values: [AttributeValue], isLocked: Bool
  ) throws(ConnectorError) -> [AttributeValue]? {
    try tables.table(of: entity).fitting(positions, values, connection)
  }

  func insert(_ values: [Int: AttributeValue]) throws(Interruption) -> ObjectKey? {
    let positions = values.keys.sorted()
    var parameters: [Parameter] = []
    var places: [String] = []
    for position in positions {
      let (mark, parameter) = try written(values[position] ?? .null, position)
      places.append(mark)
      parameters.append(parameter)
    }
    let names = positions.map { table.quotedColumns[$0] }
    let target = "INSERT INTO \(table.quotedName)"
    let marks = places.joined(separator: ", ")
    let returning = operation.entity.key.map { table.quotedColumns[$0] }
    let sql =
      (names.isEmpty
        ? "\(target) DEFAULT VALUES"
        : "\(target) (\(names.joined(separator: ", "))) VALUES (\(marks))")
      + " RETURNING \(returning.joined(separator: ", "))"
    let given = try change(sql, parameters)
    guard connection.changes == 1 else { return nil }
    let row = connection.lastInsertRowID
    guard let key = try key(after: given.first) else { return nil }
    if table.big.writes(operation.contents) {
      try table.big.write(operation.contents, row: row, connection)
    }
    return key
  }

  /// A trigger may have changed the key after RETURNING saw it; the row id finds the row all the
  /// same.
  private func key(after returned: [SQLiteValue]?) throws(Interruption) -> ObjectKey? {
    var raw = returned
    if let rowID = table.schema.rowIDName, !table.schema.isKeyTheRowID {
      let names = operation.entity.key.map { table.quotedColumns[$0] }
      let sql = """
        SELECT \(names.joined(separator: ", ")) FROM \(table.quotedName) \
        WHERE \(rowID) = ?
        """
      raw = try asked(sql, [.integer(connection.lastInsertRowID)]).first
    }
    guard let raw else { return nil }
    if let key = table.key(ofRaw: raw) { return key }
    let shown = raw.map(\.shown).joined(separator: ", ")
    throw .refused(.unfitKey(shown, of: operation.entity))
  }

  func update(_ key: ObjectKey, _ changed: [Int: AttributeValue]) throws(Interruption) -> Bool {
    let positions = changed.keys.sorted()
    var parameters: [Parameter] = []
    var assignments: [String] = []
    for position in positions {
      let (mark, parameter) = try written(changed[position] ?? .null, position)
      assignments.append("\(table.quotedColumns[position]) = \(mark)")
      parameters.append(parameter)
    }
    let sql = """
      UPDATE \(table.quotedName) SET \(assignments.joined(separator: ", "))\
      \(table.whereKey)
      """
    _ = try change(sql, parameters + (table.parameters(of: key) ?? []).map(Parameter.value))
    guard connection.changes == 1 else { return false }
    if let rowID = table.big.rowID, table.big.writes(operation.contents) {
      let found = try asked(
        "SELECT \(rowID) FROM \(table.quotedName)\(table.whereKey)",
        table.parameters(of: key) ?? [])
      guard let row = found.first?[0].integer else { return false }
      try table.big.write(operation.contents, row: row, connection)
    }
    return true
  }

  func delete(_ key: ObjectKey) throws(Interruption) -> Bool {
    let sql = "DELETE FROM \(table.quotedName)\(table.whereKey)"
    _ = try change(sql, (table.parameters(of: key) ?? []).map(Parameter.value))
    return connection.changes == 1
  }

  /// What stands for a value in the statement, and its parameter.
  private func written(
    _ value: AttributeValue, _ position: Int
  ) throws(Interruption) -> (mark: String, parameter: Parameter) {
    let attribute = operation.entity.attributes[position]
    guard attribute.type.isBig, !value.isNull else {
      return ("?", .value(try raw(value, position)))
    }
    guard let content = operation.contents[position] else {
      throw .failed(.noContent(of: attribute))
    }
    return try table.big.placeholder(attribute, position, content)
  }

  private func raw(_ value: AttributeValue, _ position: Int) throws(Interruption) -> SQLiteValue {
    if let raw = table.columns[position].raw(value) { return raw }
    let attribute = operation.entity.attributes[position]
    let column = table.schema.column(named: attribute.column)?.declaredType ?? ""
    throw .refused(.inexact(value, attribute, declaredType: column))
  }

  func row(of key: ObjectKey, for kind: OperationKind) throws(Interruption) -> [SQLiteValue]? {
    do { return try table.rawRow(key, connection) } catch {
      throw .failed(ConnectorError(error, connection.path))
    }
  }

  private func asked(
    _ sql: String, _ parameters: [SQLiteValue]
  ) throws(Interruption) -> [[SQLiteValue]] {
    do { return try connection.rows(sql, parameters) } catch {
      throw .failed(ConnectorError(error, connection.path))
    }
  }

  /// Runs the statement that changes the row; what the business refuses is explained.
  private func change(
    _ sql: String, _ parameters: [Parameter]
  ) throws(Interruption) -> [[SQLiteValue]] {
    do throws(SQLiteError) {
      let statement = try connection.statement(sql)
      defer { statement.reset() }
      for (index, parameter) in parameters.enumerated() {
        switch parameter {
        case .value(let value): try statement.bind(value, at: index)
        case .large(let value, let isText): try statement.bind(value, isText: isText, at: index)
        }
      }
      var rows: [[SQLiteValue]] = []
      while try statement.step() { rows.append(statement.row) }
      return rows
    } catch {
      if error.isFull, try hasNoKeyLeft() {
        throw .refused(
          Refusal(
            code: 500,
            message: "\(operation.entity.table) has given its last key, \(Int64.max), and cannot "
              + "take a new row. The operator must lower the number in sqlite_sequence."))
      }
      if error.isBusy || error.isOfTheMachine {
        throw .failed(ConnectorError(error, connection.path))
      }
      throw .refused(Explanation(operation, table, connection).refusal(error))
    }
  }

  /// Whether the table counts its keys and has counted to the end. SQLite says "full" of that too.
  private func hasNoKeyLeft() throws(Interruption) -> Bool {
    guard operation.kind == .create, operation.key == nil else { return false }
    let counts = try asked("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'", [])
    guard !counts.isEmpty else { return false }
    let found = try asked(
      "SELECT 1 FROM sqlite_sequence WHERE name = ? AND seq = ?",
      [.text(table.schema.name), .integer(.max)])
    return !found.isEmpty
  }
}
