import FerryCrypto
import FerryModel
import FerrySQLite
import FerryServer
import FerryWire
import FerryWorld

/// A package of a server whose store is a SQLite database: one clock of its own in the file of all.
package final class SQLiteStore: Store {
  let file: SQLiteFile
  package let package: Package
  package let packageNumber: Int64
  package private(set) var era: String = ""
  /// Numbers of the package's entities in the store, in the order of the package.
  private(set) var entityNumbers: [Int64] = []
  private(set) var entityPositions: [Int64: Int] = [:]
  package var writer: Connection { file.writer }
  private var reader: Connection { file.reader }
  let world: World
  /// The highest number that a commit was tried with. One that fails may have reached the log all the
  /// same, and show in a copy of the file or after a crash: its number is not given a second time.
  private var tried: Int64 = 0

  /// Opens the folder's store, or makes it, for the one package of a server.
  ///
  /// `synchronous`: whether a commit survives a crash of the machine (`.full`, for what ships).
  /// `vfs`: where SQLite keeps the store; nil is the system's files.
  package convenience init(
    folder path: String, package: Package, world: World,
    synchronous: Connection.Synchronous = .full, vfs: String? = nil
  ) throws(ServerError) {
    try self.init(
      try SQLiteFile(folder: path, world: world, synchronous: synchronous, vfs: vfs),
      package: package)
  }

  /// Enters the package into the file where it is new, and opens an era.
  package init(_ file: SQLiteFile, package: Package) throws(ServerError) {
    self.file = file
    self.package = package
    world = file.world
    packageNumber = try file.guarded { try SQLiteStore.number(of: package, file.writer) }
    try file.guarded {
      try numberEntities()
      era = try openEra()
    }
  }

  package var path: String { file.path }
  package var vfs: String? { file.vfs }
  package var server: String { file.server }
  package var name: String { file.path }

  package func secret(_ name: String, make: () -> [UInt8]) throws(ServerError) -> [UInt8] {
    try file.folder.secret(name, make: make)
  }

  package func knownSecret(_ name: String) throws(ServerError) -> [UInt8]? {
    try file.folder.knownSecret(name)
  }

  package func check() throws(StoreError) {
    guard !writer.hasMoved else {
      throw StoreError(.moved, "the file \(file.path) was moved or removed", isTransient: true)
    }
  }

  package func probe() throws(StoreError) {
    try check()
    try sql { () throws(SQLiteError) in
      try writer.execute("PRAGMA user_version = \(Schema.version)")
    }
  }

  /// What SQLite answers, in the words of the server.
  func sql<Result>(_ body: () throws(SQLiteError) -> Result) throws(StoreError) -> Result {
    try FerrySQLiteStore.sql(body)
  }

  /// What a connection needs to know of the package to read for devices.
  private var numbers: PackageNumbers {
    PackageNumbers(package: package, number: packageNumber, positions: entityPositions)
  }

  package var readerMaker: StoreReaderMaker {
    let (numbers, era, path, vfs) = (numbers, era, file.path, file.vfs)
    return { () throws(StoreError) in
      try SQLiteStoreReader(numbers, era: era, path: path, vfs: vfs)
    }
  }

  var number: SQLiteValue { .integer(packageNumber) }

  func number(of entity: Int) -> SQLiteValue { .integer(entityNumbers[entity]) }

  /// How many statements were run, for tests that count.
  var executionsInAll: Int { writer.executions + reader.executions }

  // Transactions and snapshots.

  package func transaction<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try writer.transaction(wrap: { StoreError($0) }, body)
  }

  func clock(_ connection: Connection) throws(SQLiteError) -> Int64 {
    try connection.value("SELECT version FROM package WHERE id = ?", number)?.integer ?? 0
  }

  package func clock() throws(StoreError) -> Int64 {
    try sql { () throws(SQLiteError) in try clock(writer) }
  }

  package func numbered<Result>(
    _ body: (NumberedTransaction) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try transaction { () throws(StoreError) in
      let before = try clock()
      // The clock's row is locked first.
      let transaction = NumberedTransaction(version: max(before, tried) + 1)
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

  private func set(clock: Int64) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      try writer.run("UPDATE package SET version = ? WHERE id = ?", .integer(clock), number)
    }
  }

  package func snapshot<Result>(
    _ body: (any StoreSnapshot) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try reader.transaction(.deferred, wrap: { StoreError($0) }) { () throws(StoreError) in
      try body(try view(reader))
    }
  }

  /// What a connection that is in a transaction sees.
  package func view(_ connection: Connection) throws(StoreError) -> any StoreSnapshot {
    try SQLiteSnapshot(numbers, connection)
  }

  // The start.

  private func openEra() throws(StoreError) -> String {
    let id = hexadecimal(world.chance.bytes(16))
    try numbered { transaction throws(StoreError) in
      transaction.hasWritten = true
      try sql { () throws(SQLiteError) in
        try skipPartitionNumbers()
        try writer.run(
          "INSERT INTO era (package, id, first_version) VALUES (?, ?, ?)", number, .text(id),
          .integer(transaction.version))
      }
    }
    return id
  }

  /// The store may be a backup, and devices may know numbers that were given after it was made, to
  /// other partitions, of other groups perhaps. So at each start but the first the numbers go on
  /// from a random place.
  private func skipPartitionNumbers() throws(SQLiteError) {
    guard try writer.value("SELECT 1 FROM era LIMIT 1") != nil else { return }
    let skipped: SQLiteValue = .integer(world.chance.number(in: 1..<(1 << 31)))
    try writer.run("UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'partition'", skipped)
    guard writer.changes == 0 else { return }
    try writer.run("INSERT INTO sqlite_sequence (name, seq) VALUES ('partition', ?)", skipped)
  }

  private func numberEntities() throws {
    for (position, entity) in package.entities.enumerated() {
      try writer.run(
        "INSERT INTO entity (package, name) VALUES (?, ?) ON CONFLICT DO NOTHING", number,
        .text(entity.name))
      let found = try writer.value(
        "SELECT id FROM entity WHERE package = ? AND name = ?", number, .text(entity.name))?
        .integer
      guard let found else { throw StoreError.damaged("an entity has no number") }
      entityNumbers.append(found)
      entityPositions[found] = position
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
      throw StoreError.damaged("the package has no number")
    }
    guard row?[1].text == shape else {
      throw ServerError(
        .changedModel,
        "the model \(package.id) differs from the model of the same version in this store",
        hint: "Give the changed model a new version. Devices with the old version need a server "
          + "with the old model.")
    }
    return number
  }
}

/// What SQLite answers, in the words of the server.
func sql<Result>(_ body: () throws(SQLiteError) -> Result) throws(StoreError) -> Result {
  do { return try body() } catch { throw StoreError(error) }
}

extension StoreError {
  package init(_ error: SQLiteError) {
    let code: Code =
      if error.isFull {
        .full
      } else if error.isOfTheDisk {
        .failing
      } else if error.isNotADatabase || error.isCorrupt {
        .damaged
      } else if error.isCannotOpen || error.isReadOnly {
        .closed
      } else if error.isBusy {
        .busy
      } else {
        .other
      }
    self.init(code, error.description, isTransient: error.isBusy || error.isOfTheMachine)
  }
}
