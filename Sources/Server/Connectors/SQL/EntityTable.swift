import FerryConnector
import FerryModel
import FerrySQLite

/// An entity bound to the table that holds its rows.
struct EntityTable: Sendable {
  let entity: Entity
  let schema: TableSchema
  /// In the order of the entity's attributes.
  let columns: [ColumnForm]
  let big: BigColumns
  /// Where the change hook finds the key, where it is not the row id itself.
  let keyPositions: [Int]
  let isKeyTheRowID: Bool
  /// As SQL takes them: the table's name, and the columns' in the order of the attributes.
  let quotedName: String
  let quotedColumns: [String]
  let select: String
  let selectByKey: String
  /// With null for each big value, which no partition rule asks for.
  private let selectSmall: String
  let whereKey: String

  init(_ entity: Entity, _ schema: TableSchema) throws(ConnectorError) {
    var columns: [ColumnForm] = []
    var positions: [Int] = []
    for attribute in entity.attributes {
      guard let column = schema.column(named: attribute.column) else {
        throw .noColumn(attribute.column, inTable: schema.name, for: entity)
      }
      columns.append(
        ColumnForm(attribute: attribute, affinity: Affinity(declaredType: column.declaredType)))
      positions.append(column.storedPosition ?? -1)
    }
    self.entity = entity
    self.schema = schema
    self.columns = columns
    keyPositions = entity.key.map { positions[$0] }
    isKeyTheRowID =
      schema.isKeyTheRowID && entity.key.count == 1
      && schema.column(named: entity.attributes[entity.key[0]].column)?.keyPlace == 1
    let big = BigColumns(entity, schema)
    self.big = big
    let names = columns.map { quoted($0.attribute.column) }
    quotedName = quoted(schema.name)
    quotedColumns = names
    let asked =
      names.enumerated().map { big.selected($0.offset, $0.element) }
      + (big.rowID.map { [$0] } ?? [])
    select = "SELECT \(asked.joined(separator: ", ")) FROM \(quotedName)"
    let small = zip(names, columns).map { $1.attribute.type.isBig ? "NULL" : $0 }
    selectSmall = "SELECT \(small.joined(separator: ", ")) FROM \(quotedName)"
    whereKey = " WHERE " + entity.key.map { "\(names[$0]) = ?" }.joined(separator: " AND ")
    selectByKey = select + whereKey
  }

  /// The raw values to look a key up with; nil when no row can have it.
  func parameters(of key: ObjectKey) -> [SQLiteValue]? {
    guard let values = key.values(of: entity), !values.contains(.null) else { return nil }
    var parameters: [SQLiteValue] = []
    for (position, value) in zip(entity.key, values) {
      guard let raw = columns[position].raw(value) else { return nil }
      parameters.append(raw)
    }
    return parameters
  }

  /// The key of raw key values; nil when they do not fit or are written in another form than
  /// this connector looks for.
  func key(ofRaw raw: [SQLiteValue]) -> ObjectKey? {
    guard raw.count == entity.key.count else { return nil }
    var values: [AttributeValue] = []
    for (position, raw) in zip(entity.key, raw) {
      guard let value = columns[position].value(raw), !value.isNull,
        columns[position].raw(value) == raw
      else { return nil }
      values.append(value)
    }
    return ObjectKey(values)
  }

  /// The row of the key as it stands in the database, by attribute.
  func rawRow(_ key: ObjectKey, _ connection: Connection) throws(SQLiteError) -> [SQLiteValue]? {
    guard let parameters = parameters(of: key) else { return nil }
    let statement = try connection.statement(selectByKey)
    defer { statement.reset() }
    try statement.bind(parameters)
    return try statement.step() ? try big.row(statement, connection) : nil
  }

  func image(_ key: ObjectKey, _ connection: Connection) throws(SQLiteError) -> RowImage {
    guard let raw = try rawRow(key, connection) else {
      return RowImage(entity: entity.name, key: key, values: nil)
    }
    return switch row(raw) {
    case .success(let values): RowImage(entity: entity.name, key: key, values: values)
    case .rejected(let row): RowImage(row, key: key)
    }
  }

