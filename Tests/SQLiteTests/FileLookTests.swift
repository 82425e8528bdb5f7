import FerryCrypto
import FerryFaultVFS
import Foundation
import Testing

@testable import FerrySQLite

/// The files of processes that were killed: copied while a connection had them open.
@Suite("Before SQLite opens a file")
struct FileLookTests {
  private static let right = DatabaseKey.quick("right")
  private static let rows: Int64 = 200
  let folder: Folder

  init() throws { folder = try Folder() }

  private var path: String { folder.path("a.db") }

  /// All of them, as they are now.
  private var files: [String: [UInt8]] {
    Dictionary(uniqueKeysWithValues: folder.names.map { ($0, folder.bytes($0)) })
  }

  /// Leaves `a.db` as a kill leaves it: with everything in its log.
  private func kill(_ key: DatabaseKey?) throws {
    let source = folder.path("source.db")
    let connection =
      if let key { try Connection(path: source, key: key) } else { try Connection(path: source) }
    try connection.configureStore(synchronous: .normal)
    try connection.fill(1...Int(FileLookTests.rows))
    for end in ["", "-wal", "-shm"] {
      try folder.write(folder.bytes("source.db" + end), to: "a.db" + end)
    }
    withExtendedLifetime(connection) {}
    _ = consume connection
    for name in folder.names where name.hasPrefix("source") {
      try FileManager.default.removeItem(atPath: folder.path(name))
    }
    try #require(folder.bytes("a.db-wal").count > 40_000)
    try #require(folder.bytes("a.db").count <= 8_192)
  }

  private func open(_ key: DatabaseKey?, _ mode: Connection.Mode) throws -> Int64 {
    let connection =
      if let key {
        try Connection(path: path, key: key, mode: mode)
      } else { try Connection(path: path, mode: mode) }
    return try connection.count()
  }

  private func requireRefused(
    _ key: DatabaseKey?, _ problem: SealProblem?, _ mode: Connection.Mode
  ) throws {
    let before = files
    let error = #expect(throws: SQLiteError.self) { try open(key, mode) }
    #expect(error?.seal == problem, "\(error as Any)")
    #expect(files == before, "\(mode)")
  }

  @Test(
    "a sealed one whose process was killed keeps its log when somebody comes without its key",
    arguments: [Connection.Mode.readWriteCreate, .readWrite, .readOnly])
  func keyMissing(mode: Connection.Mode) throws {
    try kill(FileLookTests.right)
    try requireRefused(nil, .keyMissing, mode)
    try requireRefused(.quick("wrong"), .wrongKey, mode)
    #expect(try open(FileLookTests.right, .readWrite) == FileLookTests.rows)
  }

  @Test(
    "one that was cut to less than a page is refused, and whole again once it is put back",
    arguments: [nil, 0, 100, 2_000, 4_096, 5_000] as [Int?])
  func cut(length: Int?) throws {
    for key in [FileLookTests.right, nil] as [DatabaseKey?] {
      // A plain page that is there in part is made whole by the log.
      if key == nil, length ?? 0 > 0 { continue }
      try kill(key)
      let whole = folder.bytes("a.db")
      if let length {
        try folder.write(Array(whole.prefix(length)), to: "a.db")
      } else {
        try FileManager.default.removeItem(atPath: path)
      }
      for mode in [Connection.Mode.readWriteCreate, .readWrite, .readOnly] {
        try requireRefused(key, .damaged, mode)
        let before = files
        // Without the key as well, whatever it is called then.
        #expect(throws: SQLiteError.self) { try open(nil, mode) }
        #expect(files == before)
      }
      try folder.write(whole, to: "a.db")
      #expect(try open(key, .readWrite) == FileLookTests.rows)
      for name in folder.names { try FileManager.default.removeItem(atPath: folder.path(name)) }
    }
  }

  @Test("a log of the other kind is no rubbish either", arguments: [true, false])
  func otherLog(isSealed: Bool) throws {
    let key = isSealed ? FileLookTests.right : nil
    try kill(isSealed ? nil : FileLookTests.right)
    let log = folder.bytes("a.db-wal")
    for name in folder.names { try FileManager.default.removeItem(atPath: folder.path(name)) }
    try kill(key)
    let own = folder.bytes("a.db-wal")
    try folder.write(log, to: "a.db-wal")
    for mode in [Connection.Mode.readWriteCreate, .readOnly] {
      try requireRefused(key, .damaged, mode)
    }
    try folder.write(own, to: "a.db-wal")
    #expect(try open(key, .readWrite) == FileLookTests.rows)
  }

