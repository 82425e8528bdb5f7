import FerryCrypto
import FerryModel
import FerrySQLite
import FerryWorld

/// The server's database: one writer, one reader, one clock for the package.
final class Store {
  let path: String
  let package: Package
  let packageNumber: Int64
  let server: String
  /// The era that this start opened.
  private(set) var era: String = ""
  /// Numbers of the package's entities in the store, in the order of the package.
  private(set) var entityNumbers: [Int64] = []
  private(set) var entityPositions: [Int64: Int] = [:]
  let writer: Connection
  private let reader: Connection
  let vfs: String?
  private var laggard: Connection?
  private var laggardReads = 0
  private let folder: Folder
  /// Names of the secrets that this start had to make.
  private(set) var madeSecrets: [String] = []
  let world: World
  /// The highest number that a commit was tried with. One that fails may have reached the log all the
  /// same, and show in a copy of the file or after a crash: its number is not given a second time.
  private var tried: Int64 = 0

  init(
    folder: Folder, package: Package, world: World, synchronous: Connection.Synchronous,
    vfs: String?
  ) throws(ServerError) {
    self.folder = folder
    self.package = package
    self.world = world
    self.vfs = vfs
    path = "\(folder.path)/server.sqlite"
    do {
      writer = try Connection(path: path, vfs: vfs)
      try Store.prepare(writer, synchronous, world, path)
      reader = try Connection(path: path, mode: .readOnly, vfs: vfs)
      guard let server = try writer.value("SELECT id FROM server")?.text else {
        throw SQLiteError.damaged("the store has no server id")
      }
      self.server = server
      packageNumber = try Store.number(of: package, writer)
      try numberEntities()
      era = try openEra()
    } catch let error as ServerError {
      throw error
    } catch let error as SQLiteError {
      throw ServerError(error, store: path)
    } catch {
      throw ServerError(.store, "\(error)", hint: "See the log of the server.")
    }
  }

  /// Bytes that are made once and kept beside the store, readable by the owner only.
  func secret(_ name: String) throws(ServerError) -> [UInt8] {
    try folder.secret(name) {
      madeSecrets.append(name)
      return world.chance.bytes(32)
    }
  }

