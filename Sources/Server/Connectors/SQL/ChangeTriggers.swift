import FerryConnector
import FerryModel
import FerrySQLite

/// What Ferry needs in a SQLite database to learn by triggers what others change, as statements.
package struct SQLitePreparation: Sendable {
  private let tables: [ChangeTriggers]
  /// Tables that get no triggers, each with the reason.
  package let leftOut: [(table: String, reason: String)]
  /// Where the package does not fit the database: a server would not start with both.
  package let mismatches: [String]

  /// For the tables of the package that are there.
  package init(_ package: Package, _ connection: Connection) throws(SQLiteError) {
    var tables: [ChangeTriggers] = []
    var leftOut: [(table: String, reason: String)] = []
    var seen: Set<String> = []
    for entity in package.served.entities where !entity.isOperation {
      guard let schema = try TableSchema(entity.table, in: connection),
        seen.insert(schema.name.lowercased()).inserted
      else { continue }
      if let reason = try ChangeTriggers.obstacle(entity, schema, connection) {
        leftOut.append((schema.name, reason))
      } else {
        tables.append(try ChangeTriggers(entity, schema, connection))
      }
    }
    self.tables = tables
    self.leftOut = leftOut
    mismatches = try SchemaComparison(connection).mismatches(with: package.served).map(
      \.description)
  }

  /// Makes what is not there yet; may be run again.
  package var statements: [String] {
    [AppliedOperations.creation] + ChangeTriggers.tables + tables.flatMap(\.removal)
      + tables.flatMap(\.statements)
  }

  /// Takes everything away.
  package var removal: [String] {
    tables.flatMap(\.removal)
      + ["ferry_change", "ferry_mark", "ferry_database", "ferry_applied"].map {
        "DROP TABLE IF EXISTS \($0)"
      }
  }
}

/// The triggers of one table. Each changed row makes an entry with the model's key before and after.
struct ChangeTriggers: Sendable {
  /// Columns of a key; a table with more is compared.
  static let keyColumns: Int = 6

  static let tables: [String] = [
    """
    CREATE TABLE IF NOT EXISTS ferry_change (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      at INTEGER NOT NULL DEFAULT (CAST(strftime('%s', 'now') AS INTEGER)),
      "table" TEXT NOT NULL, \((0..<keyColumns).map { "key\($0)" }.joined(separator: ", ")))
    """,
    """
    CREATE TABLE IF NOT EXISTS ferry_mark (
      consumer TEXT NOT NULL PRIMARY KEY, epoch TEXT NOT NULL, number INTEGER NOT NULL,
      at INTEGER NOT NULL) WITHOUT ROWID
    """,
    // The number of the last entry that was removed.
    """
    CREATE TABLE IF NOT EXISTS ferry_database (
      one INTEGER PRIMARY KEY CHECK (one = 1), name TEXT NOT NULL, floor INTEGER NOT NULL)
    """,
    "INSERT OR IGNORE INTO ferry_database VALUES (1, lower(hex(randomblob(16))), 0)",
  ]

  /// Columns that an index keeps unique, each with its collation.
  private typealias Unique = [(column: String, collation: String)]

  private let table: String
  private let key: [String]
  private let uniques: [[(column: String, collation: String)]]

  init(_ entity: Entity, _ schema: TableSchema, _ connection: Connection) throws(SQLiteError) {
    table = schema.name
    key = entity.key.map { entity.attributes[$0].column }
    var uniques: [Unique] = []
    for index in try ChangeTriggers.uniqueIndexes(schema, connection) {
      let columns = try connection.rows(
        "SELECT name, coll FROM pragma_index_xinfo(?) WHERE key = 1 ORDER BY seqno", index.name)
      uniques.append(columns.map { ($0[0].text ?? "", $0[1].text ?? "BINARY") })
    }
    if schema.isKeyTheRowID { uniques.append([(schema.keyColumns[0], "BINARY")]) }
    self.uniques = uniques
  }

  private struct Index {
    let name: SQLiteValue
    let isPartial: Bool
  }

