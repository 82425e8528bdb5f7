import Ferry
import FerryModel
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import Ferry

/// Counts who asks for the time of day: the session does so each time when it looks at what is there.
private final class CountingClock: WorldClock {
  private let inner = SystemClock()
  let count = Mutex(0)

  var now: Timestamp {
    count.withLock { $0 += 1 }
    return inner.now
  }

  var uptime: Duration { inner.uptime }
}

@Suite("What the session does for saves that it cannot send", .timeLimit(.minutes(60)))
struct CommitLookTests {
  @Test("Saves that come close together are looked at together, and not each for itself")
  func together() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("ferry-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let clock = CountingClock()
    let database = try FerryDatabase.open(
      at: folder.appendingPathComponent("looks.db").path, package: Warehouse.package(),
      profile: ConnectionProfile(server: "http://127.0.0.1:9"),
      world: World(clock: clock, chance: SystemChance(), log: SilentLog()))
    @Sendable func articles(_ ids: ClosedRange<Int64>) throws {
      for id in ids {
        var record = ObjectRecord(Article.entity, in: database)
        record.set(0, id)
        record.set(2, "Nail")
        record.set(7, true)
        var article = Article(record: record)
        try article.create()
      }
    }
    // What saves ask by themselves: in one transaction the session looks once, or a few times.
    let before = clock.count.withLock { $0 }
    try await database.transaction { try articles(1...200) }
    let alone = clock.count.withLock { $0 } - before
    let start = clock.uptime
    try articles(201...400)
    let milliseconds = (clock.uptime - start) / .milliseconds(1)
    let looks = clock.count.withLock { $0 } - before - 2 * alone
    // At most one in 50 ms, however long they took; and a few for the start.
    #expect(looks <= 20 + Int(milliseconds / 50), "\(looks) looks in \(milliseconds) ms")
    #expect(try database.hasPendingOperations)
    await database.close()
  }
}
