import FerryCrypto
import FerryFaultVFS
import FerrySQLite
import Testing

/// What is left of a process that was killed, and every bit of it turned around in its turn.
@Suite("A flipped bit")
struct DamageTests {
  private static let key = DatabaseKey.fixed(3)
  private static let path = "/a.db"

  private struct Outcome {
    var named: [String] = []
    var noticed: [String] = []
    var silent: [String] = []
  }

  private func open(_ disk: FaultDisk) throws -> Connection {
    try Connection(path: DamageTests.path, key: DamageTests.key, vfs: disk.vfs)
  }

  /// Reads everything, recovery included.
  private func readAll(_ disk: FaultDisk) throws -> (state: String, notice: String?) {
    let connection = try open(disk)
    // Beyond what SQLite finds by itself: every page is read.
    guard try connection.isSound() else { return ("not sound", nil) }
    return (try CrashMatrix.state(connection), connection.sealNotice)
  }

  private func flip(_ disk: FaultDisk, _ path: String, bits: some Sequence<Int>) throws -> Outcome {
    var outcome = Outcome()
    let whole = try readAll(disk.survivors(at: disk.operations, .kill, seed: 1)).state
    for bit in bits {
      let left = disk.survivors(at: disk.operations, .kill, seed: 1)
      left.flip(bit: bit, of: path)
      do {
        let (state, notice) = try readAll(left)
        if let notice {
          outcome.noticed.append("bit \(bit): \(notice)")
        } else if state != whole {
          outcome.silent.append("bit \(bit): \(state) instead of \(whole)")
        }
      } catch let error as SQLiteError {
        #expect(error.seal == .damaged || error.seal == .foreign, "bit \(bit): \(error)")
        outcome.named.append("bit \(bit): \(error)")
      }
    }
    return outcome
  }

  /// Some bits of every 64 bytes.
  private func bits(_ bytes: Range<Int>) -> [Int] {
    stride(from: bytes.lowerBound * 8, to: bytes.upperBound * 8, by: 509).map { $0 }
  }

  @Test("in the header is named before anything else is read")
  func header() throws {
    let disk = FaultDisk()
    try open(disk).fill(1...40)
    let tried = Array(0..<(16 * 8)) + bits(16..<4_096)
    let outcome = try flip(disk, DamageTests.path, bits: tried)
    #expect(outcome.named.count == tried.count)
    #expect(outcome.silent == [])
    #expect(outcome.named.allSatisfy { $0.contains("header of the sealed database was changed") })
  }

  @Test("in a page is named with the page's number")
  func page() throws {
    let disk = FaultDisk()
    try open(disk).fill(1...40)
    let size = try #require(disk.bytes(DamageTests.path)?.count)
    for page in 0..<(size / 4_096 - 1) {
      let start = (page + 1) * 4_096
      let tried = bits(start..<(start + 4_096)) + [(start + 4_095) * 8]
      let outcome = try flip(disk, DamageTests.path, bits: tried)
      #expect(outcome.named.count == tried.count)
      #expect(outcome.named.allSatisfy { $0.contains("page \(page + 1) does not open") })
    }
  }

  @Test("in a log that was synced is named, and never shortens the log in silence")
  func log() throws {
    let disk = FaultDisk()
    let connection = try open(disk)
    try connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
    for round in 0..<4 { try connection.fill((round * 10)...(round * 10 + 12)) }
    let path = DamageTests.path + "-wal"
    let size = try #require(disk.bytes(path)?.count)
    // The header that counts, then every frame; the mark stands between them.
    let tried = bits(0..<80) + bits(4_096..<size)
    let outcome = try flip(disk, path, bits: tried)
    #expect(outcome.silent == [])
    #expect(outcome.noticed == [])
    #expect(outcome.named.count == tried.count)
    #expect(outcome.named.contains { $0.contains("header of the log") })
    #expect(outcome.named.contains { $0.contains("frame 2 of the log") })
    withExtendedLifetime(connection) {}
  }

  @Test("A synced log that was cut short is named, wherever it was cut")
  func logCut() throws {
    let disk = FaultDisk()
    let connection = try open(disk)
    try connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
    for round in 0..<4 { try connection.fill((round * 10)...(round * 10 + 12)) }
    let path = DamageTests.path + "-wal"
    let size = try #require(disk.bytes(path)?.count)
    // Behind the mark; a log of which the mark is gone is like a log that was deleted.
    let cuts = Array(stride(from: 4_096, to: size, by: 977)) + [size - 1]
    for length in cuts {
      let left = disk.survivors(at: disk.operations, .kill, seed: 1)
      left.cut(path, to: length)
      let error = #expect(throws: SQLiteError.self, "cut at \(length)") { try readAll(left) }
      #expect(error?.seal == .damaged)
      #expect(
        error?.description.contains("it was cut") == true, "cut at \(length): \(error as Any)")
    }
    withExtendedLifetime(connection) {}
  }

  @Test("in a log that was never synced is noticed: it may be a torn write")
  func logUnsynced() throws {
    let disk = FaultDisk()
    let connection = try open(disk)
    try connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
    for round in 0..<4 { try connection.fill((round * 10)...(round * 10 + 12)) }
    let path = DamageTests.path + "-wal"
    let size = try #require(disk.bytes(path)?.count)
    let tried = bits(4_096..<size)
    let outcome = try flip(disk, path, bits: tried)
    #expect(outcome.silent == [])
    #expect(outcome.noticed.count + outcome.named.count == tried.count)
    #expect(outcome.noticed.contains { $0.contains("frame 3 of the log did not open") })
    withExtendedLifetime(connection) {}
  }

  @Test("in a journal that waits to be rolled back is named, and nothing is half rolled back")
  func journal() throws {
    let disk = FaultDisk()
    let connection = try open(disk)
    try connection.fill(1...200)
    // Spilled, so that the file has been written over and only the journal knows what was there.
    try connection.execute("PRAGMA cache_size = 4; BEGIN; UPDATE visit SET note = note || 'x'")
    let path = DamageTests.path + "-journal"
    let size = try #require(disk.bytes(path)?.count)
    let tried = bits(0..<16) + bits(256..<808) + Array(0..<128) + bits(4_096..<(size - 8_192))
    let outcome = try flip(disk, path, bits: tried)
    #expect(outcome.silent == [])
    #expect(outcome.noticed == [])
    #expect(outcome.named.contains { $0.contains("header of the journal") })
    #expect(outcome.named.contains { $0.contains("record 1 of the journal") })
    withExtendedLifetime(connection) {}
  }

  @Test("or a page put elsewhere, or a page of another database, does not open")
  func moved() throws {
    let disk = FaultDisk()
    try open(disk).fill(1...60)
    let bytes = try #require(disk.bytes(DamageTests.path))
    let folder = try Folder()
    let page = { (number: Int) in bytes[(number * 4_096)..<((number + 1) * 4_096)] }
    try folder.write(Array(bytes[..<8_192] + page(3) + page(2) + bytes[16_384...]), to: "a.db")
    let error = #expect(throws: SQLiteError.self) {
      try Connection(path: folder.path("a.db"), key: DamageTests.key).isSound()
    }
    #expect(error?.description.contains("does not open under the key") == true)
  }
}
