/// What the catalogue says of a table.
package struct CatalogueTable: Sendable, Equatable {
  package let name: String
  /// `InnoDB` for one with transactions; empty for a view.
  package let engine: String
  package let comment: String
  package internal(set) var columns: [CatalogueColumn] = []
  /// Sets of columns that are unique for all rows, by the name of their index; `PRIMARY` among them.
  package internal(set) var uniqueKeys: [String: [String]] = [:]
  /// Foreign keys from the table, and those of others that lead to it.
  package internal(set) var foreignKeys: [CatalogueForeignKey] = []
  /// Rules of the checks by their names.
  package internal(set) var checks: [String: String] = [:]
  /// The customer's own triggers, without those of Ferry.
  package internal(set) var triggers: [String] = []

  package var isView: Bool { engine.isEmpty }
  package var isTransactional: Bool { engine == "InnoDB" }
  /// In the key's order; empty when there is none.
  package var primaryKey: [String] { uniqueKeys["PRIMARY"] ?? [] }
  /// Foreign keys that leave from this table.
  package var outgoing: [CatalogueForeignKey] { foreignKeys.filter { $0.child == name } }
  /// Foreign keys that lead to this table.
  package var incoming: [CatalogueForeignKey] { foreignKeys.filter { $0.parent == name } }

  /// Names of columns have no case there.
  package func column(named name: String) -> CatalogueColumn? {
    columns.first { $0.name == name }
      ?? columns.first { $0.name.lowercased() == name.lowercased() }
  }

  /// Whether some unique index is made of just these columns.
  package func isUnique(_ names: [String]) -> Bool {
    let wanted = Set(names.map { $0.lowercased() })
    return uniqueKeys.values.contains { Set($0.map { $0.lowercased() }) == wanted }
  }
}

/// A column as the catalogue has it.
package struct CatalogueColumn: Sendable, Equatable {
  package let name: String
  /// Name of the type alone: `int`, `varchar`.
  package let typeName: String
  /// As it was declared: `int(10) unsigned`, `enum('a','b')`.
  package let declaredType: String
  package let isNotNull: Bool
  package let hasDefault: Bool
  /// AUTO_INCREMENT: the database gives values to new rows.
  package let isCounted: Bool
  package let isGenerated: Bool
  package let comment: String
  /// Of a text; nil for other types.
  package let collation: String?
  /// Characters or bytes that fit, of texts and bytes.
  package let length: Int?
  /// Of numbers: all digits, and those behind the point.
  package let precision: Int?
  package let scale: Int?
  /// Digits of the fraction of a second, of times.
  package let secondDigits: Int

  package var isUnsigned: Bool { declaredType.hasSuffix("unsigned") }
  /// `BOOLEAN` is another name of `TINYINT(1)`.
  package var isBoolean: Bool {
    declaredType.hasPrefix("tinyint(1)") || typeName == "bit" && precision == 1
  }
  /// Whether the database takes different letters for equal.
  package var foldsLetters: Bool {
    collation.map { !$0.hasSuffix("_bin") && $0 != "binary" } ?? false
  }
  /// Whether equal means the same characters: most collations ignore blanks at the end too.
  package var isExact: Bool {
    collation.map { $0.hasSuffix("nopad_bin") || $0 == "binary" } ?? true
  }

  /// Of an enumeration: its values in their order; else empty.
  package var labels: [String] {
    guard typeName == "enum" else { return [] }
    var labels: [String] = []
    var label: [UInt8] = []
    var isQuoted = false
    // A quote in a label is written twice: it ends the label, and begins it again.
    for byte in declaredType.utf8.dropFirst(5).dropLast() {
      if byte == 0x27 {
        if !isQuoted, !label.isEmpty { label.append(byte) }
        isQuoted.toggle()
      } else if isQuoted {
        label.append(byte)
      } else if byte == 0x2C {
        labels.append(String(decoding: label, as: UTF8.self))
        label = []
      }
    }
    return labels + [String(decoding: label, as: UTF8.self)]
  }
}

/// A foreign key as the catalogue has it.
package struct CatalogueForeignKey: Sendable, Equatable {
  package let name: String
  package let child: String
  package internal(set) var childColumns: [String]
  package let parent: String
  package internal(set) var parentColumns: [String]
  /// `RESTRICT`, `CASCADE`, `SET NULL` or `NO ACTION`.
  package let deleteRule: String
}

