public import FerrySQLite

/// What opens a sealed database, under the name by which an app finds it with Ferry alone.
public typealias DatabaseKey = FerrySQLite.DatabaseKey

extension Database {
  /// Gives the sealed database at `path` another key (the reference's `changeEncryptionKey`); the old
  /// one opens nothing of it any more.
  ///
  /// No `Database` may be open on it. All of it is written anew, with as much free space again;
  /// killed at any point it opens with the old key or with the new one, and asking again finishes.
  /// Blocks its thread for as long as that takes.
  public static func changeKey(
    at path: String, from old: DatabaseKey, to new: DatabaseKey
  ) throws(FerryError) {
    try rewrite(path) { prepare throws(SQLiteError) in
      try Connection.changeKey(path: path, from: old, to: new, prepare: prepare)
    }
  }

  /// Seals a plain database, in the way of `changeKey`.
  ///
  /// Throws `.otherOwner` for a database that is none of a device, and leaves it as it is; so do
  /// `unseal` and `changeKey`.
  public static func seal(at path: String, key: DatabaseKey) throws(FerryError) {
    try rewrite(path) { prepare throws(SQLiteError) in
      try Connection.seal(path: path, key: key, prepare: prepare)
    }
  }

  /// Makes a sealed database plain, in the way of `changeKey`.
  public static func unseal(at path: String, key: DatabaseKey) throws(FerryError) {
    try rewrite(path) { prepare throws(SQLiteError) in
      try Connection.unseal(path: path, key: key, prepare: prepare)
    }
  }

  private typealias Prepare = (Connection) throws(SQLiteError) -> Void

  private static func rewrite(
    _ path: String, _ change: (@escaping Prepare) throws(SQLiteError) -> Void
  ) throws(FerryError) {
    var refusal: FerryError?
    do {
      try change { connection throws(SQLiteError) in
        do { try FileOwner(connection).check() } catch {
          refusal = error as? FerryError
          throw error as? SQLiteError ?? SQLiteError.notOurs(path)
        }
        try connection.addNumberFunctions()
      }
    } catch {
      throw refusal ?? Store.failure(error, path: path)
    }
  }
}

extension SQLiteError {
  /// Ends the rewriting; the app hears the refusal that came before it.
  fileprivate static func notOurs(_ path: String) -> SQLiteError {
    SQLiteError(code: 1, message: "this database is none of a device", subject: path)
  }
}
