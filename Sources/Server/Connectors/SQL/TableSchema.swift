import FerrySQLite

/// A table of the business database as SQLite describes it.
struct TableSchema: Sendable {
  struct Column: Sendable {
    let name: String
    let declaredType: String
    let isRequired: Bool
    let hasDefault: Bool
    /// Place in the primary key from 1; 0 when it is not part of it.
    let keyPlace: Int
    let isGenerated: Bool
    /// In an index or a foreign key: SQLite opens no stretch of it to write into.
    let isIndexed: Bool
    /// Position among the stored columns; nil for a virtual generated column.
    let storedPosition: Int?
  }

  let name: String
  let isView: Bool
  let isWithoutRowID: Bool
  /// Whether texts stand in the file as UTF-8.
  let isUTF8: Bool
  let columns: [Column]

  /// Nil when there is no such table.
  init?(_ table: String, in connection: Connection) throws(SQLiteError) {
    let described = try connection.row(
      """
      SELECT name, type, wr FROM pragma_table_list
      WHERE schema = 'main' AND lower(name) = lower(?)
      """, .text(table))
    guard let described, let name = described[0].text else { return nil }
    self.name = name
    isView = described[1].text == "view"
    isWithoutRowID = described[2].integer == 1
    isUTF8 = try connection.value("PRAGMA encoding")?.text == "UTF-8"
    var stored = 0
    var columns: [Column] = []
    let rows = try connection.rows(
      """
      SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?) ORDER BY cid
      """, .text(name))
    let indexed = try TableSchema.indexedColumns(of: name, connection)
    for row in rows {
      let isVirtual = row[5].integer == 2
      columns.append(
        Column(
          name: row[0].text ?? "", declaredType: row[1].text ?? "", isRequired: row[2].integer == 1,
          hasDefault: !row[3].isNull, keyPlace: Int(row[4].integer ?? 0),
          isGenerated: isVirtual || row[5].integer == 3,
          isIndexed: indexed.contains((row[0].text ?? "").lowercased()) || indexed.contains(""),
          storedPosition: isVirtual ? nil : stored))
      if !isVirtual { stored += 1 }
    }
    self.columns = columns
  }

  /// In small letters; an empty name for an expression, which may name any column.
  private static func indexedColumns(
    of table: String, _ connection: Connection
  ) throws(SQLiteError) -> Set<String> {
    let names = try connection.rows(
      """
      SELECT lower(coalesce(place.name, '')) FROM pragma_index_list(?1) AS list
      JOIN pragma_index_info(list.name) AS place
      UNION SELECT lower("from") FROM pragma_foreign_key_list(?1)
      """, .text(table))
    return Set(names.compactMap { $0[0].text })
  }

  func column(named name: String) -> Column? {
    let wanted = name.lowercased()
    return columns.first { $0.name.lowercased() == wanted }
  }

  var keyColumns: [String] {
    columns.filter { $0.keyPlace > 0 }.sorted { $0.keyPlace < $1.keyPlace }.map(\.name)
  }

  /// A single INTEGER PRIMARY KEY is another name of the row id.
  var isKeyTheRowID: Bool {
    let key = columns.filter { $0.keyPlace > 0 }
    return !isWithoutRowID && key.count == 1 && key[0].declaredType.uppercased() == "INTEGER"
  }

  /// A name by which a statement reaches the row id, nil where there is none.
  var rowIDName: String? {
    isWithoutRowID ? nil : ["_rowid_", "rowid", "oid"].first { column(named: $0) == nil }
  }

  /// Whether some unique index is made of just these columns.
  func isUnique(_ names: [String], in connection: Connection) throws(SQLiteError) -> Bool {
    let wanted = Set(names.map { $0.lowercased() })
    if Set(keyColumns.map { $0.lowercased() }) == wanted { return true }
    let indexes = try connection.rows(
      "SELECT name FROM pragma_index_list(?) WHERE \"unique\" = 1 AND partial = 0", .text(name))
    for index in indexes {
      let columns = try connection.rows("SELECT name FROM pragma_index_info(?)", index)
      if Set(columns.map { ($0[0].text ?? "").lowercased() }) == wanted { return true }
    }
    return false
  }
}

/// A foreign key of the business database.
struct ForeignKey: Sendable {
  let child: String
  let childColumns: [String]
  let parent: String
  let parentColumns: [String]

  /// All that leave from the table, in the schema's order.
  static func from(_ table: String, in connection: Connection) throws(SQLiteError) -> [ForeignKey] {
    let rows = try connection.rows(
      """
      SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id DESC, seq
      """, .text(table))
    var keys: [ForeignKey] = []
    var index = rows.startIndex
    while index < rows.endIndex {
      let end = rows[index...].firstIndex { $0[0] != rows[index][0] } ?? rows.endIndex
      let part = rows[index..<end]
      index = end
      guard let parent = part.first?[1].text else { continue }
      let named = part.compactMap { $0[3].text }
      let target = named.count == part.count ? named : try keyColumns(of: parent, connection)
      let source = part.compactMap { $0[2].text }
      guard target.count == source.count else { continue }
      keys.append(
        ForeignKey(child: table, childColumns: source, parent: parent, parentColumns: target))
    }
    return keys
  }

  /// All that lead to the table, from any table.
  static func to(_ table: String, in connection: Connection) throws(SQLiteError) -> [ForeignKey] {
    let tables = try connection.rows(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name")
    var keys: [ForeignKey] = []
    for name in tables.compactMap({ $0[0].text }) {
      keys += try from(name, in: connection).filter { $0.parent.lowercased() == table.lowercased() }
    }
    return keys
  }

  private static func keyColumns(
    of table: String, _ connection: Connection
  ) throws(SQLiteError) -> [String] {
    try TableSchema(table, in: connection)?.keyColumns ?? []
  }
}
