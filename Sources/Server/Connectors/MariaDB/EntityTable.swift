import FerryConnector
import FerryMariaDB
import FerryModel

/// An entity bound to the table that holds its rows.
struct EntityTable: Sendable {
  let entity: Entity
  let schema: CatalogueTable
  /// In the order of the entity's attributes.
  let columns: [ColumnForm]
  let select: String
  /// With null for each big value, which no partition rule asks for.
  private let selectSmall: String

  init(_ entity: Entity, _ schema: CatalogueTable, _ package: Package) throws(ConnectorError) {
    var columns: [ColumnForm] = []
    for attribute in entity.attributes {
      guard let column = schema.column(named: attribute.column) else {
        throw .noColumn(attribute.column, inTable: schema.name, for: entity)
      }
      columns.append(ColumnForm(attribute: attribute, column: column))
    }
    self.entity = entity
    self.schema = schema
    self.columns = columns
    let from = " FROM \(quotedName(schema.name)) AS t"
    let asked = columns.map { EntityTable.selected($0, entity, columns, package) }
    select = "SELECT " + asked.joined(separator: ", ") + from
    let small = zip(columns, asked).map { $0.attribute.type.isBig ? "NULL" : $1 }
    selectSmall = "SELECT " + small.joined(separator: ", ") + from
  }

  /// A reference whose collation takes `kloten` for `KLOTEN` is read as its parent writes the key: on
  /// devices keys are compared byte for byte.
  private static func selected(
    _ form: ColumnForm, _ entity: Entity, _ columns: [ColumnForm], _ package: Package
  ) -> String {
    let own = form.selected("t.\(quotedName(form.column.name))")
    let name = form.attribute.name
    guard !form.column.isExact, !form.attribute.type.isBig,
      let reference = entity.relationships.first(where: { $0.attributes.contains(name) }),
      let place = reference.attributes.firstIndex(of: name),
      let parent = package.entity(named: reference.target)
    else { return own }
    var (conditions, wanted): ([String], String?) = ([], nil)
    for (index, pair) in zip(reference.attributes, reference.targetAttributes).enumerated() {
      guard let here = entity.position(of: pair.0), let there = parent.position(of: pair.1) else {
        return own
      }
      let column = "p.\(quotedName(parent.attributes[there].column))"
      if index == place { wanted = column }
      conditions.append("\(column) = t.\(quotedName(columns[here].column.name))")
    }
    guard let wanted else { return own }
    return "COALESCE((SELECT \(wanted) FROM \(quotedName(parent.table)) AS p WHERE "
      + "\(conditions.joined(separator: " AND ")) LIMIT 1), \(own))"
  }

  func name(_ position: Int) -> String { "t.\(quotedName(columns[position].column.name))" }

  /// The condition of a key, with WHERE; nil when no row can have it.
  func whereKey(_ key: ObjectKey) -> String? {
    guard let values = key.values(of: entity), !values.contains(.null) else { return nil }
    return condition(entity.key, values).map { " WHERE \($0)" }
  }

  private func condition(_ positions: [Int], _ values: [AttributeValue]) -> String? {
    var conditions: [String] = []
    for (position, value) in zip(positions, values) {
      guard let literal = columns[position].literal(value) else { return nil }
      conditions.append("\(name(position)) = \(literal)")
    }
    return conditions.joined(separator: " AND ")
  }

  /// The values of a row; what does not fit the model is null.
  private func fitting(_ texts: [String?]) -> [AttributeValue] {
    zip(columns, texts).map { $0.value($1) ?? .null }
  }

  /// Without its big values: the row whose attributes at these positions have just these values; one
  /// that the database only takes for equal, by a collation, is not it.
  func fitting(
    _ positions: [Int], _ values: [AttributeValue], isLocked: Bool, _ connection: MariaDBConnection
  ) throws(ConnectorError) -> [AttributeValue]? {
    guard let condition = condition(positions, values) else { return nil }
    let rows: MariaDBRows
    do {
      rows = try connection.rows(
        "\(selectSmall) WHERE \(condition)\(isLocked ? " FOR UPDATE" : "")")
    } catch { throw ConnectorError(error, connection.address) }
    return rows.texts.lazy.map { fitting($0) }.first { row in positions.map { row[$0] } == values }
  }

