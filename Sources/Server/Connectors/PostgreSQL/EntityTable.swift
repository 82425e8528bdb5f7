import FerryConnector
import FerryModel
import FerryPostgreSQL

/// An entity bound to the table that holds its rows.
struct EntityTable: Sendable {
  let entity: Entity
  let schema: CatalogueTable
  /// In the order of the entity's attributes.
  let columns: [ColumnForm]
  let select: String
  /// With null for each big value, which no partition rule asks for.
  let selectSmall: String
  /// With parameters 1 and on for the key.
  let whereKey: String

  init(_ entity: Entity, _ schema: CatalogueTable) throws(ConnectorError) {
    var columns: [ColumnForm] = []
    for attribute in entity.attributes {
      guard let column = schema.column(named: attribute.column) else {
        throw .noColumn(attribute.column, inTable: schema.name.description, for: entity)
      }
      columns.append(ColumnForm(attribute: attribute, column: column))
    }
    self.entity = entity
    self.schema = schema
    self.columns = columns
    let asked = columns.map { $0.selected(from: "t") }.joined(separator: ", ")
    select = "SELECT \(asked) FROM \(schema.name.quoted) AS t"
    let small = columns.map { $0.attribute.type.isBig ? "NULL" : $0.selected(from: "t") }
    selectSmall = "SELECT \(small.joined(separator: ", ")) FROM \(schema.name.quoted) AS t"
    let conditions = entity.key.enumerated().map {
      columns[$0.element].condition($0.offset + 1, row: "t")
    }
    whereKey = " WHERE " + conditions.joined(separator: " AND ")
  }

  /// The parameters to look a key up with; nil when no row can have it.
  func parameters(of key: ObjectKey) -> [PostgreSQLValue]? {
    guard let values = key.values(of: entity), !values.contains(.null) else { return nil }
    var parameters: [PostgreSQLValue] = []
    for (position, value) in zip(entity.key, values) {
      guard let parameter = columns[position].parameter(value) else { return nil }
      parameters.append(parameter)
    }
    return parameters
  }

  /// The values of a row; what does not fit the model is null.
  func fitting(_ texts: [String?]) -> [AttributeValue] {
    zip(columns, texts).map { $0.value($1) ?? .null }
  }

  /// Without its big values: the row whose attributes at these positions have just these values; one that the database only takes for equal, by a collation, is not it.
  func fitting(
    _ positions: [Int], _ values: [AttributeValue], isLocked: Bool,
    _ connection: PostgreSQLConnection
  ) throws(ConnectorError) -> [AttributeValue]? {
    var parameters: [PostgreSQLValue] = []
    var conditions: [String] = []
    for (position, value) in zip(positions, values) {
      guard let parameter = columns[position].parameter(value) else { return nil }
      parameters.append(parameter)
      conditions.append(columns[position].condition(parameters.count, row: "t"))
    }
    let rows: PostgreSQLRows
    do {
      rows = try connection.rows(
        "\(selectSmall) WHERE \(conditions.joined(separator: " AND "))\(isLocked ? " FOR NO KEY UPDATE" : "")",
        parameters)
    } catch { throw ConnectorError(error, connection.address) }
    return rows.texts.lazy.map { fitting($0) }.first { row in positions.map { row[$0] } == values }
  }

  /// The key of the texts that a statement gave for the key's columns.
  func key(of texts: [String?]) -> ObjectKey? {
    guard texts.count == entity.key.count else { return nil }
    var values: [AttributeValue] = []
    for (position, text) in zip(entity.key, texts) {
      guard let value = columns[position].value(text), !value.isNull else { return nil }
      values.append(value)
    }
    return ObjectKey(values)
  }

  /// What a statement selects to learn the key of row `row`.
  func selectedKey(from row: String) -> [String] {
    entity.key.map { columns[$0].selected(from: row) }
  }

  enum Row {
    case success([AttributeValue])
    case rejected(RejectedRow)
  }

  /// A row as the model has it, or why the model cannot take it.
  func row(_ texts: [String?]) -> Row {
    var values: [AttributeValue] = []
    values.reserveCapacity(texts.count)
    for (position, column) in columns.enumerated() {
      guard let value = column.value(texts[position]),
        !value.isNull || column.attribute.isNullable
      else {
        return .rejected(
          RejectedRow(
            entity,
            keyValues: entity.key.map { texts[$0] == nil ? nil : columns[$0].value(texts[$0]) },
            at: position, shown: texts[position].map { "\"\($0)\"" },
            place: "\(schema.name).\(column.column.name)"))
      }
      values.append(value)
    }
    return .success(values)
  }

  func image(_ key: ObjectKey, _ rows: PostgreSQLRows?) -> RowImage {
    guard let rows, rows.count == 1 else {
      return RowImage(entity: entity.name, key: key, values: nil)
    }
    return switch row(rows.row(0)) {
    case .success(let values): RowImage(entity: entity.name, key: key, values: values)
    case .rejected(let row): RowImage(row, key: key)
    }
  }
}