  /// The same as text: 32 hexadecimal digits.
  func secretText(_ name: String) throws(ServerError) -> String {
    let bytes = try folder.secret(name) {
      madeSecrets.append(name)
      return Array(hexadecimal(world.chance.bytes(16)).utf8)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// What is written into a file that nobody can find any more would be promised and lost.
  func checkPlace() throws(SQLiteError) {
    guard !writer.hasMoved else {
      throw SQLiteError(
        code: SQLiteError.moved, message: "the file was moved or removed", subject: path)
    }
  }

  /// Writes something that changes nothing, to see whether the disk takes it.
  func probe() throws(SQLiteError) {
    try checkPlace()
    try writer.execute("PRAGMA user_version = \(Schema.version)")
  }

  func clock(_ connection: Connection) throws(SQLiteError) -> Int64 {
    try connection.value("SELECT version FROM package WHERE id = ?", .integer(packageNumber))?
      .integer
      ?? 0
  }

  /// The clock as last committed.
  func clock() throws(SQLiteError) -> Int64 { try clock(writer) }

  func isLoaded() throws(SQLiteError) -> Bool {
    try writer.value("SELECT loaded FROM package WHERE id = ?", .integer(packageNumber))?.integer
      == 1
  }

  /// Reads everything in `body` from one state of the store; `clock` is its highest number.
  func snapshot<Result>(
    _ body: (_ connection: Connection, _ clock: Int64) throws(SQLiteError) -> Result
  ) throws(SQLiteError) -> Result {
    try reader.transaction(.deferred) { () throws(SQLiteError) in
      let clock = try clock(reader)
      return try body(reader, clock)
    }
  }

  /// For the planted bug: a replica that is a few reads behind.
  func laggingSnapshot<Result>(
    _ body: (_ connection: Connection, _ clock: Int64) throws(SQLiteError) -> Result
  ) throws(SQLiteError) -> Result {
    let replica: Connection
    if let laggard {
      replica = laggard
    } else {
      replica = try Connection(path: path, mode: .readOnly, vfs: vfs)
      laggard = replica
    }
    laggardReads += 1
    if replica.isInTransaction, laggardReads % 5 == 0 { try replica.execute("COMMIT") }
    if !replica.isInTransaction { try replica.execute("BEGIN") }
    return try body(replica, try clock(replica))
  }

  /// For the planted bug: a number for a transaction that comes later.
  func drawNumber() throws(SQLiteError) -> Int64 {
    try writer.transaction { () throws(SQLiteError) in
      try writer.run(
        "UPDATE package SET version = version + 1 WHERE id = ?", .integer(packageNumber))
      return try clock(writer)
    }
  }

  /// The only way to change rows, members, partitions and eras, or to set an answer: the clock's
  /// row is locked first, and all that is written gets one number. Where nothing was written the
  /// clock stays.
  func numbered<Result>(
    drawn: Int64? = nil, _ body: (NumberedTransaction) throws(SQLiteError) -> Result
  )
    throws(SQLiteError) -> Result
  {
    try writer.transaction { () throws(SQLiteError) in
      if let drawn { return try body(NumberedTransaction(version: drawn, connection: writer)) }
      let before = try clock(writer)
      let transaction = NumberedTransaction(
        version: max(before, tried) + 1, connection: writer)
      try set(clock: transaction.version)
      let result = try body(transaction)
      if transaction.hasWritten {
        tried = transaction.version
      } else {
        try set(clock: before)
      }
      return result
    }
  }

  private func set(clock: Int64) throws(SQLiteError) {
    try writer.run(
      "UPDATE package SET version = ? WHERE id = ?", .integer(clock), .integer(packageNumber))
  }

  func eras(_ connection: Connection) throws(SQLiteError) -> EraList {
    let rows = try connection.rows(
      "SELECT id, first_version FROM era WHERE package = ? ORDER BY number", .integer(packageNumber)
    )
    return EraList(
      eras: rows.compactMap { row in
        guard let id = row[0].text, let first = row[1].integer else { return nil }
        return EraList.Era(id: id, firstVersion: first)
      })
  }

  private func openEra() throws(SQLiteError) -> String {
    if world.has(.eraNotOpened), let last = try eras(writer).eras.last { return last.id }
    let id = hexadecimal(world.chance.bytes(16))
    try numbered { transaction throws(SQLiteError) in
      transaction.hasWritten = true
      try writer.run(
        "INSERT INTO era (package, id, first_version) VALUES (?, ?, ?)", .integer(packageNumber),
        .text(id), .integer(transaction.version))
    }
    return id
  }

  private func numberEntities() throws(SQLiteError) {
    for (position, entity) in package.entities.enumerated() {
      try writer.run(
        "INSERT INTO entity (package, name) VALUES (?, ?) ON CONFLICT DO NOTHING",
        .integer(packageNumber), .text(entity.name))
      let number = try writer.value(
        "SELECT id FROM entity WHERE package = ? AND name = ?", .integer(packageNumber),
        .text(entity.name))?.integer
      guard let number else { throw SQLiteError.damaged("an entity has no number") }
      entityNumbers.append(number)
      entityPositions[number] = position
    }
  }

  private static func prepare(
    _ writer: Connection, _ synchronous: Connection.Synchronous, _ world: World, _ path: String
  ) throws {
    try writer.configureStore(synchronous: synchronous)
    let version = try writer.value("PRAGMA user_version")?.integer ?? 0
    guard version <= Schema.version else {
      throw ServerError(
        .newerStore,
        "the store \(path) has version \(version); this server knows \(Schema.version)",
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

  private static func number(of package: Package, _ writer: Connection) throws -> Int64 {
    let shape = package.shape
    try writer.run(
      """
      INSERT INTO package (name, shape, version, loaded) VALUES (?, ?, 0, 0)
      ON CONFLICT DO NOTHING
      """, .text(package.id), .text(shape))
    let row = try writer.row("SELECT id, shape FROM package WHERE name = ?", .text(package.id))
    guard let number = row?[0].integer else {
      throw SQLiteError.damaged("the package has no number")
    }
    guard row?[1].text == shape else {
      throw ServerError(
        .changedModel, "the model \(package.id) is not the one that this store was made for",
        hint: "Give the changed model a new version; devices of the old one are served by the old.")
    }
    return number
  }
}

/// One numbered transaction while it is open.
final class NumberedTransaction {
  let version: Int64
  let connection: Connection
  var hasWritten: Bool = false

  init(version: Int64, connection: Connection) {
    self.version = version
    self.connection = connection
  }
}

extension Package {
  /// A digest of all that decides how rows look and where they belong.
  var shape: String {
    var text = id
    for entity in entities {
      text += "\n\(entity.name) \(entity.group) \(entity.key)"
      for attribute in entity.attributes {
        text += "\n  \(attribute.name) \(attribute.type.rawValue) \(attribute.isNullable)"
      }
      if let readers = entity.roles[.read] { text += "\n  read by \(readers)" }
      switch entity.partition {
      case nil: break
      case .columns(let columns):
        for column in columns { text += "\n  by \(column.attribute) \(column.source.text)" }
      case .through(let name):
        if let relationship = entity.relationship(named: name) {
          text += "\n  through \(relationship.target) \(relationship.attributes)"
          text += " \(relationship.targetAttributes)"
        }
      }
    }
    return hexadecimal(SHA256Digest.hash(Array(text.utf8)))
  }
}
