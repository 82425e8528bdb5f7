import FerryConnector
import FerryModel
import FerrySQLite

/// Finds where a model does not fit the tables of the database.
struct SchemaComparison {
  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  func mismatches(with package: Package) throws(SQLiteError) -> [Mismatch] {
    var found: [Mismatch] = []
    if try connection.value("PRAGMA foreign_keys") != .integer(1) {
      found.append(
        Mismatch(
          place: connection.path, problem: "this SQLite does not enforce foreign keys",
          cure: "Use a SQLite built with them."))
    }
    for entity in package.entities {
      found += entity.isOperation ? unprepared(entity) : try mismatches(entity)
      found += try coarse(entity)
    }
    return found
  }

  /// The statements of an operation that the database does not understand.
  private func unprepared(_ entity: Entity) -> [Mismatch] {
    (entity.performs ?? []).compactMap { statement in
      do throws(SQLiteError) {
        _ = try connection.statement("EXPLAIN \(statement)")
        return nil
      } catch {
        return Mismatch(
          place: entity.name, problem: "\(statement) cannot be performed: \(error.message)",
          cure: "Mend \"performs\" in the model, or the table that it names.")
      }
    }
  }

  private func mismatches(_ entity: Entity) throws(SQLiteError) -> [Mismatch] {
    guard let schema = try TableSchema(entity.table, in: connection) else {
      return [
        Mismatch(
          place: entity.name, problem: "the database has no table \(entity.table)",
          cure: ConnectorError.modelDiffers)
      ]
    }
    if schema.isView {
      return [
        Mismatch(
          place: entity.name, problem: "\(entity.table) is a view",
          cure: "Use the tables that it is made of.")
      ]
    }
    var found: [Mismatch] = []
    for attribute in entity.attributes {
      found += mismatches(attribute, entity, schema)
    }
    let key = entity.key.map { entity.attributes[$0].column }
    if try !schema.isUnique(key, in: connection) {
      found.append(
        Mismatch(
          place: entity.name,
          problem: "the model's key (\(key.joined(separator: ", "))) is not unique in "
            + "\(schema.name), whose key is (\(schema.keyColumns.joined(separator: ", ")))",
          cure: ConnectorError.modelDiffers))
    }
    return found + unwritable(entity, schema)
  }

  /// Columns that tell rows, references or partitions apart and take other bytes for the same text:
  /// the cache and the devices compare by bytes, so a row would be theirs here and not there.
  private func coarse(_ entity: Entity) throws(SQLiteError) -> [Mismatch] {
    guard !entity.isOperation else { return [] }
    var names = Set(entity.key.map { entity.attributes[$0].name })
    for relationship in entity.relationships { names.formUnion(relationship.attributes) }
    if case .columns(let columns) = entity.partition { names.formUnion(columns.map(\.attribute)) }
    var found: [Mismatch] = []
    for attribute in entity.attributes where names.contains(attribute.name) {
      guard attribute.type == .string,
        let collation = connection.collation(of: attribute.column, in: entity.table),
        collation.uppercased() != "BINARY"
      else { continue }
      found.append(
        Mismatch(
          place: "\(entity.name).\(attribute.name)",
          problem:
            "\(entity.table).\(attribute.column) has the collation \(collation), which treats "
            + "different texts as equal",
          cure: "Give the column COLLATE BINARY, or use another column as key, reference or "
            + "partition."))
    }
    return found
  }

  private func mismatches(
    _ attribute: Attribute, _ entity: Entity, _ schema: TableSchema
  ) -> [Mismatch] {
    let place = "\(entity.name).\(attribute.name)"
    guard let column = schema.column(named: attribute.column) else {
      return [
        Mismatch(
          place: place, problem: "\(schema.name) has no column \(attribute.column)",
          cure: ConnectorError.modelDiffers)
      ]
    }
    let form = ColumnForm(
      attribute: attribute, affinity: Affinity(declaredType: column.declaredType))
    if !form.takesBig, form.raw(SchemaComparison.sample(attribute.type)) == nil {
      return [
        Mismatch(
          place: place,
          problem: "the column \(schema.name).\(column.name) is \(column.declaredType), "
            + "which cannot store a \(attribute.type.rawValue)",
          cure: ConnectorError.modelDiffers)
      ]
    }
    if column.isGenerated, !entity.operations.isDisjoint(with: [.create, .update]) {
      return [
        Mismatch(
          place: place, problem: "the column \(schema.name).\(column.name) is generated",
          cure: "Leave it out of the model, or make the entity read-only.")
      ]
    }
    return []
  }

  /// A column that must have a value, gets none by itself and is not in the model.
  private func unwritable(_ entity: Entity, _ schema: TableSchema) -> [Mismatch] {
    guard entity.operations.contains(.create) else { return [] }
    let known = Set(entity.attributes.map { $0.column.lowercased() })
    let missing = schema.columns.filter {
      $0.isRequired && !$0.hasDefault && !$0.isGenerated && !known.contains($0.name.lowercased())
    }
    return missing.map {
      Mismatch(
        place: entity.name,
        problem: "\(schema.name).\($0.name) must have a value and is not in the model",
        cure:
          "Add it to the model, give it a default, or remove create from the entity's operations."
      )
    }
  }

  private static func sample(_ type: AttributeType) -> AttributeValue {
    switch type {
    case .boolean: .boolean(true)
    case .byte, .short, .int, .long: .integer(1)
    case .integer: .text("1")
    case .decimal: .text("1.5")
    case .float, .double: .double(1.5)
    case .string: .text("a")
    case .date: .text("2013-01-31")
    case .time: .text("23:59:59")
    case .dateTime: .text("2013-01-31T23:59:59")
    case .binary: .bytes([1])
    case .list: .text("[]")
    case .complex: .text("{}")
    // No value of the type, where the column does not take one.
    case .bigString, .bigBinary: .text("")
    }
  }
}