  @Test("a file that is no database keeps what is beside it")
  func foreign() throws {
    try kill(FileLookTests.right)
    try folder.write(Array("Dear diary, today nothing was written.\n".utf8), to: "a.db")
    for key in [nil, FileLookTests.right] as [DatabaseKey?] {
      let before = files
      let error = #expect(throws: SQLiteError.self) { try open(key, .readWriteCreate) }
      #expect(error?.isNotADatabase == true)
      #expect(files == before)
    }
  }

  @Test("and behind an error in its middle, the log stays as it is", arguments: [true, false])
  func middle(isSealed: Bool) throws {
    let key = isSealed ? FileLookTests.right : nil
    let whole: [String: [UInt8]]
    do {
      let connection =
        if let key { try Connection(path: path, key: key) } else { try Connection(path: path) }
      try connection.configureStore(synchronous: .normal)
      try connection.fill(1...Int(FileLookTests.rows))
      try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
      try connection.run("UPDATE visit SET note = 'last' WHERE id = ?", .integer(1))
      whole = files
    }
    for (name, bytes) in whole { try folder.write(bytes, to: name) }
    let half = Array(folder.bytes("a.db").prefix(folder.bytes("a.db").count / 2))
    try folder.write(half, to: "a.db")
    #expect(throws: SQLiteError.self) { try open(key, .readWriteCreate) }
    #expect(folder.bytes("a.db") == half)
    #expect(folder.bytes("a.db-wal") == whole["a.db-wal"])
    try folder.write(try #require(whole["a.db"]), to: "a.db")
    #expect(try open(key, .readWrite) == FileLookTests.rows)
  }

  @Test("An empty file, and one whose first page a crash has torn, open as before")
  func controls() throws {
    for key in [nil, FileLookTests.right] as [DatabaseKey?] {
      try folder.write([], to: "a.db")
      try folder.write([], to: "a.db-wal")
      let connection =
        if let key { try Connection(path: path, key: key) } else { try Connection(path: path) }
      try connection.fill(1...3)
      #expect(try connection.count() == 3)
      _ = consume connection
      for name in folder.names { try FileManager.default.removeItem(atPath: folder.path(name)) }
    }
    // The checkpoint was writing page 1 when the power failed.
    try kill(nil)
    var torn = folder.bytes("a.db")
    torn.replaceSubrange(0..<512, with: [UInt8](repeating: 0x5A, count: 512))
    try folder.write(torn, to: "a.db")
    #expect(try open(nil, .readWrite) == FileLookTests.rows)
  }

  @Test("On a disk that may only be read nothing changes either, whoever opens the file")
  func readOnlyDisk() throws {
    let path = "/a.db"
    let right = DatabaseKey.fixed(7)
    for key in [right, nil] as [DatabaseKey?] {
      let made = FaultDisk()
      let open = { (disk: FaultDisk, key: DatabaseKey?) throws -> Int64 in
        let connection =
          if let key {
            try Connection(path: path, key: key, vfs: disk.vfs)
          } else { try Connection(path: path, vfs: disk.vfs) }
        return try connection.count()
      }
      let connection =
        if let key {
          try Connection(path: path, key: key, vfs: made.vfs)
        } else { try Connection(path: path, vfs: made.vfs) }
      try connection.execute("PRAGMA journal_mode = WAL")
      try connection.fill(1...Int(FileLookTests.rows))
      let disk = made.survivors(at: made.operations, .kill, seed: 1)
      let before = [disk.bytes(path), disk.bytes(path + "-wal")]
      try #require(before[1]?.isEmpty == false)
      // SQLITE_READONLY.
      disk.fail(at: disk.operations, code: 8, times: nil)
      for other in [nil, .fixed(8), right] as [DatabaseKey?] where other?.bytes != key?.bytes {
        #expect(throws: SQLiteError.self) { try open(disk, other) }
      }
      // Whoever may read the log may read what is in it, though it cannot be taken into the file.
      #expect(try open(disk, key) == FileLookTests.rows)
      #expect([disk.bytes(path), disk.bytes(path + "-wal")] == before)
      disk.fail(at: .max, code: 0, times: 0)
      #expect(try open(disk, key) == FileLookTests.rows)
      withExtendedLifetime(connection) {}
    }
  }
}
