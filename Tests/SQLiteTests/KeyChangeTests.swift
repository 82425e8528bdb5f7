import FerryCrypto
import FerryFaultVFS
import FerrySQLite
import Testing

@Suite("A change of the key")
struct KeyChangeTests {
  let folder: Folder
  let path: String

  init() throws {
    folder = try Folder()
    path = folder.path("a.db")
  }

  @Test("keeps everything in the database, and the old key opens nothing of it any more")
  func changes() throws {
    let (old, new) = (DatabaseKey.quick("old"), DatabaseKey.quick("new"))
    do {
      let connection = try Connection(path: path, key: old)
      try connection.configureStore(synchronous: .full)
      try connection.fill(1...300)
      try connection.execute(
        "CREATE TABLE plain (x); INSERT INTO plain VALUES (1), (2), (3); "
          + "DELETE FROM plain WHERE x = 2; PRAGMA user_version = 7; PRAGMA application_id = 9; "
          + "CREATE INDEX by_note ON visit (note)")
    }
    let before = folder.bytes("a.db")
    try Connection.changeKey(path: path, from: old, to: new)
    #expect(folder.names == ["a.db"])
    let error = #expect(throws: SQLiteError.self) { try Connection(path: path, key: old) }
    #expect(error?.seal == .wrongKey)
    let connection = try Connection(path: path, key: new)
    #expect(try connection.count() == 300)
    #expect(try connection.isSound())
    #expect(try connection.value("PRAGMA user_version") == .integer(7))
    #expect(try connection.value("PRAGMA application_id") == .integer(9))
    // Row ids that nobody gave a name stay too.
    #expect(try connection.rows("SELECT rowid FROM plain") == [[.integer(1)], [.integer(3)]])
    // Every page is sealed anew: the data key is another one.
    #expect(before.count == folder.bytes("a.db").count)
    #expect(zip(before, folder.bytes("a.db")).count { $0 == $1 } < before.count / 2)
    // Asked again after a kill: it is done.
    try Connection.changeKey(path: path, from: old, to: new)
    let third = #expect(throws: SQLiteError.self) {
      try Connection.changeKey(path: path, from: old, to: .quick("third"))
    }
    #expect(third?.seal == .wrongKey)
  }

  @Test("seals a plain database and unseals it", arguments: [512, 1_024, 4_096, 65_536])
  func sealing(pageBytes: Int) throws {
    let key = DatabaseKey.quick("key")
    do {
      let connection = try Connection(path: path)
      try connection.execute("PRAGMA page_size = \(pageBytes)")
      try connection.configureStore(synchronous: .full)
      try connection.fill(1...100)
    }
    #expect(folder.filesHolding("needle") == ["a.db"])
    try Connection.seal(path: path, key: key)
    #expect(folder.filesHolding("needle") == [])
    do {
      let connection = try Connection(path: path, key: key)
      try connection.configureStore(synchronous: .full)
      #expect(try connection.count() == 100)
      try connection.fill(101...120)
      #expect(try connection.isSound())
      #expect(folder.filesHolding("needle") == [])
    }
    try Connection.seal(path: path, key: key)
    try Connection.unseal(path: path, key: key)
    try Connection.unseal(path: path, key: key)
    let plain = try Connection(path: path)
    #expect(try plain.count() == 120)
    #expect(try plain.isSound())
    let error = #expect(throws: SQLiteError.self) { try Connection(path: path, key: key) }
    #expect(error?.seal == .notSealed)
  }

  @Test("waits for nobody: while the database is open elsewhere it is refused, and nothing is lost")
  func busy() throws {
    let (old, new) = (DatabaseKey.quick("old"), DatabaseKey.quick("new"))
    let connection = try Connection(path: path, key: old, busyTimeoutMilliseconds: 10)
    try connection.configureStore(synchronous: .full)
    try connection.fill(1...10)
    let error = #expect(throws: SQLiteError.self) {
      try Connection.changeKey(path: path, from: old, to: new, busyTimeoutMilliseconds: 10)
    }
    #expect(error?.isBusy == true)
    try connection.fill(11...20)
    #expect(try Connection(path: path, key: old).count() == 20)
    #expect(!folder.names.contains("a.db-sealing"))
  }

  @Test("is noticed by a connection that slept through it: it cannot write into the old file")
  func moved() throws {
    let (old, new) = (DatabaseKey.quick("old"), DatabaseKey.quick("new"))
    let sleeper = try Connection(path: path, key: old)
    try sleeper.fill(1...10)
    try Connection.changeKey(path: path, from: old, to: new)
    let error = #expect(throws: SQLiteError.self) { try sleeper.fill(11...12) }
    #expect(error?.description.contains("the file was replaced") == true)
    #expect(try Connection(path: path, key: new).count() == 10)
  }

  @Test("that failed leaves nothing behind, and one that was killed is swept up")
  func leftovers() throws {
    let key = DatabaseKey.quick("key")
    try Connection(path: path, key: key).fill(1...10)
    try folder.write(Array("SQLite format 3\0 and plaintext".utf8), to: "a.db-sealing")
    #expect(try Connection(path: path, key: key).count() == 10)
    #expect(folder.names == ["a.db"])
    #expect(throws: SQLiteError.self) {
      try Connection.changeKey(path: folder.path("none.db"), from: key, to: .quick("new"))
    }
    #expect(folder.names == ["a.db"])
  }

  @Test("or a crash, or an old copy put back, never makes a nonce repeat")
  func nonces() throws {
    let disk = FaultDisk()
    let key = DatabaseKey.fixed(5)
    var seen: Set<[UInt8]> = []
    var pages = 0
    func collect(_ disk: FaultDisk) throws {
      let bytes = try #require(disk.bytes("/a.db"))
      for start in stride(from: 4_096, to: bytes.count, by: 4_096) {
        let end = start + 4_096
        // The hash tells whether this is the same sealing of the page as seen before.
        let hash = SHA256Digest.hash(Array(bytes[start..<end]))
        if seen.insert(hash + bytes[(end - 40)..<(end - 16)]).inserted { pages += 1 }
      }
    }
    try Connection(path: "/a.db", key: key, vfs: disk.vfs).fill(1...30)
    try collect(disk)
    // The same point in time, gone on from twelve times: as after restoring a copy.
    for round in 0..<12 {
      let copy = disk.survivors(at: disk.operations, .kill, seed: UInt64(round))
      try Connection(path: "/a.db", key: key, vfs: copy.vfs).fill(1...(31 + round))
      try collect(copy)
    }
    let nonces = Set(seen.map { Array($0.suffix(24)) })
    #expect(nonces.count == seen.count)
    #expect(pages >= 40)
  }
}