  private static func uniqueIndexes(
    _ schema: TableSchema, _ connection: Connection
  ) throws(SQLiteError) -> [Index] {
    try connection.rows(
      "SELECT name, partial FROM pragma_index_list(?) WHERE \"unique\" = 1", .text(schema.name)
    ).map { Index(name: $0[0], isPartial: $0[1].integer == 1) }
  }

  /// Why changes of the table cannot be noted; nil where they can.
  static func obstacle(
    _ entity: Entity, _ schema: TableSchema, _ connection: Connection
  ) throws(SQLiteError) -> String? {
    if schema.isView { return "is a view" }
    let kind = try connection.value(
      "SELECT type FROM pragma_table_list WHERE schema = 'main' AND name = ?", .text(schema.name))
    if kind?.text != "table" { return "is a virtual table" }
    if entity.key.count > keyColumns { return "has a key of more than \(keyColumns) columns" }
    for index in try uniqueIndexes(schema, connection) {
      let columns = try connection.rows(
        "SELECT name FROM pragma_index_xinfo(?) WHERE key = 1", index.name)
      if index.isPartial || columns.contains(where: { $0[0].isNull }) {
        return "has a unique index of expressions or of some rows only, by which REPLACE may "
          + "remove a row unseen"
      }
    }
    return nil
  }

  var statements: [String] {
    let differs = key.map { "OLD.\(quoted($0)) IS NOT NEW.\(quoted($0))" }
    return [
      trigger("insert", "AFTER INSERT", nil, [entry(key.map { "NEW.\(quoted($0))" })]),
      trigger("update", "AFTER UPDATE", nil, [entry(key.map { "NEW.\(quoted($0))" })]),
      trigger(
        "rename", "AFTER UPDATE", differs.joined(separator: " OR "),
        [entry(key.map { "OLD.\(quoted($0))" })]),
      trigger("delete", "AFTER DELETE", nil, [entry(key.map { "OLD.\(quoted($0))" })]),
      trigger("replace", "BEFORE INSERT", nil, uniques.map { replaced($0, isUpdate: false) }),
      trigger("replaceby", "BEFORE UPDATE", nil, uniques.map { replaced($0, isUpdate: true) }),
    ].compactMap { $0 }
  }

  private static let names: [String] = [
    "insert", "update", "rename", "delete", "replace", "replaceby",
  ]

  var removal: [String] { ChangeTriggers.names.map { "DROP TRIGGER IF EXISTS \(name($0))" } }

  private func name(_ kind: String) -> String { quoted("ferry_\(kind)_\(table)") }

  private func trigger(
    _ kind: String, _ event: String, _ condition: String?, _ actions: [String]
  ) -> String? {
    guard !actions.isEmpty else { return nil }
    return """
      CREATE TRIGGER \(name(kind)) \(event) ON \(quoted(table)) FOR EACH ROW\
      \(condition.map { " WHEN \($0)" } ?? "") BEGIN
        \(actions.joined(separator: ";\n  "));
      END
      """
  }

  private var target: String {
    let columns = key.indices.map { "key\($0)" }.joined(separator: ", ")
    return "INSERT INTO ferry_change (\"table\", \(columns))"
  }

  private func entry(_ values: [String]) -> String {
    "\(target) VALUES (\(quotedText(table)), \(values.joined(separator: ", ")))"
  }

  /// REPLACE removes rows that share a unique key without firing a trigger for them.
  private func replaced(
    _ unique: [(column: String, collation: String)], isUpdate: Bool
  ) -> String {
    var conditions = unique.map {
      "t.\(quoted($0.column)) = NEW.\(quoted($0.column)) COLLATE \($0.collation)"
    }
    if isUpdate {
      let others = key.map { "t.\(quoted($0)) IS NOT OLD.\(quoted($0))" }
      conditions.append("(\(others.joined(separator: " OR ")))")
    }
    let values = key.map { "t.\(quoted($0))" }.joined(separator: ", ")
    return """
      \(target) SELECT \(quotedText(table)), \(values) FROM \(quoted(table)) AS t \
      WHERE \(conditions.joined(separator: " AND "))
      """
  }
}
