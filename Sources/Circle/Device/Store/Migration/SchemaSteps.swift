import FerryModel
import FerrySQLite

/// Brings the device's own tables of an older version to this one, step by step, in the transaction
/// that opens the database. What is pending stays as it is.
///
/// Tables that are new need no step: they are made when they are missing. The model's version is
/// another matter (`Migration`).
struct SchemaSteps {
  let connection: Connection

  /// `known` is the version of the file, at least 1.
  func run(from known: Int64) throws(SQLiteError) {
    if known < 2 { try countChanges() }
    if known < 4 { try dropIndexes() }
    if known < 5 { try forgetWaits() }
  }

  /// 4 to 5: what waits for what is noted no longer.
  private func forgetWaits() throws(SQLiteError) {
    for what in [
      "TRIGGER IF EXISTS ferry_wait_end", "TRIGGER IF EXISTS ferry_wait_change",
      "TABLE IF EXISTS ferry_wait",
    ] { try connection.execute("DROP \(what)") }
  }

  /// 3 to 4: two indexes could have one name, or that of a table. All are made again under new ones.
  private func dropIndexes() throws(SQLiteError) {
    for entity in try entities() {
      let names = try connection.rows(
        "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL",
        .text(entity))
      for name in names.compactMap({ $0[0].text }) {
        try connection.execute("DROP INDEX \(quoted(name))")
      }
    }
  }

  /// 3 to 4: a column of decimals or unbounded integers has their order, so that plain SQL compares
  /// numbers. SQLite changes no column of a table: its rows are copied into another one, with their
  /// numbers and in the same transaction, once for each file, some seconds for a million rows. To
  /// write into `sqlite_schema` instead would copy nothing; the SQLite of Apple's systems refuses it.
  static func remade(_ model: Package, from known: Int64) -> Set<String> {
    guard known > 0, known < 4 else { return [] }
    let entities = model.entities.filter { entity in
      entity.attributes.contains { $0.type == .decimal || $0.type == .integer }
    }
    return Set(entities.map(\.name))
  }

  /// 1 to 2: the reference's counters, and the composite graph that an operation belongs to.
  /// Files of version 1 may have some of it: it came bit by bit.
  private func countChanges() throws(SQLiteError) {
    let hasRoots = try columns(of: "ferry_operation").contains("root_object")
    for column in [
      "counter INTEGER NOT NULL DEFAULT 0", "failure INTEGER NOT NULL DEFAULT 0",
      "root_entity TEXT NOT NULL DEFAULT ''", "root_object INTEGER NOT NULL DEFAULT 0",
    ] {
      try add(column, to: "ferry_operation")
    }
    if !hasRoots {
      try connection.execute(
        """
        UPDATE ferry_operation SET counter = made,
          failure = CASE state WHEN 'replayFailed' THEN made ELSE 0 END,
          root_entity = entity, root_object = object
        """)
    }
    for entity in try entities() where try add("_replay TEXT", to: entity) {
      try connection.run(
        """
        UPDATE \(quoted(entity)) SET _replay = (
          SELECT max(counter) || ' '
            || max(CASE WHEN state IN ('submitted', 'unknown') THEN counter ELSE 0 END) || ' '
            || max(failure)
          FROM ferry_operation WHERE entity = ? AND object = _id AND state <> 'withdrawn')
        WHERE _pending <> 'N'
        """, .text(entity))
    }
  }

  /// Those that the file has tables of, whatever the model says.
  private func entities() throws(SQLiteError) -> [String] {
    try connection.rows(
      """
      SELECT substr(name, 16) FROM sqlite_schema
      WHERE type = 'table' AND name LIKE 'ferry\\_original\\_%' ESCAPE '\\'
      """
    ).compactMap { $0[0].text }
  }

  private func columns(of table: String) throws(SQLiteError) -> Set<String> {
    Set(
      try connection.rows("SELECT name FROM pragma_table_info(?)", .text(table)).compactMap {
        $0[0].text
      })
  }

  /// False when it is there.
  @discardableResult
  private func add(_ column: String, to table: String) throws(SQLiteError) -> Bool {
    let name = String(column.prefix { $0 != " " })
    guard try !columns(of: table).contains(name) else { return false }
    try connection.execute("ALTER TABLE \(quoted(table)) ADD COLUMN \(column)")
    return true
  }
}