/// The tables of the connection's database, without those of Ferry.
package struct Catalogue: Sendable {
  package private(set) var tables: [String: CatalogueTable] = [:]

  /// `names`: which ones; nil for all.
  package init(_ connection: MariaDBConnection, names: Set<String>? = nil) throws(MariaDBError) {
    func each(
      _ sql: String, _ body: (inout CatalogueTable, [String?]) -> Void
    ) throws(MariaDBError) {
      for row in try connection.rows(sql).texts {
        guard let name = row[0], var table = tables[name] else { continue }
        body(&table, row)
        tables[name] = table
      }
    }
    let found = try connection.rows(
      """
      SELECT table_name, engine, table_comment, table_type FROM information_schema.tables
      WHERE table_schema = DATABASE() AND table_name NOT IN (\(Catalogue.own))
      """)
    for row in found.texts {
      guard let name = row[0], names?.contains(name) ?? true else { continue }
      let isTable = row[3] == "BASE TABLE"
      tables[name] = CatalogueTable(
        name: name, engine: isTable ? row[1] ?? "unknown" : "", comment: row[2] ?? "")
    }
    try each(Catalogue.columns) { $0.columns.append(CatalogueColumn(row: $1)) }
    try each(Catalogue.indexes) {
      $0.uniqueKeys[$1[1] ?? "", default: []].append($1[2] ?? "")
    }
    if connection.isMariaDB {
      try each(
        """
        SELECT table_name, constraint_name, check_clause FROM information_schema.check_constraints
        WHERE constraint_schema = DATABASE() ORDER BY 1, 2
        """
      ) { $0.checks[$1[1] ?? ""] = $1[2] ?? "" }
    }
    try each(
      """
      SELECT event_object_table, trigger_name FROM information_schema.triggers
      WHERE trigger_schema = DATABASE() AND trigger_name NOT LIKE 'ferry|_%' ESCAPE '|' ORDER BY 1, 2
      """
    ) { $0.triggers.append($1[1] ?? "") }
    try readForeignKeys(connection)
  }

  private mutating func readForeignKeys(_ connection: MariaDBConnection) throws(MariaDBError) {
    var keys: [CatalogueForeignKey] = []
    for row in try connection.rows(Catalogue.references).texts {
      let (name, child, parent) = (row[0] ?? "", row[1] ?? "", row[3] ?? "")
      if keys.last?.name != name || keys.last?.child != child {
        keys.append(
          CatalogueForeignKey(
            name: name, child: child, childColumns: [], parent: parent, parentColumns: [],
            deleteRule: row[5] ?? ""))
      }
      keys[keys.count - 1].childColumns.append(row[2] ?? "")
      keys[keys.count - 1].parentColumns.append(row[4] ?? "")
    }
    for key in keys {
      for name in Set([key.child, key.parent]) { tables[name]?.foreignKeys.append(key) }
    }
  }

  /// The tables that Ferry makes.
  package static let ownTables: [String] = [
    "ferry_applied", "ferry_leader", "ferry_change", "ferry_mark", "ferry_database",
  ]
  private static var own: String { ownTables.map(quotedText).joined(separator: ", ") }

  private static let columns: String = """
    SELECT table_name, column_name, data_type, column_type, is_nullable, column_default, extra,
      generation_expression, column_comment, collation_name, character_maximum_length,
      numeric_precision, numeric_scale, datetime_precision
    FROM information_schema.columns WHERE table_schema = DATABASE()
    ORDER BY table_name, ordinal_position
    """

  private static let indexes: String = """
    SELECT table_name, index_name, column_name FROM information_schema.statistics
    WHERE table_schema = DATABASE() AND non_unique = 0 ORDER BY table_name, index_name, seq_in_index
    """

  private static let references: String = """
    SELECT k.constraint_name, k.table_name, k.column_name, k.referenced_table_name,
      k.referenced_column_name, r.delete_rule
    FROM information_schema.key_column_usage AS k
    JOIN information_schema.referential_constraints AS r
      ON r.constraint_schema = k.constraint_schema AND r.constraint_name = k.constraint_name
      AND r.table_name = k.table_name
    WHERE k.table_schema = DATABASE() AND k.referenced_table_schema = DATABASE()
    ORDER BY k.table_name, k.constraint_name, k.ordinal_position
    """
}

extension CatalogueColumn {
  /// A row of the catalogue.
  init(row: [String?]) {
    let extra = (row[6] ?? "").lowercased()
    func number(_ place: Int) -> Int? { row[place].flatMap { Int($0) } }
    self.init(
      name: row[1] ?? "", typeName: (row[2] ?? "").lowercased(),
      declaredType: row[3] ?? "", isNotNull: row[4] == "NO",
      // MariaDB writes the default NULL as a word.
      hasDefault: row[5].map { $0 != "NULL" } ?? false,
      isCounted: extra.contains("auto_increment"),
      isGenerated: row[7].map { !$0.isEmpty } ?? false, comment: row[8] ?? "", collation: row[9],
      length: number(10), precision: number(11), scale: number(12), secondDigits: number(13) ?? 0)
  }
}
