import FerryConnector
import FerryModel
import FerryPostgreSQL

/// Why an operation did not go through.
enum Interruption: Error {
  /// The business said no.
  case refused(Refusal)
  /// The server could not do it now.
  case failed(ConnectorError)
  /// The database answered with an error; what it means is decided by its code.
  case database(PostgreSQLError)
}

/// One operation inside the transaction of its group.
struct OperationWork {
  private let operation: ConnectorOperation
  private let table: EntityTable
  private let tables: EntityTables
  private let connection: PostgreSQLConnection

  init(
    _ operation: ConnectorOperation, _ table: EntityTable, _ tables: EntityTables,
    _ connection: PostgreSQLConnection
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
    do { row = try table.fitting(operation.entity.key, values, isLocked: false, connection) } catch
    {
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
        try tables.table(of: entity).fitting(positions, values, isLocked: true, connection)
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
        try tables.table(of: entity).fitting(positions, values, isLocked: false, connection)
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
      if try row(of: key, locked: "") != nil { throw exists(key) }
    } else {
      if operation.entity.key.count == 1 { values[operation.entity.key[0]] = nil }
      try judge(references: values, before: nil)
    }
    let positions = values.keys.sorted()
    var parameters: [PostgreSQLValue] = []
    for position in positions {
      parameters.append(try parameter(values[position] ?? .null, position))
    }
    let names = positions.map { quotedName(table.columns[$0].column.name) }
    let marks = positions.enumerated().map { table.columns[$0.element].mark($0.offset + 1) }
    let target = "INSERT INTO \(table.schema.name.quoted) AS t"
    let filled =
      names.isEmpty
      ? "DEFAULT VALUES"
      : "(\(names.joined(separator: ", "))) VALUES (\(marks.joined(separator: ", ")))"
    let returned = try change(
      "\(target) \(filled) RETURNING \(table.selectedKey(from: "t").joined(separator: ", "))",
      parameters)
    guard returned.count == 1 else { throw ignored() }
    if let key = table.key(of: returned.row(0)) { return key }
    let shown = returned.row(0).map { $0 ?? "null" }.joined(separator: ", ")
    throw .refused(
      Refusal(
        code: 422,
        message: "A new \(operation.entity.name) would have the key \(shown), "
          + "which does not fit the model."))
  }

  private func update() throws(Interruption) -> Key {
    let (key, row) = try existing(locked: " FOR NO KEY UPDATE")
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
    let keys = table.parameters(of: key) ?? []
    var parameters = keys
    var assignments: [String] = []
    for position in changed.keys.sorted() {
      parameters.append(try parameter(changed[position] ?? .null, position))
      let column = table.columns[position]
      assignments.append("\(quotedName(column.column.name)) = \(column.mark(parameters.count))")
    }
    let sql = """
      UPDATE \(table.schema.name.quoted) AS t SET \(assignments.joined(separator: ", "))\
      \(table.whereKey)
      """
    guard try change(sql, parameters).affected == 1 else { throw ignored() }
    return key
  }

  private func delete() throws(Interruption) -> Key {
    let (key, row) = try existing(locked: " FOR UPDATE")
    try checkBase(row)
    let sql = "DELETE FROM \(table.schema.name.quoted) AS t\(table.whereKey)"
    guard try change(sql, table.parameters(of: key) ?? []).affected == 1 else { throw ignored() }
    return key
  }

  private func existing(locked lock: String) throws(Interruption) -> (Key, [String?]) {
    guard let key = operation.key else {
      throw .refused(Refusal(code: 422, message: "The change does not say which object it means."))
    }
    guard key.values(of: operation.entity) != nil else { throw noKey(key) }
    guard let row = try row(of: key, locked: lock) else {
      throw .refused(
        Refusal(
          code: 404, message: "\(operation.entity.name) \(key) is not in the business system."))
    }
    // Before anything of it is compared: a refusal for another base tells what the row has.
    try judge(table.fitting(row))
    return (key, row)
  }

  private func checkBase(_ row: [String?]) throws(Interruption) {
    for (position, based) in operation.base.sorted(by: { $0.key < $1.key }) {
      let current = table.columns[position].value(row[position])
      guard current != based else { continue }
      let name = operation.entity.attributes[position].name
      let shown = current?.shown ?? row[position] ?? "null"
      throw .refused(
        Refusal(
          code: 412,
          message: "\(name) was changed meanwhile: this change was based on \(based.shown), "
            + "the business system has \(shown).",
          attribute: name, baseValue: based, currentValue: current ?? .text(shown)))
    }
  }

