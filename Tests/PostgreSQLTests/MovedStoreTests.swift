import FerryCrypto
import FerryModel
import FerryPostgreSQL
import FerrySQLite
import FerryWorld
import Foundation
import Testing

@testable import FerryPostgreSQLStore
@testable import FerrySQLiteStore
@testable import FerryServer
@testable import FerryStoreConformance

@Suite("A store moves from a file into PostgreSQL")
struct MovedStoreTests {
  private func move(_ source: MovingStore, to address: PostgreSQLAddress) throws {
    let target = ArrivingStore(address)
    try target.begin(source.facts, World.system())
    for table in StoreTable.all {
      try source.read(table) { try target.write(table, $0, $1) }
      let counts = (try source.count(table), try target.count(table))
      #expect(counts.0 == counts.1, "\(table.name)")
    }
    try target.commit(source.facts)
  }

  /// Every value of a table as text, the rows in no order.
  private func texts(_ table: StoreTable, of source: MovingStore) throws -> [String] {
    var rows: [[String]] = []
    try source.read(table) { columns, count in
      let values = columns.map { column -> [String] in
        switch column {
        case .integers(let numbers): numbers.map { $0.map(String.init) ?? "-" }
        case .texts(let texts): texts.map { $0.map(KeptText.encode) ?? "-" }
        case .bodies(let bodies): bodies.map { String(decoding: $0, as: UTF8.self) }
        case .bytes(let blobs): blobs.map { $0.map { "\\x" + hexadecimal($0) } ?? "-" }
        }
      }
      for row in 0..<count { rows.append(values.map { $0[row] }) }
    }
    return rows.map { $0.joined(separator: " | ") }.sorted()
  }

  private func texts(_ table: StoreTable, in connection: PostgreSQLConnection) throws -> [String] {
    let columns = table.columns.map { column in
      let name = ArrivingStore.name(of: column)
      return column.kind == .flag ? "\(name)::int" : name
    }
    return try connection.rows(
      "SELECT \(columns.joined(separator: ", ")) FROM ferry_store.\(table.name)"
    ).texts.map { $0.map { $0 ?? "-" }.joined(separator: " | ") }.sorted()
  }

