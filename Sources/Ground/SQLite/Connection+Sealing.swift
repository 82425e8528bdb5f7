import CSQLite
import CSealedVFS

extension Connection {
  /// Opens a sealed database with its key, or makes one. For several connections to one database,
  /// unlock once with `Sealing` and give that to each.
  ///
  /// Throws with `seal` `.wrongKey`, `.notSealed`, `.damaged` or `.foreign` before anything is
  /// touched. A key cannot be set later: the pragmas of other ciphers are refused.
  public convenience init(
    path: String, key: DatabaseKey, mode: Mode = .readWriteCreate,
    busyTimeoutMilliseconds: Int32 = 5_000, vfs: String? = nil
  ) throws(SQLiteError) {
    let sealing = try Sealing(path: path, key: key, mode: mode, vfs: vfs)
    try self.init(
      path: path, mode: mode, busyTimeoutMilliseconds: busyTimeoutMilliseconds, vfs: vfs,
      sealing: sealing)
  }

  /// Seals a plain database in place.
  ///
  /// All of it is written anew beside the old file and then takes its name; killed at any point, the
  /// database is plain or sealed and whole, and asking again finishes. Needs the database for itself
  /// and as much free space again. What the flash of a device has once held in plain stays there
  /// until it is overwritten. `prepare` gives a connection the collations that the database names.
  public static func seal(
    path: String, key: DatabaseKey, busyTimeoutMilliseconds: Int32 = 5_000, vfs: String? = nil,
    prepare: @escaping (Connection) throws(SQLiteError) -> Void = { _ in }
  ) throws(SQLiteError) {
    try KeyChange(
      path: path, vfs: vfs, busyTimeoutMilliseconds: busyTimeoutMilliseconds, prepare: prepare
    ).run(from: nil, to: key)
  }

  /// Makes a sealed database plain, in the way of `seal`.
  public static func unseal(
    path: String, key: DatabaseKey, busyTimeoutMilliseconds: Int32 = 5_000, vfs: String? = nil,
    prepare: @escaping (Connection) throws(SQLiteError) -> Void = { _ in }
  ) throws(SQLiteError) {
    try KeyChange(
      path: path, vfs: vfs, busyTimeoutMilliseconds: busyTimeoutMilliseconds, prepare: prepare
    ).run(from: key, to: nil)
  }

  /// Gives a sealed database another key, in the way of `seal`: every page is sealed anew under a
  /// new data key, so the old key opens nothing of it any more.
  public static func changeKey(
    path: String, from old: DatabaseKey, to new: DatabaseKey,
    busyTimeoutMilliseconds: Int32 = 5_000, vfs: String? = nil,
    prepare: @escaping (Connection) throws(SQLiteError) -> Void = { _ in }
  ) throws(SQLiteError) {
    try KeyChange(
      path: path, vfs: vfs, busyTimeoutMilliseconds: busyTimeoutMilliseconds, prepare: prepare
    ).run(from: old, to: new)
  }

  /// What was noticed when this connection recovered a log or journal: a part that did not open,
  /// because a crash has torn it or because it was damaged. nil when there was nothing.
  public var sealNotice: String? {
    let text = String(cString: ferry_sealed_notice(UnsafeMutableRawPointer(handle), "main"))
    return text.isEmpty ? nil : text
  }

  /// SQLite's own sentence says where it stopped; the VFS knows why.
  func sealedFailure(_ error: SQLiteError) -> SQLiteError {
    guard [SQLITE_IOERR, SQLITE_CANTOPEN].contains(error.primaryCode) else { return error }
    let reason = String(cString: ferry_sealed_reason())
    guard !reason.isEmpty else { return error }
    return SQLiteError(
      code: error.code, message: "\(error.message): \(reason)", subject: error.subject,
      seal: error.code == SQLiteError.damaged ? .damaged : .refused)
  }

  /// To a connection without key a sealed database is no database; its header tells.
  func unsealedFailure(_ error: SQLiteError, path: String, vfs: String?) -> SQLiteError {
    guard error.isNotADatabase, case .sealed? = try? FileLook(path, vfs: vfs).file else {
      return error
    }
    return Connection.keyMissing(path)
  }

  /// Opens a database whose key is about to change; URIs work, so that the copy can name its VFS.
  convenience init(
    source path: String, key: DatabaseKey?, busyTimeoutMilliseconds: Int32, vfs: String?
  ) throws(SQLiteError) {
    if let key {
      try self.init(
        path: path, key: key, mode: .readWrite, busyTimeoutMilliseconds: busyTimeoutMilliseconds,
        vfs: vfs)
    } else {
      try self.init(
        opening: Sealing.uri(path: path, vfs: vfs ?? Connection.systemVFS), path: path,
        mode: .readWrite, busyTimeoutMilliseconds: busyTimeoutMilliseconds, vfs: vfs,
        sealing: nil)
    }
  }

  static var systemVFS: String {
    sqlite3_vfs_find(nil).map { String(cString: $0.pointee.zName) } ?? "unix"
  }

  static func keyMissing(_ path: String) -> SQLiteError {
    SQLiteError(
      code: SQLITE_NOTADB, message: "the database is sealed: open it with its key", subject: path,
      seal: .keyMissing)
  }

  /// Asks for room at the end of each page of what is written anew.
  func reserve(_ bytes: Int32) {
    var bytes = bytes
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes)
  }
}

/// What is wrong between a key and a database.
public enum SealProblem: Sendable, Equatable {
  /// The key is not the database's.
  case wrongKey
  /// A key was given for a database that is not sealed.
  case notSealed
  /// No key was given for a database that is sealed.
  case keyMissing
  /// Something in the file does not open under the right key; the message names it.
  case damaged
  /// No database, or one of a later version.
  case foreign
  /// What was asked for is not done with a sealed database.
  case refused
}
