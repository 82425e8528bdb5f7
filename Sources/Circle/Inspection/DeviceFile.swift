import Ferry
import FerrySQLite

/// A device's database, read from outside: nothing is changed, and the app may be running.
///
/// Not for two threads at one time.
package final class DeviceFile {
  package let path: String
  private let connection: Connection

  /// `FerryError.wrongKey` where the key is missing, wrong or not needed, `.store` when there is no
  /// database at the path. A passphrase takes a good part of a second.
  package init(path: String, key: DatabaseKey? = nil) throws(FerryError) {
    self.path = path
    do throws(SQLiteError) {
      var sealing: Sealing?
      if let key { sealing = try Sealing(path: path, key: key, mode: .readOnly) }
      connection = try Connection(path: path, mode: .readOnly, sealing: sealing)
      try connection.addNumberFunctions()
    } catch {
      throw DeviceFile.failure(error, path)
    }
  }

  /// Another number after each commit of the app.
  package func version() throws(FerryError) -> Int64 {
    try snapshot { connection throws(SQLiteError) in
      try connection.value("PRAGMA data_version")?.integer ?? 0
    }
  }

  /// Whether the file was renamed or removed since it was opened.
  package var hasMoved: Bool { connection.hasMoved }

  /// What it holds; of the operations and of the log records at most `limit`, the oldest.
  package func inspection(limit: Int? = nil) throws(FerryError) -> DeviceInspection {
    try snapshot { connection throws(SQLiteError) in try DeviceInspection(connection, limit: limit)
    }
  }

  /// `key` is the canonical text, or for a single text key the text itself.
  package func why(entity: String, key: String) throws(FerryError) -> DeviceWhy {
    try snapshot { connection throws(SQLiteError) in try DeviceWhy(connection, entity, key) }
  }

  /// Runs `body` on one state of the database.
  func snapshot<Result>(
    _ body: (Connection) throws(SQLiteError) -> Result
  ) throws(FerryError) -> Result {
    try connection.transaction(
      .deferred, wrap: { DeviceFile.failure($0, self.path) },
      { () throws(FerryError) -> Result in
        do throws(SQLiteError) { return try body(self.connection) } catch {
          throw DeviceFile.failure(error, self.path)
        }
      })
  }

  private static func failure(_ error: SQLiteError, _ path: String) -> FerryError {
    if error.message.contains("no such table") || error.message.contains("no such column") {
      return FerryError(
        .store, "\(path) is a database, but not a device's database of this version",
        hint: "Name the file that the app gives to open(at:), and use the `ferry` of its version.",
        cause: error)
    }
    if error.seal == nil, error.isCannotOpen {
      return FerryError(
        .store, "there is no database at \(path), or it cannot be read",
        hint: "Name the file that the app gives to open(at:).", cause: error)
    }
    return Store.failure(error, path: path)
  }
}
