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
    do {
      try Connection.changeKey(path: path, from: old, to: new, prepare: Database.prepare)
    } catch {
      throw Store.failure(error, path: path)
    }
  }

  /// Seals a plain database, in the way of `changeKey`.
  public static func seal(at path: String, key: DatabaseKey) throws(FerryError) {
    do { try Connection.seal(path: path, key: key, prepare: Database.prepare) } catch {
      throw Store.failure(error, path: path)
    }
  }

  /// Makes a sealed database plain, in the way of `changeKey`.
  public static func unseal(at path: String, key: DatabaseKey) throws(FerryError) {
    do { try Connection.unseal(path: path, key: key, prepare: Database.prepare) } catch {
      throw Store.failure(error, path: path)
    }
  }

  private static func prepare(_ connection: Connection) throws(SQLiteError) {
    try connection.addNumberFunctions()
  }
}