  /// The values of a raw row; what does not fit the model is null.
  func fitting(_ raw: [SQLiteValue]) -> [AttributeValue] {
    zip(columns, raw).map { $0.value($1) ?? .null }
  }

  /// Without its big values: the row whose attributes at these positions have just these values; one that the database only
  /// takes for equal, by a collation, is not it.
  func fitting(
    _ positions: [Int], _ values: [AttributeValue], _ connection: Connection
  ) throws(ConnectorError) -> [AttributeValue]? {
    var parameters: [SQLiteValue] = []
    for (position, value) in zip(positions, values) {
      guard let raw = columns[position].raw(value) else { return nil }
      parameters.append(raw)
    }
    let condition = positions.map { "\(quotedColumns[$0]) = ?" }.joined(separator: " AND ")
    do throws(SQLiteError) {
      let statement = try connection.statement("\(selectSmall) WHERE \(condition)")
      defer { statement.reset() }
      try statement.bind(parameters)
      while try statement.step() {
        let row = fitting(statement.row)
        if positions.map({ row[$0] }) == values { return row }
      }
      return nil
    } catch {
      throw ConnectorError(error, connection.path)
    }
  }

  enum Row {
    case success([AttributeValue])
    case rejected(RejectedRow)
  }

  /// A raw row as the model has it, or why the model cannot take it.
  func row(_ raw: [SQLiteValue]) -> Row {
    var values: [AttributeValue] = []
    values.reserveCapacity(raw.count)
    for (position, column) in columns.enumerated() {
      guard let value = column.value(raw[position]), !value.isNull || column.attribute.isNullable
      else {
        return .rejected(
          RejectedRow(
            entity, keyValues: keyValues(raw), at: position,
            shown: raw[position].isNull ? nil : raw[position].shown, place: place(position)))
      }
      values.append(value)
    }
    for position in entity.key where columns[position].raw(values[position]) != raw[position] {
      let type = columns[position].attribute.type.rawValue
      return .rejected(
        RejectedRow(
          entity, keyValues: keyValues(raw), at: position,
          reason: "the key \(raw[position].shown) is not written as \(type)s are; "
            + "write it in the canonical form in \(place(position))"))
    }
    return .success(values)
  }

  private func keyValues(_ raw: [SQLiteValue]) -> [AttributeValue?] {
    entity.key.map { raw[$0].isNull ? nil : columns[$0].value(raw[$0]) }
  }

  private func place(_ position: Int) -> String {
    "\(schema.name).\(columns[position].attribute.column)"
  }
}

extension SQLiteValue {
  /// For messages to people.
  var shown: String {
    switch self {
    case .null: "null"
    case .integer(let number): String(number)
    case .real(let number): number.description
    case .text(let text): "\"\(text)\""
    case .blob(let bytes): "\(bytes.count) bytes"
    }
  }
}

/// The tables of a package, read again when the schema of the database changes.
struct EntityTables {
  private var all: SQLTables<EntityTable, SQLiteValue?>

  init(_ package: Package) { all = SQLTables(package) }

  /// By lower-case name of the table: what the change hook asks.
  var byTable: [String: [EntityTable]] { all.byName }

  /// To be called inside a transaction, so that the schema stays as it was found.
  mutating func refresh(_ connection: Connection) throws(SQLiteError) {
    all.refresh(try connection.value("PRAGMA schema_version")) {
      entity throws(ConnectorError) in
      let schema: TableSchema?
      do throws(SQLiteError) { schema = try TableSchema(entity.table, in: connection) } catch {
        throw ConnectorError(error, connection.path)
      }
      guard let schema else { return nil }
      return (schema.name.lowercased(), try EntityTable(entity, schema))
    }
  }

  func table(of entity: Entity) throws(ConnectorError) -> EntityTable {
    try all.table(of: entity)
  }
}
