import Ferry
import FerryModel
import FerrySQLite
import Foundation
import Testing

@testable import Ferry

@Suite("A file that is no database of a device")
struct ForeignFileTests {
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "ferry-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private var path: String { folder.appending(path: "business.db").path }

  private func open(_ key: DatabaseKey? = nil) throws -> Store {
    try Store(
      path: path, model: Shop.package, world: .system(), durability: .application, key: key)
  }

  private func bytes() throws -> [String: Data] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    return try Dictionary(
      uniqueKeysWithValues: names.filter { !$0.hasSuffix("-shm") }.map {
        ($0, try Data(contentsOf: folder.appending(path: $0)))
      })
  }

  @Test(
    "is refused with what it holds, and none of its bytes is another",
    arguments: [
      "CREATE TABLE t (a)",
      #"CREATE TABLE "Order" (id INTEGER PRIMARY KEY, city TEXT); PRAGMA user_version = 3"#,
      "PRAGMA application_id = 9",
      "PRAGMA user_version = 1",
    ], [nil, "a passphrase"])
  func refused(content: String, passphrase: String?) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let key = passphrase.map { DatabaseKey(passphrase: $0, derivation: .pbkdf2(rounds: 2)) }
    do {
      let sealing = try key.map { try Sealing(path: path, key: $0) }
      try Connection(path: path, sealing: sealing).execute(content)
    }
    let before = try bytes()
    let error = #expect(throws: FerryError.self) { try open(key) }
    #expect(error?.code == .otherOwner)
    #expect(error?.message.contains("\(path) is a database, but not one of a device: it") == true)
    #expect(error?.hint.contains("nothing was written") == true)
    #expect(try bytes() == before)
  }

  @Test("keeps the log that its own program has left beside it")
  func log() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let other = try Connection(path: path)
    try other.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    // As after a crash: nobody has it open, and the log is there.
    let left = try bytes()
    try #require(left.count == 2)
    _ = consume other
    for (name, data) in left { try data.write(to: folder.appending(path: name)) }
    let error = #expect(throws: FerryError.self) { try open() }
    #expect(error?.message.hasSuffix("it holds t") == true)
    #expect(try bytes() == left)
    #expect(try Connection(path: path).value("SELECT a FROM t") == .integer(1))
  }

  @Test("is neither sealed, made plain nor given another key")
  func rewritten() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let key = DatabaseKey(passphrase: "one", derivation: .pbkdf2(rounds: 2))
    let next = DatabaseKey(passphrase: "two", derivation: .pbkdf2(rounds: 2))
    let own = folder.appending(path: "own.db").path
    let business = "PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)"
    let refused = { (change: () throws -> Void) in
      // Reading a database whose journal is a log may leave an empty log beside it.
      let before = try bytes().filter { !$0.value.isEmpty }
      let error = #expect(throws: FerryError.self) { try change() }
      #expect(error?.code == .otherOwner)
      #expect(try bytes().filter { !$0.value.isEmpty } == before)
    }
    try Connection(path: path).execute(business)
    try refused { try FerryDatabase.seal(at: path, key: key) }
    #expect(try Connection(path: path).value("PRAGMA journal_mode") == .text("wal"))
    try FileManager.default.removeItem(atPath: path)
    try Connection(path: path, sealing: Sealing(path: path, key: key)).execute(business)
    try refused { try FerryDatabase.unseal(at: path, key: key) }
    try refused { try FerryDatabase.changeKey(at: path, from: key, to: next) }
    // The control: a device's own file goes through all three.
    try Store(path: own, model: Shop.package, world: .system(), durability: .application).close()
    try FerryDatabase.seal(at: own, key: key)
    try FerryDatabase.changeKey(at: own, from: key, to: next)
    try FerryDatabase.unseal(at: own, key: next)
    #expect(
      try Connection(path: own).value("PRAGMA application_id") == .integer(FileOwner.application))
  }

  @Test("An empty file becomes one, and a device's own has Ferry's number and opens again")
  func own() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data().write(to: URL(filePath: path))
    for _ in 0..<2 {
      let store = try open()
      store.close()
      let number = try Connection(path: path).value("PRAGMA application_id")
      #expect(number == .integer(FileOwner.application))
    }
  }
}
