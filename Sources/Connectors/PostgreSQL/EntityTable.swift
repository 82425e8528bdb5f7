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
  private let selectSmall: String
  /// With parameters 1 and on for the key.
  let whereKey: String

  init(_ entity: Entity, _ schema: CatalogueTable) throws(ConnectorError) {
    var columns: [ColumnForm] = []
    for attribute in entity.attributes {
      guard let column = schema.column(named: attribute.column) else {
        throw ConnectorError(
          "Table \(schema.name) has no column \(attribute.column), which \(entity.name) needs",
          hint: "Run `ferry diff` to see what changed, then deploy a model that fits.",
          isTransient: false)
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
  func parameters(of key: Key) -> [PostgreSQLValue]? {
    guard let values = key.values(of: entity), !values.contains(.null) else { return nil }
    var parameters: [PostgreSQLValue] = []
    for (position, value) in zip(entity.key, values) {
      guard let parameter = columns[position].parameter(value) else { return nil }
      parameters.append(parameter)
    }
    return parameters
  }

  /// The values of a row; what does not fit the model is null.
  func fitting(_ texts: [String?]) -> [Value] { zip(columns, texts).map { $0.value($1) ?? .null } }

  /// Without its big values: the row whose attributes at these positions have just these values; one that the database only takes for equal, by a collation, is not it.
  func fitting(
    _ positions: [Int], _ values: [Value], isLocked: Bool, _ connection: PostgreSQLConnection
  ) throws(ConnectorError) -> [Value]? {
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
  func key(of texts: [String?]) -> Key? {
    guard texts.count == entity.key.count else { return nil }
    var values: [Value] = []
    for (position, text) in zip(entity.key, texts) {
      guard let value = columns[position].value(text), !value.isNull else { return nil }
      values.append(value)
    }
    return Key(values)
  }

  /// What a statement selects to learn the key of row `row`.
  func selectedKey(from row: String) -> [String] {
    entity.key.map { columns[$0].selected(from: row) }
  }

  enum Row {
    case success([Value])
    case rejected(RejectedRow)
  }

  /// A row as the model has it, or why the model cannot take it.
  func row(_ texts: [String?]) -> Row {
    var values: [Value] = []
    values.reserveCapacity(texts.count)
    for (column, text) in zip(columns, texts) {
      guard let value = column.value(text), !value.isNull || column.attribute.isNullable else {
        return .rejected(rejected(row: values, text, column))
      }
      values.append(value)
    }
    return .success(values)
  }

  private func rejected(row values: [Value], _ text: String?, _ column: ColumnForm) -> RejectedRow {
    let place = "\(schema.name).\(column.column.name)"
    let type = column.attribute.type.rawValue
    let reason =
      if let text {
        "\"\(text)\" is no \(type); correct it in \(place), "
          + "or make the attribute a string in the model"
      } else {
        "it is empty and the model says it never is; fill it in \(place), "
          + "or make the attribute nullable in the model"
      }
    let known = entity.key.filter { $0 < values.count }
    return RejectedRow(
      entity: entity.name, key: Key(known.map { values[$0] }).text,
      attribute: column.attribute.name, reason: reason)
  }

  func image(_ key: Key, _ rows: PostgreSQLRows?) -> RowImage {
    var values: [Value]?
    if let rows, rows.count == 1, case .success(let read) = row(rows.row(0)) { values = read }
    return RowImage(entity: entity.name, key: key, values: values)
  }
}

/// The tables of a package as they were when the connection was made, or after they were found to
/// have changed.
struct EntityTables {
  private let package: Package
  private var tables: [String: EntityTable] = [:]
  private var failures: [String: ConnectorError] = [:]
  /// By the oid of the table.
  private(set) var byOID: [String: [EntityTable]] = [:]
  /// What the columns were, by oid.
  private var shapes: [String: String] = [:]

  init(_ package: Package) { self.package = package }

  /// Asks for the columns of the entities' tables, as far as they were read.
  func shapeRequest(_ entities: [Entity]) -> PostgreSQLConnection.Request {
    let oids = Set(entities.compactMap { tables[$0.name]?.schema.oid }).sorted()
    return EntityTables.shapes(oids)
  }

  private static func shapes(_ oids: [String]) -> PostgreSQLConnection.Request {
    PostgreSQLConnection.Request(
      """
      SELECT a.attrelid, pg_catalog.md5(pg_catalog.string_agg(pg_catalog.concat_ws(
        ' ', a.attnum, a.attname, a.atttypid, a.atttypmod, a.attcollation), ',' ORDER BY a.attnum))
      FROM pg_catalog.pg_attribute AS a WHERE a.attrelid = ANY ($1::pg_catalog.oid[])
        AND a.attnum > 0 AND NOT a.attisdropped GROUP BY a.attrelid
      """, [.text("{\(oids.joined(separator: ","))}")])
  }

  /// Whether the tables of these entities are as they were read; `found`: what the request gave.
  func areCurrent(_ entities: [Entity], _ found: PostgreSQLRows) -> Bool {
    let now = EntityTables.byOID(found)
    return entities.allSatisfy { entity in
      guard !entity.isOperation else { return true }
      guard let oid = tables[entity.name]?.schema.oid, let shape = now[oid] else { return false }
      return shapes[oid] == shape
    }
  }

  private static func byOID(_ rows: PostgreSQLRows) -> [String: String] {
    Dictionary(rows.texts.map { ($0[0] ?? "", $0[1] ?? "") }) { first, _ in first }
  }

  /// To be called in a transaction whose `search_path` is empty.
  mutating func read(_ connection: PostgreSQLConnection) throws(PostgreSQLError) {
    (tables, failures, byOID) = ([:], [:], [:])
    let reader = CatalogueReader(connection)
    for entity in package.entities where !entity.isOperation {
      var schema: CatalogueTable?
      if let name = TableName(entity.table) { schema = try reader.table(name) }
      do throws(ConnectorError) {
        guard let schema else {
          throw ConnectorError(
            "The business database has no table \(entity.table), which \(entity.name) needs",
            hint: "Run `ferry diff` to see what changed, then deploy a model that fits.",
            isTransient: false)
        }
        let table = try EntityTable(entity, schema)
        tables[entity.name] = table
        byOID[schema.oid, default: []].append(table)
      } catch {
        failures[entity.name] = error
      }
    }
    let request = EntityTables.shapes(byOID.keys.sorted())
    shapes = EntityTables.byOID(try connection.rows(request.sql, request.parameters))
  }

  func table(of entity: Entity) throws(ConnectorError) -> EntityTable {
    if let table = tables[entity.name] { return table }
    throw failures[entity.name]
      ?? ConnectorError(
        "\(entity.name) is not an entity of \(package.id)",
        hint: "Give the connector and the server the same model.", isTransient: false)
  }
}
