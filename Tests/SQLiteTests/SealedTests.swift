import FerryCrypto
import Foundation
import Synchronization
import Testing

@testable import FerrySQLite

@Suite("A sealed database")
struct SealedTests {
  let folder: Folder

  init() throws { folder = try Folder() }

  private func open(_ key: DatabaseKey, _ name: String = "a.db") throws -> Connection {
    try Connection(path: folder.path(name), key: key)
  }

  @Test(
    "No file holds plaintext, during a workload and after it",
    arguments: ["WAL", "DELETE", "TRUNCATE", "PERSIST"])
  func noPlaintext(mode: String) throws {
    let key = DatabaseKey.quick("open sesame")
    var seen: Set<String> = []
    func search() {
      seen.formUnion(folder.names)
      for text in ["needle", "plaintext", "CREATE TABLE", "visit", "SQLite format"] {
        #expect(folder.filesHolding(text) == [], "\(text)")
      }
    }
    do {
      let connection = try open(key)
      try connection.execute("PRAGMA journal_mode = \(mode); PRAGMA cache_size = 10")
      try connection.fill(1...500)
      search()
      try connection.execute("BEGIN")
      try connection.execute("UPDATE visit SET note = note || ' plaintext needle again'")
      // The cache is small: the transaction has been spilled to the log or the file.
      search()
      try connection.execute("SAVEPOINT inner; DELETE FROM visit WHERE id > 100; ROLLBACK TO inner")
      search()
      try connection.execute("COMMIT; CREATE INDEX by_note ON visit (note)")
      _ = try connection.rows("SELECT DISTINCT note FROM visit ORDER BY place, note DESC")
      try connection.execute("VACUUM")
      search()
      if mode == "WAL" { try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
      search()
      #expect(try connection.isSound())
      #expect(try connection.count() == 500)
    }
    search()
    #expect(seen.contains(mode == "WAL" ? "a.db-wal" : "a.db-journal"))
    let again = try open(key)
    #expect(try again.count() == 500)
    #expect(try again.isSound())
  }

  @Test("A wrong key is a clear error, and nothing is touched")
  func wrongKey() throws {
    try open(.quick("right")).fill(1...10)
    let before = folder.bytes("a.db")
    let random = DatabaseKey.random()
    for key in [DatabaseKey.quick("wrong"), random] {
      let error = #expect(throws: SQLiteError.self) { try open(key) }
      #expect(error?.seal == .wrongKey)
      #expect(error?.description.contains("the key does not open the database") == true)
    }
    #expect(folder.bytes("a.db") == before)
    #expect(folder.names == ["a.db"])
    #expect(try open(.quick("right")).count() == 10)
  }

  @Test("Without its key a sealed database says that it is sealed, and is not touched")
  func keyMissing() throws {
    try open(.quick("right")).fill(1...10)
    let before = folder.bytes("a.db")
    let error = #expect(throws: SQLiteError.self) {
      try Connection(path: folder.path("a.db")).configureStore(synchronous: .full)
    }
    #expect(error?.seal == .keyMissing)
    #expect(folder.bytes("a.db") == before)
  }

