import FerryCrypto
import Foundation
import Testing

@testable import FerrySQLite

/// `sealed-bytes.db` and `sealed-passphrase.db` were made by the code of commit c2d2940.
@Suite("The form of a sealed file")
struct KeptSealTests {
  private let folder: Folder

  init() throws { folder = try Folder() }

  private static func key(_ name: String) throws -> DatabaseKey {
    name == "bytes"
      ? try DatabaseKey(bytes: (0..<32).map { UInt8($0) }) : DatabaseKey(passphrase: "open sesame")
  }

  @Test("A file that an older Ferry sealed opens with its key", arguments: ["bytes", "passphrase"])
  func kept(name: String) throws {
    let fixture = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Fixtures/sealed-\(name).db")
    try FileManager.default.copyItem(at: fixture, to: URL(filePath: folder.path("a.db")))
    let connection = try Connection(path: folder.path("a.db"), key: Self.key(name))
    #expect(try connection.count() == 10)
    #expect(
      try connection.value("SELECT note FROM visit WHERE id = 7")
        == .text("plaintext needle number 7"))
    #expect(try connection.isSound())
  }

  /// The page size, and both ends of the file's id.
  @Test(
    "A header whose clear bytes were changed, hash and all, does not open", arguments: [22, 24, 39])
  func bound(place: Int) throws {
    let path = folder.path("a.db")
    do {
      let connection = try Connection(path: path, key: .quick("right"))
      try connection.fill(1...10)
    }
    var bytes = [UInt8](folder.bytes("a.db"))
    bytes[place] ^= 0x30
    let clear = bytes.prefix(SealHeader.bytes - 32)
    bytes.replaceSubrange(clear.count..<SealHeader.bytes, with: SHA256Digest.hash(Array(clear)))
    try Data(bytes).write(to: URL(filePath: path))
    let error = #expect(throws: SQLiteError.self) {
      try Connection(path: path, key: .quick("right")).count()
    }
    #expect(error?.seal == .wrongKey)
  }

  @Test("What another connection cut from the file is sealed again before it is jumped over")
  func gap() throws {
    let key = DatabaseKey.quick("right")
    let path = folder.path("a.db")
    let first = try Connection(path: path, key: key)
    try first.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
    try first.fill(1...2_000)
    let second = try Connection(path: path, key: key)
    try second.execute("BEGIN")
    #expect(try second.count() == 2_000)
    // Not the end of the log: so the first does not cut the file itself, and knows how long it is.
    try first.execute("UPDATE visit SET place = 'here' WHERE id = 1")
    try first.execute("PRAGMA wal_checkpoint(PASSIVE)")
    try second.execute("COMMIT")
    try second.execute("DELETE FROM visit WHERE id > 10; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
    let cut = folder.bytes("a.db").count
    try first.fill(1...1_000)
    // Who reads keeps the newest of these pages from the file: others behind them are written.
    try second.execute("BEGIN")
    #expect(try second.count() == 1_000)
    try first.execute("UPDATE visit SET place = 'here' WHERE id BETWEEN 300 AND 310")
    try first.execute("PRAGMA wal_checkpoint(PASSIVE)")
    let file = folder.bytes("a.db")
    #expect(file.count > cut + 20 * 4_096)
    let pages = (file.count - SealHeader.bytes) / 4_096
    let unsealed = (0..<pages).filter { page in
      let start = SealHeader.bytes + page * 4_096
      return file[start..<(start + 4_096)].allSatisfy { $0 == 0 }
    }
    #expect(unsealed == [])
    try second.execute("COMMIT")
    try first.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    #expect(try second.isSound() && first.count() == 1_000)
  }
}
