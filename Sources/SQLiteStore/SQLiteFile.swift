import FerryCrypto
import FerrySQLite
import FerryServer
import FerryWorld

/// The file of a server's store while it is open: one writer and one reader for all packages, which
/// one thread uses. The server's id, its sessions and its devices are in it once.
package final class SQLiteFile {
  let path: String
  let server: String
  let writer: Connection
  let reader: Connection
  let folder: Folder
  let vfs: String?
  let world: World

  /// Opens the folder's store, or makes it, and leads it to this server's version.
  ///
  /// `synchronous`: whether a commit survives a crash of the machine (`.full`, for what ships).
  /// `vfs`: where SQLite keeps the store; nil is the system's files.
  package init(
    folder path: String, world: World, synchronous: Connection.Synchronous = .full,
    vfs: String? = nil
  ) throws(ServerError) {
    folder = try Folder(path)
    try MoveMark.requireNone(in: path)
    self.world = world
    self.vfs = vfs
    let file = "\(path)/server.sqlite"
    self.path = file
    (writer, reader, server) = try SQLiteFile.guarded(file) {
      let writer = try Connection(path: file, vfs: vfs)
      try SQLiteFile.prepare(writer, synchronous, world, file)
      let reader = try Connection(path: file, mode: .readOnly, vfs: vfs)
      guard let server = try writer.value("SELECT id FROM server")?.text else {
        throw StoreError.damaged("the store has no server id")
      }
      return (writer, reader, server)
    }
  }

  /// What goes wrong at the start, in the words of the server.
  func guarded<Result>(_ body: () throws -> Result) throws(ServerError) -> Result {
    try SQLiteFile.guarded(path, body)
  }

  private static func guarded<Result>(
    _ file: String, _ body: () throws -> Result
  ) throws(ServerError) -> Result {
    do { return try body() } catch let error as ServerError {
      throw error
    } catch let error as SQLiteError {
      throw ServerError(StoreError(error), store: file)
    } catch let error as StoreError {
      throw ServerError(error, store: file)
    } catch {
      throw ServerError(.store, "\(error)", hint: "The log of the server has the reason.")
    }
  }

  private static func prepare(
    _ writer: Connection, _ synchronous: Connection.Synchronous, _ world: World, _ path: String
  ) throws {
    try writer.configureStore(synchronous: synchronous)
    // A load writes to four trees in turn; SQLite's own 2 MB hold the ends of none of them.
    try writer.execute("PRAGMA cache_size = -16000")
    let version = try writer.value("PRAGMA user_version")?.integer ?? 0
    guard version <= Schema.version else {
      throw ServerError(
        .newerStore,
        "the store \(path) has version \(version); this server supports up to \(Schema.version)",
        hint: "Start the newer server, or restore a backup made before it.")
    }
    guard version == 0 else { return try climb(writer, from: version) }
    if try writer.value("SELECT count(*) FROM sqlite_schema")?.integer != 0 {
      throw ServerError(
        .damagedStore, "\(path) is a database, but not a store of this server",
        hint: "Name another folder (--data).")
    }
    try writer.transaction { () throws(SQLiteError) in
      try writer.execute(Schema.tables)
      try writer.run(
        "INSERT INTO server (only, id, last_day, days) VALUES (1, ?, ?, 0)",
        .text(hexadecimal(world.chance.bytes(16))), .integer(world.clock.now.day))
      try writer.execute("PRAGMA application_id = \(Schema.applicationID)")
      try writer.execute("PRAGMA user_version = 1")
      try climb(writer, from: 1)
    }
  }

  /// Each step is a transaction: a crash leaves the version before it or the one after.
  private static func climb(_ writer: Connection, from version: Int64) throws(SQLiteError) {
    for step in version..<max(version, Schema.version) {
      try writer.transaction { () throws(SQLiteError) in try Schema.step(from: step, writer) }
    }
  }
}