  @Test(
    "Whatever a case of the suite leaves in a file arrives value by value",
    arguments: StoreSuite.cases)
  func cases(_ one: StoreCase) throws {
    let stage = FolderStage()
    #expect(one.failures(on: stage) == [])
    stage.close()
    let source = try MovingStore(folder: stage.folder)
    let address = try Cluster.database()
    try move(source, to: address)
    let connection = try PostgreSQLConnection(address)
    for table in StoreTable.all {
      #expect(try texts(table, of: source) == texts(table, in: connection), "\(table.name)")
    }
    // Numbers go on: a server begins, and everything works as it does on a store of its own.
    let database = StoreDatabase(address)
    let proof = StoreProof(database, try database.open(StoreSuite.package))
    let last = try proof.store.clock()
    #expect(
      try proof.put(9_001...9_002, in: StoreSuite.place("moved")) > source.facts.lastNumbers[
        "partition"] ?? 0)
    let id = OperationID(String(repeating: "e", count: 32))
    _ = try proof.store.receive([proof.operation(try #require(id))])
    #expect(try proof.answer([try #require(id)]) == last + 2)
    #expect(proof.store.server == source.facts.server)
  }

  @Test("Each table and column of both stores moves, or is known to stay")
  func columns() throws {
    let staying: Set<String> = [
      "server", "sqlite_sequence", "staged", "staged_rejected", "secret", "lease", "deployed",
      "package.version", "partition.loaded", "row.source_position", "operation.batch",
      "package.removals", "package.term", "package.token", "era.term", "operation.named_in",
      "operation.touched",
    ]
    let moving = Set(
      StoreTable.all.flatMap { table in table.columns.map { "\(table.name).\($0.name)" } })
    func unknown(_ found: [(table: String, column: String)]) -> [String] {
      found.filter { !staying.contains($0.table) }.map { "\($0.table).\($0.column)" }
        .filter { !moving.contains($0) && !staying.contains($0) }
    }
    let stage = FolderStage()
    _ = try stage.open(StoreSuite.package)
    stage.close()
    let file = try Connection(path: "\(stage.folder)/server.sqlite", mode: .readOnly)
    let ours = try file.rows(
      """
      SELECT t.name, c.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
      WHERE t.type = 'table'
      """
    ).map { (table: $0[0].text ?? "", column: $0[1].text ?? "") }
    #expect(ours.count > 100)
    #expect(unknown(ours) == [])
    let database = try StoreDatabase()
    _ = try database.open(StoreSuite.package)
    let theirs = try PostgreSQLConnection(database.address).rows(
      """
      SELECT table_name, column_name FROM information_schema.columns
      WHERE table_schema = 'ferry_store'
      """
    ).texts.map { row -> (table: String, column: String) in
      let column = row[1] ?? ""
      let name = ["user_name": "user", "has_left": "left"][column] ?? column
      return (row[0] ?? "", name)
    }
    #expect(theirs.count > 100)
    #expect(unknown(theirs) == [])
  }

  @Test("What did not end leaves nothing; a copy is replaced, and never one that a server has used")
  func repeated() throws {
    let stage = FolderStage()
    do {
      let proof = StoreProof(stage, try stage.open(StoreSuite.package))
      try proof.put(1...50, in: StoreSuite.place("A"))
    }
    stage.close()
    let source = try MovingStore(folder: stage.folder)
    let address = try Cluster.database()
    let connection = try PostgreSQLConnection(address)
    do {
      let half = ArrivingStore(address)
      try half.begin(source.facts, World.system())
      for table in StoreTable.all.prefix(6) {
        try source.read(table) { try half.write(table, $0, $1) }
      }
    }
    #expect(try connection.value("SELECT to_regclass('ferry_store.server')") == nil)
    try move(source, to: address)
    #expect(try ArrivingStore(address).find(source.facts) == .copy)
    try connection.execute("DELETE FROM ferry_store.row")
    try move(source, to: address)
    #expect(try connection.value("SELECT count(*) FROM ferry_store.row") == "50")
    let database = StoreDatabase(address)
    let proof = StoreProof(database, try database.open(StoreSuite.package))
    try proof.put(51...52, in: StoreSuite.place("A"))
    #expect(try ArrivingStore(address).find(source.facts) == .served)
    let error = #expect(throws: ServerError.self) { try move(source, to: address) }
    #expect(error?.message.contains("a server has run on the store") == true)
    // The way back: no server starts on the copy, nor leads it any longer.
    try ArrivingStore(address).markUndone()
    #expect(throws: (any Error).self) { try proof.put(53...54, in: StoreSuite.place("A")) }
    let left = #expect(throws: ServerError.self) {
      try Lease.number(of: StoreSuite.package, address, World.system())
    }
    #expect(left?.code == .movedStore && left?.hint.contains("without --store") == true)
    let again = #expect(throws: ServerError.self) { try move(source, to: address) }
    #expect(again?.message.contains("a store of a move that was undone") == true)
    let other = try StoreDatabase()
    _ = try other.open(StoreSuite.package)
    let strange = #expect(throws: ServerError.self) { try move(source, to: other.address) }
    #expect(strange?.message.contains("the store of another server") == true)
  }
}

/// A store in a folder, opened anew after a crash.
final class FolderStage: StoreStage {
  private(set) var folder: String
  private var folders: [String] = []
  private let clock = StoreClock()
  private var store: SQLiteStore?

  init() {
    folder =
      FileManager.default.temporaryDirectory
      .appendingPathComponent("ferry-move-\(UUID().uuidString)").path
    folders = [folder]
  }

  deinit { for folder in folders { try? FileManager.default.removeItem(atPath: folder) } }

  func open(_ package: Package) throws -> any Store {
    if store != nil {
      try FileManager.default.copyItem(atPath: folder, toPath: folder + "+")
      folder += "+"
      folders.append(folder)
    }
    let world = World(clock: clock, chance: World.system().chance, log: SilentLog())
    let made = try SQLiteStore(
      folder: folder, package: package, world: world, synchronous: .normal)
    store = made
    return made
  }

  func close() { store = nil }
  func advance(days: Int64) { clock.advance(.seconds(days * 86_400)) }
}
