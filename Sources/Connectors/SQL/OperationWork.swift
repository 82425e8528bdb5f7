import FerryConnector
import FerryModel
import FerrySQLite

/// One operation inside the transaction of its group.
struct OperationWork {
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

  /// The key of the object afterwards. The row is judged before and after (`RowJudge`).
  func perform() throws(Interruption) -> Key {
    switch operation.kind {
    case .create: return try judged(create())
    case .update: return try judged(update())
    case .delete: return try delete()
    }
  }

  /// As the statement and its triggers left the row.
  private func judged(_ key: Key) throws(Interruption) -> Key {
    guard operation.judge != nil, let values = key.values(of: operation.entity) else { return key }
    let row: [Value]?
    do { row = try table.fitting(operation.entity.key, values, connection) } catch {
      throw .failed(error)
    }
    if let row { try judge(row) }
    return key
  }

  private func judge(_ row: [Value]) throws(Interruption) {
    guard let judge = operation.judge else { return }
    let refusal: Refusal?
    do throws(ConnectorError) {
      refusal = try judge.refusal(of: row, in: operation.entity) {
        entity, positions, values throws(ConnectorError) in
        try tables.table(of: entity).fitting(positions, values, connection)
      }
    } catch {
      throw .failed(error)
    }
    if let refusal { throw .refused(refusal) }
  }

  /// Before the statement, whose foreign keys would tell which objects exist.
  private func judge(references changed: [Int: Value], before: [Value]?) throws(Interruption) {
    guard let judge = operation.judge else { return }
    let refusal: Refusal?
    do throws(ConnectorError) {
      refusal = try judge.refusal(ofReferences: changed, before: before, in: operation.entity) {
        entity, positions, values throws(ConnectorError) in
        try tables.table(of: entity).fitting(positions, values, connection)
      }
    } catch {
      throw .failed(error)
    }
    if let refusal { throw .refused(refusal) }
  }

  private func create() throws(Interruption) -> Key {
    var values = operation.changed
    if let key = operation.key {
      guard let parts = key.values(of: operation.entity) else { throw noKey(key) }
      for (position, value) in zip(operation.entity.key, parts) { values[position] = value }
      try judge(references: values, before: nil)
      if try row(of: key) != nil { throw exists(key) }
    } else {
      if operation.entity.key.count == 1 { values[operation.entity.key[0]] = nil }
      try judge(references: values, before: nil)
    }
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
    guard connection.changes == 1 else { throw ignored() }
    let row = connection.lastInsertRowID
    guard let key = try key(after: given.first) else { throw ignored() }
    if table.big.writes(operation.contents) {
      try table.big.write(operation.contents, row: row, connection)
    }
    return key
  }

  /// A trigger may have changed the key after RETURNING saw it; the row id finds the row all the
  /// same.
  private func key(after returned: [SQLiteValue]?) throws(Interruption) -> Key? {
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
    throw .refused(
      Refusal(
        code: 422,
        message: "A new \(operation.entity.name) would have the key \(shown), "
          + "which does not fit the model."))
  }

  private func update() throws(Interruption) -> Key {
    let (key, row) = try existing()
    if operation.judge != nil {
      try judge(references: operation.changed, before: table.fitting(row))
    }
    try checkBase(row)
    var changed = operation.changed
    for position in operation.entity.key {
      guard let value = changed[position] else { continue }
      guard table.columns[position].value(row[position]) == value else {
        throw .refused(
          Refusal(
            code: 422, message: "The key of \(operation.entity.name) \(key) cannot be changed.",
            attribute: operation.entity.attributes[position].name))
      }
      changed[position] = nil
    }
    guard !changed.isEmpty else { return key }
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
    guard connection.changes == 1 else { throw ignored() }
    if let rowID = table.big.rowID, table.big.writes(operation.contents) {
      let found = try asked(
        "SELECT \(rowID) FROM \(table.quotedName)\(table.whereKey)",
        table.parameters(of: key) ?? [])
      guard let row = found.first?[0].integer else { throw ignored() }
      try table.big.write(operation.contents, row: row, connection)
    }
    return key
  }

  private func delete() throws(Interruption) -> Key {
    let (key, row) = try existing()
    try checkBase(row)
    let sql = "DELETE FROM \(table.quotedName)\(table.whereKey)"
    _ = try change(sql, (table.parameters(of: key) ?? []).map(Parameter.value))
    guard connection.changes == 1 else { throw ignored() }
    return key
  }

  private func existing() throws(Interruption) -> (Key, [SQLiteValue]) {
    guard let key = operation.key else {
      throw .refused(Refusal(code: 422, message: "The change does not say which object it means."))
    }
    guard key.values(of: operation.entity) != nil else { throw noKey(key) }
    guard let row = try row(of: key) else {
      throw .refused(
        Refusal(
          code: 404, message: "\(operation.entity.name) \(key) is not in the business system."))
    }
    // Before anything of it is compared: a refusal for another base tells what the row has.
    try judge(table.fitting(row))
    return (key, row)
  }

  private func checkBase(_ row: [SQLiteValue]) throws(Interruption) {
    for (position, based) in operation.base.sorted(by: { $0.key < $1.key }) {
      let current = table.columns[position].value(row[position])
      guard current != based else { continue }
      let name = operation.entity.attributes[position].name
      let shown = current?.shown ?? row[position].shown
      throw .refused(
        Refusal(
          code: 412,
          message: "\(name) was changed meanwhile: this change was based on \(based.shown), "
            + "the business system has \(shown).",
          attribute: name, baseValue: based, currentValue: current ?? .text(shown)))
    }
  }

  /// What stands for a value in the statement, and its parameter.
  private func written(
    _ value: Value, _ position: Int
  ) throws(Interruption) -> (mark: String, parameter: Parameter) {
    let attribute = operation.entity.attributes[position]
    guard attribute.type.isBig, !value.isNull else {
      return ("?", .value(try raw(value, position)))
    }
    guard let content = operation.contents[position] else {
      throw .failed(
        ConnectorError(
          "The content of \(attribute.name) is not there", hint: "It is tried again.",
          isTransient: true))
    }
    return try table.big.placeholder(attribute, position, content)
  }

  private func raw(_ value: Value, _ position: Int) throws(Interruption) -> SQLiteValue {
    if let raw = table.columns[position].raw(value) { return raw }
    let attribute = operation.entity.attributes[position]
    let column = table.schema.column(named: attribute.column)?.declaredType ?? ""
    throw .refused(
      Refusal(
        code: 422,
        message: "\(attribute.name) \(value.shown) cannot be kept exactly: "
          + "the column \(attribute.column) is \(column.isEmpty ? "without a type" : column).",
        attribute: attribute.name))
  }

  private func row(of key: Key) throws(Interruption) -> [SQLiteValue]? {
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

  private func noKey(_ key: Key) -> Interruption {
    .refused(Refusal(code: 422, message: "\(key) is no key of \(operation.entity.name)."))
  }

  private func exists(_ key: Key) -> Interruption {
    .refused(
      Refusal(
        code: 412, message: "There is a \(operation.entity.name) with the key \(key) already.",
        attribute: operation.entity.attributes[operation.entity.key[0]].name))
  }

  private func ignored() -> Interruption {
    .refused(
      Refusal(
        code: 412,
        message: "A rule of the business database ignored the change of \(operation.entity.name)."))
  }
}