  /// The row with exactly this key; nil where there is none.
  func texts(
    of key: ObjectKey, lock: String = "", _ connection: MariaDBConnection
  ) throws(MariaDBError) -> [String?]? {
    guard let condition = whereKey(key) else { return nil }
    return try connection.rows(select + condition + lock).texts.first { self.key(ofRow: $0) == key }
  }

  private func key(ofRow texts: [String?]) -> ObjectKey? {
    key(ofParts: entity.key.map { texts[$0] })
  }

  /// What a statement selects to learn a row's key.
  var selectedKey: String {
    entity.key.map { columns[$0].selected(quotedName(columns[$0].column.name)) }
      .joined(separator: ", ")
  }

  /// The key of the texts of its columns, in their order.
  func key(ofParts texts: [String?]) -> ObjectKey? {
    var values: [AttributeValue] = []
    for (position, text) in zip(entity.key, texts) {
      guard let value = columns[position].value(text), !value.isNull else { return nil }
      values.append(value)
    }
    return values.count == entity.key.count ? ObjectKey(values) : nil
  }

  /// The key of an entry that a trigger wrote: texts by the names of columns. Nil where it was written
  /// for another key.
  func key(ofEntry texts: [String: String]) -> ObjectKey? {
    key(ofParts: entity.key.map { texts[columns[$0].column.name] })
  }

  /// A row as the model has it, or why the model cannot take it.
  func row(_ texts: [String?]) -> Result<[AttributeValue], RejectedRowError> {
    var values: [AttributeValue] = []
    values.reserveCapacity(texts.count)
    for (position, column) in columns.enumerated() {
      guard let value = column.value(texts[position]),
        !value.isNull || column.attribute.isNullable
      else {
        let row = RejectedRow(
          entity,
          keyValues: entity.key.map { texts[$0] == nil ? nil : columns[$0].value(texts[$0]) },
          at: position, shown: texts[position].map { "\"\($0)\"" },
          place: "\(schema.name).\(column.column.name)")
        return .failure(RejectedRowError(row: row))
      }
      values.append(value)
    }
    return .success(values)
  }

  struct RejectedRowError: Error { let row: RejectedRow }

  func image(
    _ key: ObjectKey, _ connection: MariaDBConnection
  ) throws(MariaDBError) -> RowImage {
    guard let texts = try texts(of: key, connection) else {
      return RowImage(entity: entity.name, key: key, values: nil)
    }
    return switch row(texts) {
    case .success(let values): RowImage(entity: entity.name, key: key, values: values)
    case .failure(let error): RowImage(error.row, key: key)
    }
  }

  /// At most `count` rows behind the place, in the order of the key's columns.
  func slice(
    after place: [AttributeValue]?, count: Int, _ connection: MariaDBConnection
  ) throws(MariaDBError) -> EntitySlice {
    let keys = entity.key.map(name)
    var behind = ""
    if let place,
      let condition = EntityTable.behind(
        keys,
        zip(entity.key, place).map { pair in
          columns[pair.0].literal(pair.1) ?? ColumnForm.literal(pair.1)
        })
    {
      behind = " WHERE \(condition)"
    }
    let found = try connection.rows(
      "\(select)\(behind) ORDER BY \(keys.joined(separator: ", ")) LIMIT \(count)")
    var images: [RowImage] = []
    for texts in found.texts {
      guard case .success(let values) = row(texts) else { continue }
      images.append(RowImage(entity: entity.name, key: entity.key(of: values), values: values))
    }
    guard found.count == count, let last = found.texts.last else {
      return EntitySlice(rows: images, next: nil)
    }
    return EntitySlice(
      rows: images, next: entity.key.map { columns[$0].value(last[$0]) ?? .text(last[$0] ?? "") })
  }

  /// `(a, b) > (1, 2)` in a form for which an index is used.
  private static func behind(_ keys: [String], _ values: [String]) -> String? {
    guard let key = keys.first, let value = values.first else { return nil }
    guard let rest = behind(Array(keys.dropFirst()), Array(values.dropFirst())) else {
      return "\(key) > \(value)"
    }
    return "\(key) >= \(value) AND (\(key) > \(value) OR \(rest))"
  }
}
