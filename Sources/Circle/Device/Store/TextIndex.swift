import FerryModel
import FerrySQLite

/// The full-text index of an entity: a table of FTS5 that triggers keep in every transaction that
/// changes a visible row, and that is made anew when the model chooses other attributes.
///
/// It holds words and no texts, in the same file, so a sealed database seals it.
struct TextIndex {
  let entity: Entity

  private var columns: [String] {
    entity.attributes.filter(\.fullText).map { quoted($0.name) }
  }

  /// What the index is made of; another text is another index. The number at the beginning is
  /// raised when the index changes its shape.
  private var form: String { columns.isEmpty ? "" : "2 \(columns.joined(separator: ","))" }
  private var setting: String { "textIndex:\(entity.name)" }

  func prepare(_ connection: Connection) throws(SQLiteError) {
    let known = try connection.value(
      "SELECT value FROM ferry_setting WHERE name = ?", .text(setting))?.text
    guard known ?? "" != form else { return }
    let table = Schema.textIndex(entity)
    for name in ["i", "u", "d"] {
      try connection.execute("DROP TRIGGER IF EXISTS \(trigger(name))")
    }
    try connection.execute("DROP TABLE IF EXISTS \(table)")
    if known?.hasPrefix("1 ") == true {
      try connection.execute("DROP TABLE IF EXISTS \(quoted("ferry_text_\(entity.name)"))")
    }
    if !columns.isEmpty {
      for statement in statements { try connection.execute(statement) }
      try connection.execute("INSERT INTO \(table) (\(table)) VALUES ('rebuild')")
    }
    try connection.run(
      "INSERT OR REPLACE INTO ferry_setting (name, value) VALUES (?, ?)", .text(setting),
      .text(form))
  }

  /// Before tables change their shape; `prepare` makes the indexes again.
  static func removeAll(_ connection: Connection) throws(SQLiteError) {
    let found = try connection.rows(
      """
      SELECT type, name FROM sqlite_schema WHERE name LIKE 'ferry\\_text\\_%' ESCAPE '\\'
      AND (type = 'trigger' OR sql LIKE 'CREATE VIRTUAL TABLE%') ORDER BY type DESC
      """)
    for row in found {
      guard let type = row[0].text, let name = row[1].text else { continue }
      try connection.execute("DROP \(type.uppercased()) \(quoted(name))")
    }
    try connection.execute("DELETE FROM ferry_setting WHERE name LIKE 'textIndex:%'")
  }

  private func trigger(_ name: String) -> String { quoted("ferry_text_\(entity.name)_\(name)") }

  private var statements: [String] {
    let (table, visible) = (Schema.textIndex(entity), Schema.table(entity))
    let list = columns.joined(separator: ", ")
    let new = columns.map { "new.\($0)" }.joined(separator: ", ")
    let old = columns.map { "old.\($0)" }.joined(separator: ", ")
    let changed = columns.map { "old.\($0) IS NOT new.\($0)" }.joined(separator: " OR ")
    let add = "INSERT INTO \(table) (rowid, \(list)) VALUES (new._id, \(new));"
    let remove =
      "INSERT INTO \(table) (\(table), rowid, \(list)) VALUES ('delete', old._id, \(old));"
    return [
      """
      CREATE VIRTUAL TABLE \(table) USING fts5(\(list), content=\(visible), content_rowid='_id',
        tokenize='unicode61 remove_diacritics 2')
      """,
      "CREATE TRIGGER \(trigger("i")) AFTER INSERT ON \(visible) BEGIN \(add) END",
      "CREATE TRIGGER \(trigger("d")) AFTER DELETE ON \(visible) BEGIN \(remove) END",
      """
      CREATE TRIGGER \(trigger("u")) AFTER UPDATE OF \(list) ON \(visible) WHEN \(changed)
      BEGIN \(remove) \(add) END
      """,
    ]
  }
}

extension Schema {
  /// No entity has a point in its name: none can have the name of a table that FTS5 keeps beside the
  /// index, which is this one's with `_data` and the like behind it.
  package static func textIndex(_ entity: Entity) -> String { quoted("ferry_text_\(entity.name).") }
}