  private func parameter(_ value: Value, _ position: Int) throws(Interruption) -> PostgreSQLValue {
    let attribute = operation.entity.attributes[position]
    if attribute.type.isBig, !value.isNull { return try content(attribute, position) }
    if let parameter = table.columns[position].parameter(value) { return parameter }
    throw .refused(
      Refusal(
        code: 422,
        message: "\(attribute.name) \(value.shown) cannot be kept exactly: "
          + "the column \(attribute.column) is \(table.columns[position].column.declaredType).",
        attribute: attribute.name))
  }

  /// PostgreSQL takes a value only whole.
  private func content(
    _ attribute: Attribute, _ position: Int
  ) throws(Interruption) -> PostgreSQLValue {
    guard let content = operation.contents[position] else {
      throw .failed(
        ConnectorError(
          "The content of \(attribute.name) is not there", hint: "It is tried again.",
          isTransient: true))
    }
    let bytes: [UInt8]
    do { bytes = try content.whole() } catch { throw .failed(error) }
    guard attribute.type == .bigString else { return .bytes(bytes) }
    var check = TextCheck()
    bytes.withUnsafeBytes { check.take($0) }
    if let wrong = check.finish() { throw .refused(.wrongText(attribute, at: wrong)) }
    if let zero = bytes.firstIndex(of: 0) {
      throw .refused(
        Refusal(
          code: 422,
          message:
            "The content of \(attribute.name) has a zero at byte \(zero), which the business "
            + "database keeps in no text. Write the value again.", attribute: attribute.name))
    }
    // The binary form of a text is its bytes: a long one needs no copy with an end.
    return .bytes(bytes)
  }

  private func row(of key: Key, locked lock: String) throws(Interruption) -> [String?]? {
    guard let parameters = table.parameters(of: key) else { return nil }
    let rows = try change(table.select + table.whereKey + lock, parameters)
    return rows.count > 0 ? rows.row(0) : nil
  }

  private func change(
    _ sql: String, _ parameters: [PostgreSQLValue]
  ) throws(Interruption) -> PostgreSQLRows {
    do { return try connection.rows(sql, parameters) } catch { throw .database(error) }
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

/// An operation that the model states in SQL, inside the transaction of its group.
///
/// Each statement must change a row: where nothing is found to change the operation is refused, as
/// an update of a row that is gone would be.
struct StatementWork {
  private let operation: ConnectorOperation
  private let connection: PostgreSQLConnection

  init(_ operation: ConnectorOperation, _ connection: PostgreSQLConnection) {
    self.operation = operation
    self.connection = connection
  }

  /// The key of the operation itself.
  func perform() throws(Interruption) -> Key {
    guard let key = operation.key, let parts = key.values(of: operation.entity) else {
      throw .refused(
        Refusal(code: 422, message: "\(operation.entity.name) does not say which one it is."))
    }
    var values = operation.changed
    for (position, value) in zip(operation.entity.key, parts) { values[position] = value }
    for statement in operation.entity.performs ?? [] {
      let (sql, parameters) = StatementWork.numbered(statement) { name in
        operation.entity.position(of: name).flatMap { values[$0] } ?? .null
      }
      let rows: PostgreSQLRows
      do { rows = try connection.rows(sql, parameters) } catch { throw .database(error) }
      guard rows.affected > 0 else {
        throw .refused(
          Refusal(
            code: 404,
            message: "\(operation.entity.name) found nothing in the business system to change."))
      }
    }
    return key
  }

  /// The statement with `$1` for its first parameter; one that comes again has its number again.
  static func numbered(
    _ statement: String, value: (String) -> Value
  ) -> (sql: String, parameters: [PostgreSQLValue]) {
    var sql = ""
    var parameters: [PostgreSQLValue] = []
    var numbers: [String: Int] = [:]
    for part in SQLText.parts(of: statement) {
      switch part {
      case .plain(let text): sql += text
      case .parameter(let name):
        if numbers[name] == nil {
          parameters.append(parameter(value(name)))
          numbers[name] = parameters.count
        }
        sql += "$\(numbers[name] ?? 0)"
      }
    }
    return (sql, parameters)
  }

  private static func parameter(_ value: Value) -> PostgreSQLValue {
    switch value {
    case .null: .null
    case .boolean(let flag): .text(flag ? "t" : "f")
    case .integer(let number): .text(String(number))
    case .double(let number): .text(number.description)
    case .text(let text): .text(text)
    case .bytes(let bytes): .bytes(bytes)
    }
  }
}