  @Test("A key set too late is an error, not ignored")
  func tooLate() throws {
    try Connection(path: folder.path("plain.db")).fill(1...3)
    let before = folder.bytes("plain.db")
    let late = #expect(throws: SQLiteError.self) { try open(.quick("late"), "plain.db") }
    #expect(late?.seal == .notSealed)
    #expect(folder.bytes("plain.db") == before)

    let connection = try open(.quick("right"))
    for name in ["key", "rekey", "hexkey"] {
      let error = #expect(throws: SQLiteError.self) {
        try connection.execute("PRAGMA \(name) = 'other'")
      }
      #expect(error?.message.contains("comes too late") == true)
    }
    let memory = #expect(throws: SQLiteError.self) {
      try Connection(path: ":memory:", key: .quick("right"))
    }
    #expect(memory?.seal == .refused)
  }

  @Test("A file that is no database is refused and stays as it is")
  func foreign() throws {
    for (name, bytes) in [
      ("short", Array("hello".utf8)), ("long", [UInt8](repeating: 7, count: 9_000)),
    ] {
      try folder.write(bytes, to: name)
      let error = #expect(throws: SQLiteError.self) { try open(.quick("right"), name) }
      #expect(error?.seal == .foreign)
      #expect(folder.bytes(name) == bytes)
    }
  }

  @Test("Several databases with different keys live in one process, and in one connection not")
  func severalKeys() throws {
    let names = (0..<5).map { "\($0).db" }
    let connections = try names.map { try open(.quick($0), $0) }
    for (index, connection) in connections.enumerated() {
      try connection.execute("PRAGMA journal_mode = WAL")
      try connection.fill(1...(10 + index))
    }
    for (index, name) in names.enumerated() {
      let second = try open(.quick(name), name)
      #expect(try second.count() == Int64(10 + index))
      #expect(throws: SQLiteError.self) { try open(.quick("other"), name) }
    }
    let error = #expect(throws: SQLiteError.self) {
      try connections[0].run("ATTACH ? AS other", .text(folder.path("1.db")))
    }
    #expect(error?.description.contains("no key was offered") == true)
  }

  @Test("A database begun and not finished is begun again; a torn header never hides data")
  func unfinished() throws {
    let whole = try {
      try open(.quick("right")).fill(1...2); return folder.bytes("a.db")
    }()
    for length in [0, 1, 7, 16, 100, 4_095] {
      try folder.write(Array(whole.prefix(length)), to: "torn.db")
      try open(.quick("other"), "torn.db").fill(1...4)
      #expect(try open(.quick("other"), "torn.db").count() == 4)
    }
  }

  @Test("Two who begin one database together agree on its header")
  func together() throws {
    for round in 0..<60 {
      let path = folder.path("race\(round).db")
      let ready = Atomic(0)
      let problems = Mutex<[String]>([])
      DispatchQueue.concurrentPerform(iterations: 2) { opener in
        ready.add(1, ordering: .sequentiallyConsistent)
        // Both begin in the same moment; if there is one thread only, they do not.
        for _ in 0..<100_000 where ready.load(ordering: .relaxed) < 2 {}
        do {
          let connection = try Connection(
            path: path, key: .quick("right"), busyTimeoutMilliseconds: 300_000)
          try connection.execute("CREATE TABLE IF NOT EXISTS t (x)")
          try connection.run("INSERT INTO t VALUES (?)", .integer(Int64(opener)))
        } catch {
          // An issue of a thread without a test would be one of every test that runs.
          problems.withLock { $0.append("\(error)") }
        }
      }
      #expect(problems.withLock { $0 } == [])
      let connection = try Connection(path: path, key: .quick("right"))
      #expect(try connection.value("SELECT count(*) FROM t") == .integer(2))
    }
  }

  @Test("A look at a journal that comes and goes finds it or not, and never fails")
  func journalComesAndGoes() throws {
    let path = folder.path("a.db")
    try open(.quick("right")).fill(1...2)
    let problems = Mutex<[String]>([])
    let isDone = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: 2) { part in
      if part == 0 {
        // At least one look of those has the file between the question and the opening.
        for _ in 0..<20_000 {
          do {
            _ = try FileLook(path, vfs: nil)
          } catch {
            problems.withLock { $0.append("\(error)") }
          }
        }
        isDone.store(1, ordering: .sequentiallyConsistent)
      } else {
        while isDone.load(ordering: .sequentiallyConsistent) == 0 {
          // SQLite takes an empty journal for none.
          let journal = creat(path + "-journal", 0o600)
          write(journal, "x", 1)
          close(journal)
          unlink(path + "-journal")
        }
      }
    }
    #expect(problems.withLock { $0 } == [])
  }

  @Test("Who comes second to a new database finds the header of the first, and writes no other")
  func second() throws {
    let path = folder.path("a.db")
    let key = DatabaseKey.quick("right")
    let look = try FileLook(path, vfs: nil)
    let (seen, fileBytes) = (look.bytes, look.fileBytes)
    let first = try Sealing.begin(path: path, key: key, seen: seen, fileBytes: fileBytes, vfs: nil)
    #expect(first != nil)
    let header = folder.bytes("a.db")
    let second = try Sealing.begin(
      path: path, key: key, seen: seen, fileBytes: fileBytes, vfs: nil)
    #expect(second == nil)
    #expect(folder.bytes("a.db") == header)
    #expect(try Sealing(path: path, key: key).fileID == first?.fileID)
  }

  @Test("What a sealed database cannot do is refused with the reason")
  func refusals() throws {
    let connection = try open(.quick("right"))
    try connection.fill(1...10)
    #expect(try connection.value("PRAGMA mmap_size = 1000000") == .integer(0))
    let error = #expect(throws: SQLiteError.self) {
      try connection.execute("PRAGMA page_size = 8192")
    }
    #expect(error?.message.contains("keep their 4096 bytes") == true)
    // Large enough to be spilled, and sorted without an index.
    try connection.execute(
      """
      PRAGMA temp_store = FILE; PRAGMA temp.cache_size = 2; CREATE TEMP TABLE t (x);
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
      INSERT INTO t SELECT 'needle ' || i || hex(randomblob(40)) FROM n
      """)
    _ = try connection.rows("SELECT x FROM t ORDER BY x DESC LIMIT 3")
    #expect(folder.filesHolding("needle") == [])
    // SQLite removes the name of a temporary file at once; the process still has it open.
    let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    let open = descriptors.compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
    }
    #expect(!open.contains { $0.contains("etilqs_") })
    try connection.execute("VACUUM")
    #expect(try connection.count() == 10)
  }

  @Test("A read-only connection reads and changes nothing")
  func readOnly() throws {
    try open(.quick("right")).fill(1...10)
    let before = folder.bytes("a.db")
    let connection = try Connection(
      path: folder.path("a.db"), key: .quick("right"), mode: .readOnly)
    #expect(try connection.count() == 10)
    #expect(throws: SQLiteError.self) { try connection.fill(11...12) }
    #expect(folder.bytes("a.db") == before)
    #expect(throws: SQLiteError.self) {
      try Connection(path: folder.path("none.db"), key: .quick("right"), mode: .readOnly)
    }
    #expect(folder.names == ["a.db"])
  }

  @Test("The header tells how the key is derived, and may not ask for all memory")
  func derivation() throws {
    let key = DatabaseKey(
      passphrase: "right", derivation: .scrypt(logarithm: 4, blocks: 8, lanes: 1))
    try open(key).fill(1...3)
    let header = try #require(SealHeader(Array(folder.bytes("a.db").prefix(4_096))))
    #expect(header.derivation == .scrypt(logarithm: 4, blocks: 8, lanes: 1))
    // What the key says counts for new files only.
    #expect(try open(.quick("right")).count() == 3)
    var hostile = header
    hostile.derivation = .scrypt(logarithm: 40, blocks: 64, lanes: 64)
    try folder.write(hostile.encoded + folder.bytes("a.db").dropFirst(4_096), to: "b.db")
    let error = #expect(throws: SQLiteError.self) { try open(key, "b.db") }
    #expect(error?.description.contains("needs more memory or rounds") == true)
    var newer = header
    newer.version = 2
    try folder.write(newer.encoded + folder.bytes("a.db").dropFirst(4_096), to: "c.db")
    let later = #expect(throws: SQLiteError.self) { try open(key, "c.db") }
    #expect(later?.description.contains("newer than this app") == true)
  }

  @Test("A transaction over two sealed files is refused with a journal, and works with logs")
  func severalFiles() throws {
    for (name, mode) in [("a", "DELETE"), ("b", "WAL")] {
      let (one, two) = (folder.path(name + "1.db"), folder.path(name + "2.db"))
      let connections = try [one, two].map { try Connection(path: $0, key: .quick("right")) }
      for connection in connections {
        try connection.execute("PRAGMA journal_mode = \(mode)")
        try connection.fill(1...3)
      }
      let sealing = try Sealing(path: two, key: .quick("right"))
      let uri = try sealing.uri(path: two, vfs: Sealing.vfs(over: nil, path: two))
      let first = connections[0]
      try first.run("ATTACH ? AS other", .text(uri.text))
      try first.execute("BEGIN; DELETE FROM visit; DELETE FROM other.visit")
      if mode == "WAL" {
        try first.execute("COMMIT")
        #expect(try connections[1].count() == 0)
      } else {
        let error = #expect(throws: SQLiteError.self) { try first.execute("COMMIT") }
        #expect(error?.description.contains("needs the write-ahead log") == true)
        try? first.execute("ROLLBACK")
        #expect(try connections[1].count() == 3)
        #expect(try first.count() == 3)
      }
    }
  }

  @Test("A key or its error shows nothing of the secret")
  func hidden() throws {
    let key = DatabaseKey.quick("swordfish")
    var text = "\(key) \(String(reflecting: key))"
    dump(key, to: &text)
    let bytes = [UInt8](repeating: 115, count: 32)
    let sealing = try Sealing(path: folder.path("a.db"), key: DatabaseKey(bytes: bytes))
    text += "\(sealing) \(try SealingKey(bytes))"
    dump(try SealingKey(bytes), to: &text)
    var told = ""
    dump(sealing, to: &told)
    #expect(told.contains("dataKey: SealingKey(hidden)"))
    #expect(!text.contains("swordfish"))
    // Two in a row may stand in the random id of the file; eight in a row are the key.
    #expect(!text.contains("115, 115, 115, 115, 115, 115, 115, 115"))
    #expect(throws: SQLiteError.self) { try DatabaseKey(bytes: [1, 2, 3]) }
    let random = DatabaseKey.random()
    #expect(random.bytes?.count == 32)
    #expect(random.bytes != DatabaseKey.random().bytes)
  }
}
