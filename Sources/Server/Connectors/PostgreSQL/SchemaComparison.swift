import FerryConnector
import FerryModel
import FerryPostgreSQL

/// Finds where a model does not fit the tables of the database. In a transaction whose `search_path`
/// is empty.
struct SchemaComparison {
  private let reader: CatalogueReader

  init(_ connection: PostgreSQLConnection) { reader = CatalogueReader(connection) }

  func mismatches(with package: Package) throws(PostgreSQLError) -> [Mismatch] {
    var found: [Mismatch] = []
    for entity in package.entities where !entity.isOperation { found += try mismatches(entity) }
    return found
  }

  private func mismatches(_ entity: Entity) throws(PostgreSQLError) -> [Mismatch] {
    guard let name = TableName(entity.table), let schema = try reader.table(name) else {
      return [
        Mismatch(
          place: entity.name, problem: "the database has no table \(entity.table)",
          cure: ConnectorError.modelDiffers)
      ]
    }
    guard schema.kind == .table || schema.kind == .partitioned else {
      return [
        Mismatch(
          place: entity.name,
          problem: "\(entity.table) is a \(schema.kind == .view ? "view" : "foreign table")",
          cure: "Use the tables that it is made of.")
      ]
    }
    var found: [Mismatch] = []
    for attribute in entity.attributes { found += mismatches(attribute, entity, schema) }
    let key = entity.key.map { entity.attributes[$0].column }
    if !schema.isUnique(key) {
      found.append(
        Mismatch(
          place: entity.name,
          problem: "the model's key (\(key.joined(separator: ", "))) is not unique in "
            + "\(schema.name), whose key is (\(schema.primaryKey.joined(separator: ", ")))",
          cure: ConnectorError.modelDiffers))
    }
    return found + inexact(entity, schema) + unwritable(entity, schema)
  }

  /// What is one key, reference or partition there would be two on devices.
  private func inexact(_ entity: Entity, _ schema: CatalogueTable) -> [Mismatch] {
    let references = entity.relationships.flatMap(\.attributes).compactMap(entity.position(of:))
    var positions = Set(entity.key + references)
    if case .columns(let columns) = entity.partition {
      // Of numbers only texts differ, and a rule compares values.
      positions.formUnion(
        columns.compactMap { entity.position(of: $0.attribute) }
          .filter { entity.attributes[$0].type == .string })
    }
    return positions.sorted().compactMap { position in
      let attribute = entity.attributes[position]
      guard let column = schema.column(named: attribute.column), let trouble = column.troubleAsKey
      else { return nil }
      return Mismatch(
        place: "\(entity.name).\(attribute.name)",
        problem: "the column \(schema.name).\(column.name) is \(column.declaredType), which "
          + "\(trouble), and it is part of a key, a reference or a partition rule",
        cure:
          "Give it a type that writes equal values in the same way, or remove it from the model."
      )
    }
  }

  private func mismatches(
    _ attribute: Attribute, _ entity: Entity, _ schema: CatalogueTable
  ) -> [Mismatch] {
    let place = "\(entity.name).\(attribute.name)"
    guard let column = schema.column(named: attribute.column) else {
      return [
        Mismatch(
          place: place, problem: "\(schema.name) has no column \(attribute.column)",
          cure: ConnectorError.modelDiffers)
      ]
    }
    if !ColumnForm(attribute: attribute, column: column).isKept {
      return [
        Mismatch(
          place: place,
          problem: "the column \(schema.name).\(column.name) is \(column.declaredType), "
            + "which does not keep a \(attribute.type.rawValue)",
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
  private func unwritable(_ entity: Entity, _ schema: CatalogueTable) -> [Mismatch] {
    guard entity.operations.contains(.create) else { return [] }
    let known = Set(entity.attributes.map(\.column))
    let missing = schema.columns.filter {
      $0.isNotNull && $0.defaultValue == nil && !$0.isCounted && !$0.isGenerated
        && !known.contains($0.name)
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
}
