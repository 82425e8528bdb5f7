import FerryGenerator
import FerryModel
import FerryPostgreSQL

/// Reads the schema of a database of PostgreSQL, and how large its values are; changes nothing.
package enum PostgreSQLSchema {
  /// How many rows of each table are looked at for the size of their values.
  package static let sampleRows: Int = 10_000

  /// Connects, reads everything in one snapshot and closes the connection. `allValues` looks at
  /// every row for sizes instead of a sample.
  package static func read(
    _ address: PostgreSQLAddress, allValues: Bool = false
  ) throws(GeneratorError) -> DatabaseSchema {
    do throws(PostgreSQLError) {
      let connection = try PostgreSQLConnection(address)
      try connection.execute(
        """
        BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; \(CatalogueReader.settings); \
        SET LOCAL row_security = off
        """)
      let reader = CatalogueReader(connection)
      var tables: [DatabaseSchema.Table] = []
      var views: [String] = []
      for name in try reader.names() {
        guard let table = try reader.table(name) else { continue }
        guard table.kind == .table || table.kind == .partitioned else {
          views.append(name.description)
          continue
        }
        let sizes = try largestBytes(table, connection, allValues: allValues)
        tables.append(translated(table, sizes))
      }
      connection.close()
      return DatabaseSchema(inOrder: tables, views: views)
    } catch {
      throw GeneratorError(
        "\(address) cannot be read: \(error.message)",
        hint: error.hint.isEmpty ? "Try it with psql." : error.hint)
    }
  }

  private static let sized: Set<String> = ["text", "varchar", "bytea"]

  /// By column, for those whose values may be large.
  private static func largestBytes(
    _ table: CatalogueTable, _ connection: PostgreSQLConnection, allValues: Bool
  ) throws(PostgreSQLError) -> [String: Int] {
    let names = table.columns.filter { sized.contains($0.typeName) }.map(\.name)
    guard !names.isEmpty else { return [:] }
    let sizes = names.map { "pg_catalog.max(pg_catalog.octet_length(t.\(quotedName($0))))" }
    let rows =
      allValues
      ? table.name.quoted
      : "(SELECT * FROM \(table.name.quoted) LIMIT \(sampleRows))"
    let found = try connection.rows("SELECT \(sizes.joined(separator: ", ")) FROM \(rows) AS t")
    var largest: [String: Int] = [:]
    for (place, name) in names.enumerated() {
      largest[name] = found.text(0, place).flatMap { Int($0) } ?? 0
    }
    return largest
  }

  private static func translated(
    _ table: CatalogueTable, _ sizes: [String: Int]
  ) -> DatabaseSchema.Table {
    let lists = CheckLists(ofChecks: table.checks.sorted { $0.key < $1.key }.map(\.value))
    let columns = table.columns.map { column in
      let isKey = table.primaryKey.contains(column.name)
      return DatabaseSchema.Column(
        named: column.name, declaredType: column.declaredType, isNotNull: column.isNotNull,
        hasDefault: column.defaultValue != nil || column.isCounted,
        // Of an identity that is always generated nobody else may give a value.
        isGenerated: column.isGenerated || column.isAlwaysIdentity && !isKey,
        known: ColumnTypes.known(column, isKey: isKey, largestBytes: sizes[column.name] ?? 0),
        kept: ColumnTypes.kept(by: column), remark: ColumnTypes.remark(on: column),
        comment: column.comment, values: values(of: column, lists))
    }
    let key = table.primaryKey.count == 1 ? table.column(named: table.primaryKey[0]) : nil
    let isCounted = key.map { $0.isCounted && $0.typeName.hasPrefix("int") } ?? false
    let foreign = table.outgoing.map {
      DatabaseSchema.ForeignKey(
        from: $0.childColumns, to: $0.parent.description, $0.parentColumns)
    }
    return DatabaseSchema.Table(
      named: table.name.description, columns: columns, primaryKey: table.primaryKey,
      countedKey: isCounted ? key?.name : nil,
      uniqueKeys: table.uniqueKeys.sorted { $0.key < $1.key }.map(\.value)
        .filter { $0 != table.primaryKey },
      foreignKeys: foreign.sorted { $0.columns.lexicographicallyPrecedes($1.columns) },
      triggers: table.triggers, hasChecks: !table.checks.isEmpty, comment: table.comment)
  }
  /// Of a type that takes different texts for the same, a list allows more than its texts.
  private static func values(of column: CatalogueColumn, _ lists: CheckLists) -> [AttributeValue] {
    let list = lists[column.name]
    if !list.isEmpty {
      let isExact = column.isDeterministic && !["bpchar", "citext"].contains(column.typeName)
      return isExact ? list : []
    }
    return column.labels.map(AttributeValue.text)
  }
}
