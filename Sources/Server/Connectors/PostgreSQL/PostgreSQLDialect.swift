import FerryConnector
import FerryModel
import FerryPostgreSQL

/// Why an operation did not go through.
enum Interruption: SQLInterruption {
  /// The business said no.
  case refused(Refusal)
  /// The server could not do it now.
  case failed(ConnectorError)
  /// The database answered with an error; what it means is decided by its code.
  case database(PostgreSQLError)
}

/// The statements of one operation in PostgreSQL.
struct PostgreSQLDialect: SQLDialect {
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

  func row(of key: ObjectKey, for kind: OperationKind) throws(Interruption) -> [String?]? {
    guard let question = table.locking(key, for: kind) else { return nil }
    let rows = try change(question)
    return rows.count > 0 ? rows.row(0) : nil
  }

  func value(at position: Int, of row: [String?]) -> AttributeValue? {
    table.columns[position].value(row[position])
  }

  func shown(at position: Int, of row: [String?]) -> String { row[position] ?? "null" }

  func fitting(
    _ entity: Entity, _ positions: [Int], _ values: [AttributeValue], isLocked: Bool
  ) throws(ConnectorError) -> [AttributeValue]? {
    try tables.table(of: entity).fitting(positions, values, isLocked: isLocked, connection)
  }

  func insert(_ values: [Int: AttributeValue]) throws(Interruption) -> ObjectKey? {
    let returned = try change(inserting(values))
    return returned.count == 1 ? try key(of: returned) : nil
  }

  /// Gives the key of the new row.
  func inserting(
    _ values: [Int: AttributeValue]
  ) throws(Interruption) -> PostgreSQLConnection.Request {
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
    return PostgreSQLConnection.Request(
      "\(target) \(filled) RETURNING \(table.selectedKey(from: "t").joined(separator: ", "))",
      parameters)
  }

  /// The key of the row that an INSERT has answered.
  func key(of returned: PostgreSQLRows) throws(Interruption) -> ObjectKey {
    if let key = table.key(of: returned.row(0)) { return key }
    let shown = returned.row(0).map { $0 ?? "null" }.joined(separator: ", ")
    throw .refused(.unfitKey(shown, of: operation.entity))
  }

  func update(_ key: ObjectKey, _ changed: [Int: AttributeValue]) throws(Interruption) -> Bool {
    try change(updating(key, changed)).affected == 1
  }

  func updating(
    _ key: ObjectKey, _ changed: [Int: AttributeValue]
  ) throws(Interruption) -> PostgreSQLConnection.Request {
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
    return PostgreSQLConnection.Request(sql, parameters)
  }

  func delete(_ key: ObjectKey) throws(Interruption) -> Bool {
    try change(deleting(key)).affected == 1
  }

  func deleting(_ key: ObjectKey) -> PostgreSQLConnection.Request {
    PostgreSQLConnection.Request(
      "DELETE FROM \(table.schema.name.quoted) AS t\(table.whereKey)",
      table.parameters(of: key) ?? [])
  }

  private func parameter(
    _ value: AttributeValue, _ position: Int
  ) throws(Interruption) -> PostgreSQLValue {
    let attribute = operation.entity.attributes[position]
    if attribute.type.isBig, !value.isNull { return try content(attribute, position) }
    if let parameter = table.columns[position].parameter(value) { return parameter }
    throw .refused(
      .inexact(value, attribute, declaredType: table.columns[position].column.declaredType))
  }

  /// PostgreSQL takes a value only whole.
  private func content(
    _ attribute: Attribute, _ position: Int
  ) throws(Interruption) -> PostgreSQLValue {
    guard let content = operation.contents[position] else {
      throw .failed(.noContent(of: attribute))
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

  private func change(
    _ request: PostgreSQLConnection.Request
  ) throws(Interruption) -> PostgreSQLRows {
    do { return try connection.rows(request.sql, request.parameters) } catch {
      throw .database(error)
    }
  }
}

extension EntityTable {
  /// Asks for a row, locked as the change needs it; nil where no row can have the key. A change of the
  /// key needs the stronger lock, which others' new references wait for; an update changes none.
  func locking(_ key: ObjectKey, for kind: OperationKind) -> PostgreSQLConnection.Request? {
    let lock =
      switch kind {
      case .create: ""
      case .update: " FOR NO KEY UPDATE"
      case .delete: " FOR UPDATE"
      }
    return parameters(of: key).map { PostgreSQLConnection.Request(select + whereKey + lock, $0) }
  }
}
