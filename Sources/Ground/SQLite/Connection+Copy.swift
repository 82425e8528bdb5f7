import CSQLite

extension Connection {
  /// Copies the database as it is now into a new file. Other connections go on writing meanwhile; the
  /// log cannot be shortened until the copy has ended.
  ///
  /// `progress` is called after each part with the pages that are copied, and all there are. What it
  /// throws ends the copy. Errors: what either file answers; the new file is not whole then.
  public func copy(
    to path: String, progress: (_ done: Int, _ total: Int) -> Void
  ) throws(SQLiteError) {
    let target = try Connection(path: path)
    // A read that is open keeps all parts of one state.
    try execute("BEGIN")
    defer { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
    _ = try value("SELECT count(*) FROM sqlite_schema")
    guard let copy = sqlite3_backup_init(target.handle, "main", handle, "main") else {
      throw target.failure(sqlite3_errcode(target.handle), path)
    }
    var code = SQLITE_OK
    while code == SQLITE_OK {
      code = sqlite3_backup_step(copy, Connection.copiedPages)
      let total = Int(sqlite3_backup_pagecount(copy))
      progress(total - Int(sqlite3_backup_remaining(copy)), total)
    }
    let end = sqlite3_backup_finish(copy)
    guard code == SQLITE_DONE, end == SQLITE_OK else {
      throw target.failure(code == SQLITE_DONE ? end : code, path)
    }
    // One file, whole by itself.
    try target.execute("PRAGMA journal_mode = DELETE")
  }

  /// 4 MB with the usual pages.
  private static let copiedPages: Int32 = 1_024
}