/// The tables of a package as they were when the connection was made, or after they were found to
/// have changed.
struct EntityTables {
  private var all: SQLTables<EntityTable, String>
  /// What the columns were, by oid.
  private var shapes: [String: String] = [:]

  init(_ package: Package) { all = SQLTables(package) }

  /// By the oid of the table.
  var byOID: [String: [EntityTable]] { all.byName }

  /// The fingerprint of the columns of relation `oid`, for a SELECT.
  static func shape(of oid: String) -> String {
    """
    (SELECT pg_catalog.md5(pg_catalog.string_agg(pg_catalog.concat_ws(
      ' ', a.attnum, a.attname, a.atttypid, a.atttypmod, a.attcollation), ',' ORDER BY a.attnum))
      FROM pg_catalog.pg_attribute AS a
      WHERE a.attrelid = \(oid) AND a.attnum > 0 AND NOT a.attisdropped)
    """
  }

  /// Asks for the columns of the entities' tables, as far as they were read.
  func shapeRequest(_ entities: [Entity]) -> PostgreSQLConnection.Request {
    let oids = Set(entities.compactMap { all.known($0)?.schema.oid }).sorted()
    return EntityTables.shapes(oids)
  }

  private static func shapes(_ oids: [String]) -> PostgreSQLConnection.Request {
    PostgreSQLConnection.Request(
      """
      SELECT r.oid, \(shape(of: "r.oid")), \(isQuiet("r.oid"))
      FROM pg_catalog.unnest($1::pg_catalog.oid[]) AS r (oid)
      """, [.text("{\(oids.joined(separator: ","))}")])
  }

  /// Whether a change of a row of relation `oid` changes no other row, for a SELECT: it has no rules,
  /// no parts, and no triggers but ours and those that only check references.
  private static func isQuiet(_ oid: String) -> String {
    """
    (SELECT c.relkind = 'r' AND NOT c.relhasrules AND NOT c.relhassubclass AND NOT EXISTS (
        SELECT FROM pg_catalog.pg_trigger AS g
          JOIN pg_catalog.pg_proc AS p ON p.oid = g.tgfoid
          JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
        WHERE g.tgrelid = c.oid AND n.nspname <> 'ferry' AND NOT (n.nspname = 'pg_catalog'
          AND p.proname ~ '^RI_FKey_(check|noaction|restrict)_'))
      FROM pg_catalog.pg_class AS c WHERE c.oid = \(oid))
    """
  }

  /// The tables whose changes change no other rows, by oid; `found`: what the request gave.
  static func quiet(_ found: PostgreSQLRows) -> Set<String> {
    Set(found.texts.lazy.filter { $0[2] == "t" }.compactMap { $0[0] })
  }

  /// Whether changes of these entities change no other rows; `quiet`: the tables that are so.
  func areQuiet(_ entities: some Sequence<Entity>, _ quiet: Set<String>) -> Bool {
    entities.allSatisfy { entity in
      !entity.isOperation && all.known(entity).map { quiet.contains($0.schema.oid) } ?? false
    }
  }

  /// Whether the tables of these entities are as they were read; `found`: what the request gave.
  func areCurrent(_ entities: [Entity], _ found: PostgreSQLRows) -> Bool {
    let now = EntityTables.byOID(found)
    return entities.allSatisfy { entity in
      guard !entity.isOperation else { return true }
      guard let oid = all.known(entity)?.schema.oid, let shape = now[oid] else { return false }
      return shapes[oid] == shape
    }
  }

  /// A table that was dropped has no columns, and no shape.
  private static func byOID(_ rows: PostgreSQLRows) -> [String: String] {
    var shapes: [String: String] = [:]
    for row in rows.texts { if let oid = row[0], let shape = row[1] { shapes[oid] = shape } }
    return shapes
  }

  /// To be called in a transaction whose `search_path` is empty.
  mutating func read(_ connection: PostgreSQLConnection) throws(PostgreSQLError) {
    let reader = CatalogueReader(connection)
    var failure: PostgreSQLError?
    all.read { entity throws(ConnectorError) in
      guard failure == nil, let name = TableName(entity.table) else { return nil }
      let schema: CatalogueTable?
      do throws(PostgreSQLError) { schema = try reader.table(name) } catch {
        failure = error
        return nil
      }
      guard let schema else { return nil }
      return (schema.oid, try EntityTable(entity, schema))
    }
    if let failure { throw failure }
    let request = EntityTables.shapes(byOID.keys.sorted())
    shapes = EntityTables.byOID(try connection.rows(request.sql, request.parameters))
  }

  func table(of entity: Entity) throws(ConnectorError) -> EntityTable {
    try all.table(of: entity)
  }
}
