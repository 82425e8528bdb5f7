import FerryConnector
import FerryPostgreSQL
import FerryPostgreSQLConnector
import Foundation
import Synchronization
import Testing

@Suite("The table of entries is dropped under many writers")
struct DroppedEntriesTests {
  private static let writers = 8
  private static let drops = 20

  @Test("Eight writers go on while it is dropped and made again, and the server says what to do")
  func writersGoOn() throws {
    let address = try Cluster.database()
    let operators = try PostgreSQLConnection(address)
    try operators.execute(
      """
      CREATE TABLE item (id int8 PRIMARY KEY, name text);
      INSERT INTO item SELECT n, '' FROM generate_series(1, \(DroppedEntriesTests.writers)) AS n
      """)
    let statements = try Preparation(ItemTable.package, operators).statements
    for statement in statements { try operators.execute(statement) }
    // Its time stands still: it believes what it has read of the catalogue until the test lets it look.
    let clock = StoreClock()
    let connector = PostgreSQLConnector(address, package: ItemTable.package, clock: clock)
    let cursor = try connector.changes(since: nil).cursor

    let goesOn = Mutex(true)
    let failures = Mutex<[String]>([])
    let written = Mutex([Int](repeating: 0, count: DroppedEntriesTests.writers))
    let ended = DispatchSemaphore(value: 0)
    for writer in 0..<DroppedEntriesTests.writers {
      Thread.detachNewThread {
        do {
          let own = try PostgreSQLConnection(address)
          while goesOn.withLock({ $0 }) {
            let count = written.withLock { counts in
              counts[writer] += 1
              return counts[writer]
            }
            // Several rows in one transaction, and a savepoint that takes the first one back.
            try own.execute(
              """
              BEGIN; SAVEPOINT a; UPDATE item SET name = 'undone' WHERE id = \(writer + 1);
              ROLLBACK TO a; UPDATE item SET name = '\(count)' WHERE id = \(writer + 1); COMMIT
              """)
          }
        } catch { failures.withLock { $0.append("writer \(writer): \(error)") } }
        ended.signal()
      }
    }
    defer { goesOn.withLock { $0 = false } }
    // Each of them has written before the first drop, and between two.
    func waitForAll() {
      let before = written.withLock { $0 }
      let patience = Patience()
      while patience.lasts(), failures.withLock({ $0.isEmpty }),
        written.withLock({ now in zip(before, now).contains { $1 < $0 + 2 } })
      {}
    }
    for round in 1...DroppedEntriesTests.drops {
      waitForAll()
      try operators.execute("DROP TABLE ferry.change")
      waitForAll()
      guard round < DroppedEntriesTests.drops else { break }
      for statement in statements where statement.contains("ferry.change (") {
        try operators.execute(statement)
      }
    }
    goesOn.withLock { $0 = false }
    for _ in 0..<DroppedEntriesTests.writers { ended.wait() }
    #expect(failures.withLock { $0 } == [])
    let names = try operators.rows("SELECT name FROM item ORDER BY id").texts.map { $0[0] ?? "" }
    #expect(names == written.withLock { $0.map(String.init) })

    #expect(throws: ConnectorError.self) { try connector.changes(since: cursor) }
    let changes = try connector.changes(since: cursor)
    #expect(changes.hints == [.anything])
    #expect(changes.shortfall?.contains("ferry prepare") == true)
  }
}
