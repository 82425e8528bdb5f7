public import FerrySQLite

/// The key of a sealed database. This alias lets an app use the type with `import Ferry` alone.
public typealias DatabaseKey = FerrySQLite.DatabaseKey

extension FerryDatabase {
  /// Gives the sealed database at `path` another key (the reference's `changeEncryptionKey`); the
  /// old key does not open it any more.
  ///
  /// No `FerryDatabase` may be open on it. The whole file is written again, which needs as much free
  /// space again. If the process is killed, the file opens with the old or the new key, and another
  /// call finishes the change. Blocks its thread meanwhile.
  public static func changeKey(
    at path: String, from old: DatabaseKey, to new: DatabaseKey
  ) throws(FerryError) {
    try rewrite(path) { prepare throws(SQLiteError) in
      try Connection.changeKey(path: path, from: old, to: new, prepare: prepare)
    }
  }

  /// Seals a plain database; see `changeKey` for its effects.
  ///
  /// Throws `.otherOwner` for a database that is not a device's, and does not change it; so do
  /// `unseal` and `changeKey`.
  public static func seal(at path: String, key: DatabaseKey) throws(FerryError) {
    try rewrite(path) { prepare throws(SQLiteError) in
      try Connection.seal(path: path, key: key, prepare: prepare)
    }
  }

  /// Makes a sealed database plain; see `changeKey` for its effects.
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
    SQLiteError(code: 1, message: "this is not a device's database", subject: path)
  }
}
