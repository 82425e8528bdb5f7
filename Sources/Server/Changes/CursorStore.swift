import FerrySQLite

/// The cursor up to which the cache has what the business system has.
struct CursorStore {
  let store: Store

  func read() throws(SQLiteError) -> String? {
    try store.writer.value(
      "SELECT text FROM source_cursor WHERE package = ?", .integer(store.packageNumber))?.text
  }

  func keep(_ cursor: String) throws(SQLiteError) {
    try store.writer.run(
      """
      INSERT INTO source_cursor (package, text) VALUES (?, ?)
      ON CONFLICT DO UPDATE SET text = excluded.text
      """, .integer(store.packageNumber), .text(cursor))
  }
}
