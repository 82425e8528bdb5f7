import FerryConnector
import FerryModel
import FerryPostgreSQL
import FerryPostgreSQLConnector
import Testing

@Suite("What triggers note of PostgreSQL")
struct CaptureTests {
  /// One table with an integer key, prepared, and somebody else's connection.
  private struct Stage {
    let address: PostgreSQLAddress
    let other: PostgreSQLConnection
    let package: Package
    let connector: PostgreSQLConnector

    init(_ table: String = "CREATE TABLE item (id int8 PRIMARY KEY, name text)") throws {
      address = try Cluster.database()
      other = try PostgreSQLConnection(address)
      try other.execute(table)
      let item = Entity(
        name: "Item", table: "item",
        attributes: [
          Attribute(name: "id", column: "id", type: .long, isNullable: false),
          Attribute(name: "name", column: "name", type: .string, isNullable: true),
        ], key: [0], keyOrigin: .app, relationships: [], operations: Set(OperationKind.allCases),
        partition: nil, group: "all")
      package = Package(
        name: "capture", version: "1.0", entities: [item],
        groups: [SynchronizationGroup(name: "all")])
      for statement in try Preparation(package, other).statements { try other.execute(statement) }
      connector = PostgreSQLConnector(address, package: package)
    }

    func begin() throws -> String {
      let first = try connector.changes(since: nil)
      #expect(first.hints == [.anything])
      return try #require(first.cursor)
    }

    /// Keys of the hints, sorted, and the cursor behind them.
    func keys(since cursor: String) throws -> (keys: [String], cursor: String) {
      let changes = try connector.changes(since: cursor)
      var keys: [String] = []
      for hint in changes.hints {
        guard case .objects("Item", let found) = hint else {
          Issue.record("\(hint)")
          continue
        }
        keys += found.map(\.text)
      }
      return (keys.sorted(), try #require(changes.cursor))
    }
  }

  @Test("Insert, update, delete, a new key, COPY and a replica's changes are noted, each key once")
  func kinds() throws {
    let stage = try Stage()
    try stage.other.execute("INSERT INTO item VALUES (1), (2), (3)")
    let start = try stage.begin()
    try stage.other.execute(
      """
      INSERT INTO item VALUES (4); UPDATE item SET name = 'x' WHERE id = 1;
      UPDATE item SET name = 'y' WHERE id = 1; DELETE FROM item WHERE id = 2;
      UPDATE item SET id = 30 WHERE id = 3;
      SET session_replication_role = replica; INSERT INTO item VALUES (5);
      SET session_replication_role = DEFAULT
      """)
    let (keys, next) = try stage.keys(since: start)
    #expect(keys == ["1", "2", "3", "30", "4", "5"])
    #expect(try stage.keys(since: next).keys == [])
    // Whoever was set back sees them again.
    #expect(try stage.keys(since: start).keys == keys)
  }

  @Test("A transaction that ends late is seen when it ends, and one that is rolled back never")
  func late() throws {
    let stage = try Stage()
    let slow = try PostgreSQLConnection(stage.address)
    let undone = try PostgreSQLConnection(stage.address)
    try slow.execute("BEGIN; INSERT INTO item VALUES (1)")
    try undone.execute("BEGIN; INSERT INTO item VALUES (2)")
    var cursor = try stage.begin()
    for number in 10..<20 {
      try stage.other.execute("INSERT INTO item VALUES (\(number))")
      let (keys, next) = try stage.keys(since: cursor)
      #expect(keys == ["\(number)"])
      cursor = next
    }
    try undone.execute("ROLLBACK")
    try slow.execute("COMMIT")
    let (keys, next) = try stage.keys(since: cursor)
    #expect(keys == ["1"])
    #expect(try stage.keys(since: next).keys == [])
  }

