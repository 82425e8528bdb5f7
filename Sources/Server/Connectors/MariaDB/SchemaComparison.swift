import FerryConnector
import FerryMariaDB
import FerryModel

/// Finds where a model does not fit the tables of the database, and which rights are missing.
struct SchemaComparison {
  private let catalogue: Catalogue

  init(_ catalogue: Catalogue) { self.catalogue = catalogue }

  func mismatches(with package: Package) -> [Mismatch] {
    package.entities.filter { !$0.isOperation }.flatMap(mismatches)
  }

  private func mismatches(_ entity: Entity) -> [Mismatch] {
    func found(_ problem: String, _ cure: String = ConnectorError.modelDiffers) -> Mismatch {
      Mismatch(place: entity.name, problem: problem, cure: cure)
    }
    guard let table = catalogue.tables[entity.table] else {
      return [found("the database has no table \(entity.table)")]
    }
    guard !table.isView else {
      return [found("\(table.name) is a view", "Use the tables that it is made of.")]
    }
    guard table.isTransactional else {
      return [
        found(
          "\(table.name) is kept by \(table.engine), which has no transactions",
          "Let an administrator run: ALTER TABLE \(quotedName(table.name)) ENGINE = InnoDB")
      ]
    }
    var all = entity.attributes.flatMap { mismatches($0, entity, table) }
    let key = entity.key.map { entity.attributes[$0].column }
    if !table.isUnique(key) {
      all.append(
        found(
          "the model's key (\(key.joined(separator: ", "))) is not unique in \(table.name), whose "
            + "key is (\(table.primaryKey.joined(separator: ", ")))"))
    }
    guard entity.operations.contains(.create) else { return all }
    let known = Set(entity.attributes.map { $0.column.lowercased() })
    // A column that must have a value, gets none by itself and is not in the model.
    return all
      + table.columns.filter {
        $0.isNotNull && !$0.hasDefault && !$0.isCounted && !$0.isGenerated
          && !known.contains($0.name.lowercased())
      }.map {
        found(
          "\(table.name).\($0.name) must have a value and is not in the model",
          "Add it to the model, give it a default, or remove create from the entity's operations.")
      }
  }

  private func mismatches(
    _ attribute: Attribute, _ entity: Entity, _ table: CatalogueTable
  ) -> [Mismatch] {
    func found(_ problem: String, _ cure: String = ConnectorError.modelDiffers) -> [Mismatch] {
      [Mismatch(place: "\(entity.name).\(attribute.name)", problem: problem, cure: cure)]
    }
    guard let column = table.column(named: attribute.column) else {
      return found("\(table.name) has no column \(attribute.column)")
    }
    let name = "the column \(table.name).\(column.name)"
    if !ColumnForm(attribute: attribute, column: column).isKept {
      return found(
        "\(name) is \(column.declaredType), which does not keep a \(attribute.type.rawValue)")
    }
    if column.isGenerated, !entity.operations.isDisjoint(with: [.create, .update]) {
      return found(
        "\(name) is generated", "Leave it out of the model, or make the entity read-only.")
    }
    let isKey = entity.key.contains { entity.attributes[$0].name == attribute.name }
    if isKey, let trouble = column.troubleAsKey {
      return found(
        "\(name) is \(column.declaredType), which \(trouble), and it is part of the key",
        "Give the table a key of numbers, texts or dates.")
    }
    guard column.foldsLetters else { return [] }
    let exact = "Let an administrator give it the collation utf8mb4_bin."
    let isReference = entity.relationships.contains { $0.attributes.contains(attribute.name) }
    if isKey, isReference {
      return found(
        "\(name) ignores the case of letters, and it is part of the key and of a reference", exact)
    }
    if case .columns(let columns)? = entity.partition, !isReference,
      columns.contains(where: { $0.attribute == attribute.name })
    {
      return found("\(name) ignores the case of letters, and a partition rule compares it", exact)
    }
    return []
  }

  /// The rights that this user lacks: EXPLAIN asks for those of its statement, and does nothing.
  static func missingRights(
    _ package: Package, _ connection: MariaDBConnection, alsoOwn: Bool
  ) throws(MariaDBError) -> [Mismatch] {
    var needed = SQLRights.byTable(package)
    for name in alsoOwn ? ["ferry_applied", "ferry_leader"] : [] {
      needed[name] = ["SELECT", "INSERT", "UPDATE"]
    }
    var missing: [Mismatch] = []
    for (table, rights) in needed.sorted(by: { $0.key < $1.key }) {
      for right in rights.sorted() {
        guard let statement = probe(right, table, package) else { continue }
        do throws(MariaDBError) { try connection.execute("EXPLAIN \(statement)") } catch {
          guard SQLVerdict(error) == .forbidden else { continue }
          missing.append(
            Mismatch(
              place: connection.address.description,
              problem: "this user has no right \(right) on \(table)",
              cure: "Let an administrator run: GRANT \(right) ON \(quotedName(table)) TO this user")
          )
        }
      }
    }
    return missing
  }

  private static func probe(_ right: String, _ table: String, _ package: Package) -> String? {
    let name = quotedName(table)
    let entity = package.entities.first { $0.table == table }
    let column = entity.map { $0.attributes[$0.key[0]].column } ?? "store"
    switch right {
    case "INSERT": return "INSERT INTO \(name) () VALUES ()"
    case "UPDATE":
      let own = table == "ferry_applied" ? "hash" : column
      return "UPDATE \(name) SET \(quotedName(own)) = \(quotedName(own)) WHERE FALSE"
    case "DELETE": return "DELETE FROM \(name) WHERE FALSE"
    default: return "SELECT 1 FROM \(name) WHERE FALSE"
    }
  }
}

extension CatalogueColumn {
  /// Why its values cannot be keys; nil where they can. Texts can, whatever their collation: of two that
  /// the database takes for equal it has only one.
  package var troubleAsKey: String? {
    switch typeName {
    case "float", "double": "is a binary fraction"
    case "timestamp": "is written in the zone of each session"
    case "bit", "set", "json", "tinytext", "text", "mediumtext", "longtext", "tinyblob", "blob",
      "mediumblob", "longblob":
      "cannot be indexed as a whole"
    default: nil
    }
  }
}
