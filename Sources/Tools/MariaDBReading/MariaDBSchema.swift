import FerryGenerator
import FerryMariaDB
import FerryMariaDBConnector
import FerryModel

/// Reads the schema of a database of MariaDB, and how large its values are; changes nothing.
package enum MariaDBSchema {
  /// How many rows of each table are looked at for the size of their values.
  package static let sampleRows: Int = 10_000
  /// What is longer is kept apart from the row.
  static let bigBytes: Int = 65_536

  /// Connects, reads everything and closes the connection. `allValues` looks at every row for sizes
  /// instead of a sample.
  package static func read(
    _ address: MariaDBAddress, allValues: Bool = false
  ) throws(GeneratorError) -> DatabaseSchema {
    do throws(MariaDBError) {
      let connection = try MariaDBConnection(address)
      let found = try Catalogue(connection).tables.values.sorted { $0.name < $1.name }
      var tables: [DatabaseSchema.Table] = []
      for table in found where !table.isView {
        let sizes = try largestBytes(table, connection, allValues: allValues)
        tables.append(translated(table, sizes))
      }
      connection.close()
      return DatabaseSchema(inOrder: tables, views: found.filter(\.isView).map(\.name))
    } catch {
      throw GeneratorError(
        "\(address) cannot be read: \(error.message)",
        hint: error.hint.isEmpty ? "Try it with the program mariadb." : error.hint)
    }
  }

  private static let sized: Set<String> = [
    "text", "mediumtext", "longtext", "blob", "mediumblob", "longblob", "varchar", "varbinary",
  ]

  /// By column, for those whose values may be large.
  private static func largestBytes(
    _ table: CatalogueTable, _ connection: MariaDBConnection, allValues: Bool
  ) throws(MariaDBError) -> [String: Int] {
    let names = table.columns.filter { sized.contains($0.typeName) }.map(\.name)
    guard !names.isEmpty else { return [:] }
    let sizes = names.map { "MAX(OCTET_LENGTH(t.\(quotedName($0))))" }
    let rows =
      allValues
      ? quotedName(table.name) : "(SELECT * FROM \(quotedName(table.name)) LIMIT \(sampleRows))"
    let found = try connection.rows("SELECT \(sizes.joined(separator: ", ")) FROM \(rows) AS t")
    return Dictionary(
      uniqueKeysWithValues: zip(names, found.texts.first ?? []).map { name, size in
        (name, size.flatMap { Int($0) } ?? 0)
      })
  }

  private static func translated(
    _ table: CatalogueTable, _ sizes: [String: Int]
  ) -> DatabaseSchema.Table {
    let columns = table.columns.map { column in
      let isKey = table.primaryKey.contains(column.name)
      let all = ColumnFit.types(of: column)
      let known = known(column, isKey: isKey, largestBytes: sizes[column.name] ?? 0)
      var wholly = all
      if case .type(let type, _, _, _) = known { wholly = all.intersection(whole(column, type)) }
      return DatabaseSchema.Column(
        named: column.name, declaredType: column.declaredType, isNotNull: column.isNotNull,
        hasDefault: column.hasDefault || column.isCounted, isGenerated: column.isGenerated,
        known: known, kept: KeptTypes(wholly: wholly, partly: all.subtracting(wholly)),
        remark: remark(column), comment: column.comment.isEmpty ? nil : column.comment,
        values: column.labels.map(AttributeValue.text))
    }
    let key = table.primaryKey.count == 1 ? table.column(named: table.primaryKey[0]) : nil
    return DatabaseSchema.Table(
      named: table.name, columns: columns, primaryKey: table.primaryKey,
      countedKey: key?.isCounted == true ? key?.name : nil,
      uniqueKeys: table.uniqueKeys.filter { $0.key != "PRIMARY" }.sorted { $0.key < $1.key }
        .map(\.value),
      foreignKeys: table.outgoing.map {
        DatabaseSchema.ForeignKey(from: $0.childColumns, to: $0.parent, $0.parentColumns)
      }.sorted { $0.columns.lexicographicallyPrecedes($1.columns) },
      triggers: table.triggers, hasChecks: !table.checks.isEmpty,
      comment: table.comment.isEmpty ? nil : table.comment)
  }

  /// The attribute type for a column.
  static func known(_ column: CatalogueColumn, isKey: Bool, largestBytes: Int) -> KnownType {
    func plain(_ type: AttributeType, _ length: Int? = nil) -> KnownType {
      .type(type, maxLength: length, precision: nil, scale: nil)
    }
    if isKey, let trouble = column.troubleAsKey {
      return .none(
        reason: "is part of a key and is \(column.declaredType), which \(trouble)",
        cure: "Give the table a key of numbers, texts or dates.")
    }
    switch column.typeName {
    case _ where column.isBoolean && !isKey: return plain(.boolean)
    case "tinyint", "smallint", "mediumint", "int", "bigint", "year": return plain(.long)
    case "float", "double": return plain(.double)
    case "decimal":
      guard let precision = column.precision, precision <= 38 else {
        return .none(
          reason: "is declared \(column.declaredType), and a decimal has at most 38 digits",
          cure: "Declare it with fewer digits, or keep it as text.")
      }
      return .type(.decimal, maxLength: nil, precision: precision, scale: column.scale ?? 0)
    case "date": return plain(.date)
    case "time": return plain(.time)
    case "datetime", "timestamp": return plain(.dateTime)
    case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
      return plain(largestBytes > bigBytes ? .bigBinary : .binary)
    case "char", "varchar": return plain(.string, column.length)
    case "tinytext", "text", "mediumtext", "longtext", "json":
      return plain(largestBytes > bigBytes ? .bigString : .string)
    case "enum", "set", "uuid", "inet4", "inet6": return plain(.string)
    default:
      return .none(
        reason: "is declared \(column.declaredType), for which a model has no type",
        cure: "Keep it in columns of plain types.")
    }
  }

  /// Types that have every value of the column.
  private static func whole(
    _ column: CatalogueColumn, _ known: AttributeType
  ) -> Set<AttributeType> {
    let all: [AttributeType] = [.short, .int, .long]
    switch column.typeName {
    case "tinyint" where !column.isUnsigned && !column.isBoolean:
      return Set([.byte, .integer, .decimal] + all)
    case "tinyint", "year": return Set([known, .integer, .decimal] + all)
    case "smallint": return Set([.int, .long, .integer, .decimal] + (column.isUnsigned ? [] : all))
    case "mediumint": return [.int, .long, .integer, .decimal]
    case "int": return Set([.long, .integer, .decimal] + (column.isUnsigned ? [] : [.int]))
    case "bigint": return Set([.integer, .decimal] + (column.isUnsigned ? [] : [.long]))
    case "float", "double": return column.typeName == "float" ? [.float, .double] : [.double]
    // What is in them is the author's to say.
    case "longtext", "json": return [.string, .bigString, .list, .complex]
    case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
      return [.binary, .bigBinary]
    case "char", "varchar", "tinytext", "text", "mediumtext": return [.string, .bigString]
    default: return [known]
    }
  }

  private static func remark(_ column: CatalogueColumn) -> DatabaseSchema.Remark? {
    if column.typeName == "timestamp" {
      return DatabaseSchema.Remark(
        "is a time stamp of one moment",
        cure: "Devices have it in UTC without a zone: convert it where you show it.")
    }
    guard column.typeName == "bigint", column.isUnsigned else { return nil }
    return DatabaseSchema.Remark(
      "is unsigned, and has numbers above those of a long",
      cure: "If it is no key and has such numbers, write \"type\": \"integer\" into the model.")
  }
}