  @Test("Many writers at once: every committed key is seen, and none twice")
  func many() async throws {
    let stage = try Stage()
    var cursor = try stage.begin()
    let address = stage.address
    let writers = 4
    let rounds = 60
    let written = Task {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 0..<writers {
          group.addTask {
            let connection = try PostgreSQLConnection(address)
            for round in 0..<rounds {
              let key = writer * 1_000 + round
              let end = round.isMultiple(of: 7) ? "ROLLBACK" : "COMMIT"
              try connection.execute("BEGIN; INSERT INTO item VALUES (\(key)); \(end)")
            }
          }
        }
        try await group.waitForAll()
      }
    }
    var seen: [String] = []
    let wanted = writers * (rounds - (rounds + 6) / 7)
    let end = ContinuousClock.now + .seconds(300)
    while seen.count < wanted, ContinuousClock.now < end {
      let (keys, next) = try stage.keys(since: cursor)
      seen += keys
      cursor = next
      await Task.yield()
    }
    try await written.value
    #expect(seen.count == wanted)
    #expect(Set(seen).count == wanted)
    #expect(try stage.keys(since: cursor).keys == [])
  }

  @Test("TRUNCATE of a table, of a partition, and a partition that is detached are not missed")
  func partitions() throws {
    let stage = try Stage(
      """
      CREATE TABLE item (id int8 PRIMARY KEY, name text) PARTITION BY RANGE (id);
      CREATE TABLE item_low PARTITION OF item FOR VALUES FROM (0) TO (100);
      CREATE TABLE item_high PARTITION OF item FOR VALUES FROM (100) TO (200)
      """)
    try stage.other.execute("INSERT INTO item VALUES (1), (101)")
    var cursor = try stage.begin()
    try stage.other.execute("UPDATE item SET id = 102 WHERE id = 1")
    let moved = try stage.keys(since: cursor)
    #expect(moved.keys == ["1", "102"])
    cursor = moved.cursor
    for sql in ["TRUNCATE item_high", "TRUNCATE item"] {
      try stage.other.execute(sql)
      let changes = try stage.connector.changes(since: cursor)
      #expect(changes.hints == [.entity("Item")], "\(sql)")
      cursor = try #require(changes.cursor)
    }
    try stage.other.execute("ALTER TABLE item DETACH PARTITION item_low")
    // The triggers themselves tell nothing: a new connection looks at once.
    let fresh = PostgreSQLConnector(stage.address, package: stage.package)
    #expect(try fresh.changes(since: cursor).hints == [.anything])
  }

  @Test("With the table of entries dropped others write on, and everything is compared")
  func dropped() throws {
    let stage = try Stage()
    let cursor = try stage.begin()
    try stage.other.execute("DROP TABLE ferry.change")
    try stage.other.execute(
      "INSERT INTO item VALUES (1); UPDATE item SET name = 'x'; DELETE FROM item")
    #expect(throws: ConnectorError.self) { try stage.connector.changes(since: cursor) }
    let changes = try stage.connector.changes(since: cursor)
    #expect(changes == BusinessChanges(cursor: nil, hints: [.anything]))
  }

  @Test("A trigger that was disabled, and a cursor of another database, lead to a comparison")
  func disabled() throws {
    let stage = try Stage()
    let cursor = try stage.begin()
    try stage.other.execute("ALTER TABLE item DISABLE TRIGGER ferry_row")
    let fresh = PostgreSQLConnector(stage.address, package: stage.package)
    #expect(try fresh.changes(since: cursor).hints == [.anything])
    let elsewhere = try Stage()
    let changes = try elsewhere.connector.changes(since: cursor)
    #expect(changes.hints == [.anything])
    #expect(changes.cursor != nil)
  }

  @Test("Entries that ended by age before they were seen lead to a comparison")
  func age() throws {
    let stage = try Stage()
    let cursor = try stage.begin()
    try stage.other.execute("INSERT INTO item VALUES (1), (2)")
    try stage.other.execute("UPDATE ferry.change SET at = at - interval '8 days'")
    let fresh = PostgreSQLConnector(stage.address, package: stage.package)
    // The first question takes them, and removes what is old behind it.
    _ = try fresh.changes(since: cursor)
    #expect(try stage.other.value("SELECT count(*) FROM ferry.change") == "0")
    #expect(try stage.connector.changes(since: cursor).hints == [.anything])
  }

  @Test("A role without rights on the schema of entries writes as before")
  func roles() throws {
    let stage = try Stage()
    let cursor = try stage.begin()
    try stage.other.execute(
      """
      CREATE ROLE clerk_\(stage.address.database); GRANT ALL ON item TO clerk_\(stage.address.database);
      SET ROLE clerk_\(stage.address.database); INSERT INTO item VALUES (7); RESET ROLE
      """)
    #expect(try stage.keys(since: cursor).keys == ["7"])
  }
}
