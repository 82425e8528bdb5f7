import FerryConnector
import FerryMariaDB
import FerryModel

/// Why an operation did not go through.
enum Interruption: SQLInterruption {
  /// The business said no.
  case refused(Refusal)
  /// The server could not do it now.
  case failed(ConnectorError)
  /// The database answered with an error; what it means is decided by its number.
  case database(MariaDBError)
}

/// The statements of one operation in MariaDB.
struct MariaDBDialect: SQLDialect {
  let operation: ConnectorOperation
  let table: EntityTable
  let tables: SQLTables<EntityTable, String>
  let connection: MariaDBConnection

  func row(of key: ObjectKey, for kind: OperationKind) throws(Interruption) -> [String?]? {
    do {
      return try table.texts(of: key, lock: kind == .create ? "" : " FOR UPDATE", connection)
    } catch { throw .database(error) }
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
    let positions = values.keys.sorted()
    var literals: [String] = []
    for position in positions {
      literals.append(try literal(values[position] ?? .null, position))
    }
    let names = positions.map { quotedName(table.columns[$0].column.name) }
    let insert =
      "INSERT INTO \(quotedName(table.schema.name)) (\(names.joined(separator: ", "))) "
      + "VALUES (\(literals.joined(separator: ", ")))"
    guard connection.isMariaDB else {
      guard try change(insert).affected == 1 else { return nil }
      return try key(ofInserted: values, counted: connection.insertedID)
    }
    // As the row has it: a default or a trigger may have made it.
    let returned = try change("\(insert) RETURNING \(table.selectedKey)")
    guard let texts = returned.texts.first else { return nil }
    if let key = table.key(ofParts: texts) { return key }
    let shown = texts.map { $0 ?? "null" }.joined(separator: ", ")
    throw .refused(.unfitKey(shown, of: operation.entity))
  }

  /// MySQL does not return what it wrote: the key is what was given, or the number that it counted.
  private func key(
    ofInserted values: [Int: AttributeValue], counted: UInt64
  ) throws(Interruption) -> ObjectKey {
    let texts = ["\(counted)"]
    if operation.entity.key.allSatisfy({ values[$0]?.isNull == false }) {
      return ObjectKey(operation.entity.key.map { values[$0] ?? .null })
    }
    guard operation.entity.key.count == 1, counted > 0, let key = table.key(ofParts: texts) else {
      throw .refused(.unfitKey("that is not a counted number", of: operation.entity))
    }
    return key
  }

  func update(_ key: ObjectKey, _ changed: [Int: AttributeValue]) throws(Interruption) -> Bool {
    var assignments: [String] = []
    for position in changed.keys.sorted() {
      let value = try literal(changed[position] ?? .null, position)
      assignments.append("\(table.name(position)) = \(value)")
    }
    return try change(
      "UPDATE \(quotedName(table.schema.name)) AS t SET \(assignments.joined(separator: ", "))"
        + (table.whereKey(key) ?? " WHERE FALSE")
    ).affected == 1
  }

  func delete(_ key: ObjectKey) throws(Interruption) -> Bool {
    try change(
      "DELETE FROM t USING \(quotedName(table.schema.name)) AS t"
        + (table.whereKey(key) ?? " WHERE FALSE")
    ).affected == 1
  }

  private func literal(_ value: AttributeValue, _ position: Int) throws(Interruption) -> String {
    let attribute = operation.entity.attributes[position]
    if attribute.type.isBig, !value.isNull { return try content(attribute, position) }
    if let literal = table.columns[position].literal(value) { return literal }
    throw .refused(
      .inexact(value, attribute, declaredType: table.columns[position].column.declaredType))
  }

  /// MariaDB takes a value only whole, and in one packet.
  private func content(_ attribute: Attribute, _ position: Int) throws(Interruption) -> String {
    guard let content = operation.contents[position] else {
      throw .failed(.noContent(of: attribute))
    }
    let bytes: [UInt8]
    do { bytes = try content.whole() } catch { throw .failed(error) }
    guard attribute.type == .bigString else { return quotedBytes(bytes) }
    var check = TextCheck()
    bytes.withUnsafeBytes { check.take($0) }
    if let wrong = check.finish() { throw .refused(.wrongText(attribute, at: wrong)) }
    return "_utf8mb4 \(quotedBytes(bytes))"
  }

  private func change(_ sql: String) throws(Interruption) -> MariaDBRows {
    do { return try connection.rows(sql) } catch { throw .database(error) }
  }
}
