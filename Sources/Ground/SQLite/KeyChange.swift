import CSQLite
import CSealedVFS

/// Writes a database anew under another key and puts the new file in the place of the old one.
///
/// The old file is whole until the new one is: complete, checked, synced, and renamed over it. Killed
/// at any point, one of the two stands at the path. Asking again finishes, or finds that it was done.
struct KeyChange {
  let path: String
  let vfs: String?
  var busyTimeoutMilliseconds: Int32 = 0
  /// Gives a connection the collations that the database names.
  var prepare: (Connection) throws(SQLiteError) -> Void = { _ in }

  /// The new file until it is complete.
  private var workPath: String { path + "-sealing" }

  func run(from old: DatabaseKey?, to new: DatabaseKey?) throws(SQLiteError) {
    guard try !isDone(from: old, to: new) else { return }
    let source = try Connection(
      source: path, key: old, busyTimeoutMilliseconds: busyTimeoutMilliseconds, vfs: vfs)
    try prepare(source)
    try lock(source)
    try clear()
    do throws(SQLiteError) {
      try write(source, to: new)
      // A log or journal of the old key must not lie beside the new file.
      for suffix in ["-wal", "-journal"] { try remove(path + suffix) }
      let code = ferry_sealed_replace(vfs, workPath, path)
      guard code == SQLITE_OK else {
        throw SQLiteError(
          code: code, message: "the new file could not replace the old one", subject: path)
      }
    } catch {
      // What is left is cleared by the next opening or the next try; the error that counts is this.
      _ = ferry_sealed_remove(vfs, workPath)
      throw error
    }
  }

  /// Whether an earlier try has got through: then the old key does not open any more.
  private func isDone(from old: DatabaseKey?, to new: DatabaseKey?) throws(SQLiteError) -> Bool {
    let look = try FileLook(path, vfs: vfs)
    try look.requireWhole()
    switch look.file {
    case .missing, .unfinished:
      throw SQLiteError(code: SQLITE_CANTOPEN, message: "there is no database", subject: path)
    case .damaged: throw Sealing.refusal(.damaged, path: path)
    case .foreign: throw Sealing.refusal(.foreign, path: path)
    case .plain:
      if old == nil { return false }
      guard new == nil else { throw Sealing.refusal(.plain, path: path) }
      return true
    case .sealed(let header):
      do throws(SQLiteError) {
        if let old {
          _ = try Sealing.unlock(header, old, path: path)
          return false
        }
      } catch {
        guard new != nil, error.seal == .wrongKey else { throw error }
      }
      guard let new else { throw Connection.keyMissing(path) }
      _ = try Sealing.unlock(header, new, path: path)
      return true
    }
  }

  /// Nobody else may have the database open: they would go on with a file that has lost its name.
  private func lock(_ source: Connection) throws(SQLiteError) {
    try leaveLog(source)
    try source.execute("PRAGMA locking_mode = EXCLUSIVE")
    // Nothing is written, so no journal comes to be; the lock stays until the connection is closed.
    try source.execute("BEGIN EXCLUSIVE; COMMIT")
    guard try source.value("PRAGMA journal_mode") == .text("delete") else { throw busy }
  }

  private var busy: SQLiteError {
    SQLiteError(
      code: SQLITE_BUSY, message: "the database is open elsewhere: close it before its key changes",
      subject: path)
  }

  /// Takes all of the log into the file. SQLite does not wait for others here, so this does: the
  /// connections of a session that has just ended take a moment to go.
  private func leaveLog(_ source: Connection) throws(SQLiteError) {
    let stepMilliseconds: Int32 = 10
    var waitedMilliseconds: Int32 = 0
    while true {
      do throws(SQLiteError) {
        if try source.value("PRAGMA journal_mode = DELETE") == .text("delete") { return }
      } catch {
        guard error.isBusy else { throw error }
      }
      guard waitedMilliseconds < busyTimeoutMilliseconds else { throw busy }
      sqlite3_sleep(stepMilliseconds)
      waitedMilliseconds += stepMilliseconds
    }
  }

  private func write(_ source: Connection, to new: DatabaseKey?) throws(SQLiteError) {
    let work = workPath
    var sealing: Sealing?
    if let new {
      let pageBytes = max(Int(try source.value("PRAGMA page_size")?.integer ?? 4096), 1024)
      let made = try Sealing.make(new, pageBytes: pageBytes, path: path)
      let code = ferry_sealed_begin(vfs, work, [], -1, made.header.encoded)
      guard code == SQLITE_OK else {
        throw SQLiteError(code: code, message: "the new file could not be created", subject: work)
      }
      let target = Sealing(made.header, made.dataKey)
      sealing = target
      // In this order: the pragma forgets what was reserved.
      if !source.isSealed { try source.execute("PRAGMA page_size = \(pageBytes)") }
      source.reserve(Int32(FERRY_SEAL_RESERVED_BYTES))
      let uri = try target.uri(path: work, vfs: Sealing.vfs(over: vfs, path: work))
      defer { ferry_sealed_withdraw(uri.offer) }
      try source.run("VACUUM INTO ?", .text(uri.text))
    } else {
      let name = vfs ?? Connection.systemVFS
      try source.run("VACUUM INTO ?", .text(Sealing.uri(path: work, vfs: name)))
    }
    let copy = try Connection(path: work, mode: .readWrite, vfs: vfs, sealing: sealing)
    try prepare(copy)
    guard try copy.value("PRAGMA quick_check") == .text("ok") else {
      throw SQLiteError(
        code: SQLITE_CORRUPT, message: "the new file is damaged; the old file was not changed",
        subject: path
      )
    }
  }

  private func remove(_ path: String) throws(SQLiteError) {
    let code = ferry_sealed_remove(vfs, path)
    guard code == SQLITE_OK else {
      throw SQLiteError(code: code, message: "the file could not be removed", subject: path)
    }
  }

  private func clear() throws(SQLiteError) {
    for suffix in ["", "-journal", "-wal"] { try remove(workPath + suffix) }
  }

  /// Removes what a change that was killed has left, unless one is at work just now: it holds the
  /// lock from its first byte to its last.
  func sweep(_ sealing: Sealing) throws(SQLiteError) {
    guard try FileLook(workPath, vfs: vfs).file != .missing else { return }
    let connection = try Connection(
      path: path, mode: .readWrite, busyTimeoutMilliseconds: 0, vfs: vfs, sealing: sealing)
    // Nobody has asked yet whether the database is one of ours.
    connection.leavesFoundLog()
    do { try connection.execute("BEGIN IMMEDIATE") } catch {
      if error.isBusy { return }
      throw error
    }
    try clear()
    try connection.execute("ROLLBACK")
  }
}
