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
  /// False while no correction is open: then nobody asks for one. No other process writes to the file.
  var mayHaveCorrections = true

  /// Opens the folder's store, or makes it, and leads it to this server's version.
  ///
  /// `synchronous`: whether a commit survives a crash of the machine (`.full`, for what ships).
  /// `vfs`: where SQLite keeps the store; nil is the system's files.
  package init(
    folder path: String, world: World, synchronous: Connection.Synchronous = .full,
    vfs: String? = nil
  ) throws(ServerError) {
    let folder = try Folder(path)
    self.folder = folder
    try MoveMark.requireNone(in: path)
    self.world = world
    self.vfs = vfs
    let file = "\(path)/server.sqlite"
    self.path = file
    (writer, reader, server) = try SQLiteFile.guarded(file) {
      let writer = try Connection(path: file, vfs: vfs)
      try SQLiteFile.prepare(writer, synchronous, world, folder)
      let reader = try Connection(path: file, mode: .readOnly, vfs: vfs)
      guard let server = try writer.value("SELECT id FROM server")?.text else {
        throw StoreError.damaged("the store has no server id")
      }
      return (writer, reader, server)
    }
  }

  /// Moves what the write-ahead log has into the file, and empties the log: from now until the next
  /// write the file alone is the store. Nothing happens where somebody reads an older state.
  func settle() throws(ServerError) {
    try guarded { _ = try writer.value("PRAGMA wal_checkpoint(TRUNCATE)") }
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
    _ writer: Connection, _ synchronous: Connection.Synchronous, _ world: World, _ folder: Folder
  ) throws {
    let version = try known(writer, folder)
    try writer.configureStore(synchronous: synchronous)
    // A load writes to four trees in turn; SQLite's own 2 MB hold the ends of none of them.
    try writer.execute("PRAGMA cache_size = -16000")
    writer.leavesFoundLog(false)
    guard version == 0 else { return try climb(writer, from: version) }
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

  /// The version of the store, 0 for one that is to be made. Throws where the file is none; nothing
  /// of it is changed before.
  private static func known(_ writer: Connection, _ folder: Folder) throws -> Int64 {
    writer.leavesFoundLog()
    let path = writer.path
    let version = try writer.value("PRAGMA user_version")?.integer ?? 0
    guard version <= Schema.version else {
      throw ServerError(
        .newerStore,
        "the store \(path) has version \(version); this server supports up to \(Schema.version)",
        hint: "Start the newer server, or restore a backup made before it.")
    }
    let isEmpty = try writer.value("SELECT count(*) FROM sqlite_schema")?.integer == 0
    let isStore =
      try writer.value("PRAGMA application_id")?.integer == Schema.applicationID
      || writer.value("SELECT 1 FROM sqlite_schema WHERE name = 'server'") != nil
    guard version == 0 ? isEmpty : isStore else {
      throw ServerError(
        .damagedStore, "\(path) is a database, but not a store of this server",
        hint: "Name another folder (--data).")
    }
    if version == 0 { try requireNoKeys(folder, path) }
    return version
  }

  /// Keys are made after the store. Keys without a store: the store was left behind, and a new one
  /// would take its place without a word.
  private static func requireNoKeys(_ folder: Folder, _ path: String) throws(ServerError) {
    let keys = ["token.key", "refresh.key"].filter { Folder.isFile("\(folder.path)/\($0)") }
    guard let key = keys.first else { return }
    throw ServerError(
      .damagedStore,
      "the store \(path) is empty or new, but \(folder.path)/\(key) is the key of an older one: "
        + "was the folder copied without \(path)-wal?",
      hint:
        "Copy that file too, or use `ferry restore` with a backup. To begin with an empty store, "
        + "remove \(keys.joined(separator: " and ")): every device then has to log in again.")
  }

  /// Each step is a transaction: a crash leaves the version before it or the one after.
  private static func climb(_ writer: Connection, from version: Int64) throws(SQLiteError) {
    for step in version..<max(version, Schema.version) {
      try writer.transaction { () throws(SQLiteError) in try Schema.step(from: step, writer) }
    }
  }
}
