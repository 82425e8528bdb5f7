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
      package = ItemTable.package
      for statement in try Preparation(package, other).statements { try other.execute(statement) }
      connector = PostgreSQLConnector(address, package: package)
    }

    /// As after a restart of the server.
    func fresh() -> PostgreSQLConnector { PostgreSQLConnector(address, package: package) }

    /// A database copied from this one, as it is now.
    static func copy(
      of name: String, by master: PostgreSQLConnection, _ stage: Stage
    ) throws -> PostgreSQLAddress {
      try master.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'")
      while try master.value("SELECT count(*) FROM pg_stat_activity WHERE datname = '\(name)'")
        != "0"
      {}
      try master.execute("CREATE DATABASE \(name)_copy TEMPLATE \(name)")
      return try Cluster.shared.get().address("\(name)_copy")
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
    let patience = Patience()
    while seen.count < wanted, !patience.hasEnded {
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
    #expect(try stage.fresh().changes(since: cursor).hints == [.entity("Item")])
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
    #expect(changes.cursor == nil)
    #expect(changes.hints == [.anything])
    #expect(changes.shortfall?.contains("ferry prepare") == true)
  }

  @Test("A trigger that was disabled, and a cursor of another database, lead to a comparison")
  func disabled() throws {
    let stage = try Stage()
    let cursor = try stage.begin()
    try stage.other.execute("ALTER TABLE item DISABLE TRIGGER ferry_row")
    let disabled = try stage.fresh().changes(since: cursor)
    #expect(disabled.hints == [.entity("Item")])
    #expect(disabled.shortfall?.contains("item has a partition or a trigger") == true)
    // What was changed meanwhile has no entry: that it was disabled shows afterwards too.
    try stage.other.execute(
      "INSERT INTO item VALUES (1); ALTER TABLE item ENABLE ALWAYS TRIGGER ferry_row")
    let enabled = try stage.fresh().changes(since: cursor)
    #expect(enabled.hints == [.entity("Item")])
    #expect(enabled.shortfall == nil)
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
    let fresh = stage.fresh()
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

  @Test("Cascades, COPY, MERGE and a second unique key are noted like any other change")
  func cascades() throws {
    let stage = try Stage(
      """
      CREATE TABLE parent (id int8 PRIMARY KEY);
      CREATE TABLE item (id int8 PRIMARY KEY, name text UNIQUE,
        parent int8 REFERENCES parent ON DELETE CASCADE ON UPDATE CASCADE);
      INSERT INTO parent VALUES (1), (2);
      INSERT INTO item VALUES (1, 'a', 1), (2, 'b', 1), (3, 'c', 2)
      """)
    var (keys, cursor) = ([String](), try stage.begin())
    try stage.other.execute("DELETE FROM parent WHERE id = 1")
    (keys, cursor) = try stage.keys(since: cursor)
    #expect(keys == ["1", "2"])
    try stage.other.execute("UPDATE parent SET id = 20 WHERE id = 2")
    (keys, cursor) = try stage.keys(since: cursor)
    #expect(keys == ["3"])
    try stage.other.execute(
      """
      INSERT INTO item VALUES (9, 'c', 20) ON CONFLICT (name) DO UPDATE SET id = excluded.id;
      MERGE INTO item USING (VALUES (9), (10)) AS v (id) ON item.id = v.id
        WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (v.id)
      """)
    (keys, cursor) = try stage.keys(since: cursor)
    #expect(keys == ["10", "3", "9"])
    try stage.other.execute("COPY item (id) FROM PROGRAM 'echo 50; echo 51'")
    #expect(try stage.keys(since: cursor).keys == ["50", "51"])
  }

  @Test(
    "A key's column that is renamed, retyped or dropped stops no write, not of an open session either",
    arguments: zip(
      [
        "ALTER TABLE item RENAME id TO number", "ALTER TABLE item ALTER id TYPE numeric(9)",
        "ALTER TABLE item DROP id",
      ],
      [
        "ALTER TABLE item RENAME number TO id", "ALTER TABLE item ALTER id TYPE int8",
        "ALTER TABLE item ADD id int8 PRIMARY KEY",
      ]))
  func alteredKey(_ change: String, _ undo: String) throws {
    let stage = try Stage("CREATE TABLE item (id int8 PRIMARY KEY, name text)")
    // Its plans for the trigger are made for the column as it is.
    let session = try PostgreSQLConnection(stage.address)
    try session.execute("INSERT INTO item VALUES (1, 'a'); UPDATE item SET name = 'b'")
    let cursor = try stage.begin()
    try stage.other.execute(change)
    try session.execute("UPDATE item SET name = 'c'; DELETE FROM item")
    // While the model does not fit there is nothing to read.
    let meanwhile = try stage.fresh().changes(since: cursor).cursor
    try stage.other.execute(undo)
    #expect(try stage.fresh().changes(since: meanwhile).hints == [.entity("Item")])
  }

  @Test("A database that was set back behind its mark, and one that is a copy, are compared")
  func setBack() throws {
    let stage = try Stage()
    var cursor = try stage.begin()
    for number in 1...3 {
      try stage.other.execute("INSERT INTO item VALUES (\(number))")
      cursor = try stage.keys(since: cursor).cursor
    }
    let before = cursor
    try stage.other.execute("INSERT INTO item VALUES (4)")
    cursor = try stage.keys(since: cursor).cursor
    // A store that was set back sees again what it missed, and compares nothing.
    #expect(try stage.keys(since: before).keys == ["4"])
    cursor = try stage.keys(since: cursor).cursor
    // As the backup has it; transactions have gone on beyond the cursor since.
    try stage.other.execute(
      "UPDATE ferry.mark SET number = 2; INSERT INTO item VALUES (5), (6)")
    #expect(try stage.fresh().changes(since: cursor).hints == [.anything])

    let name = stage.address.database
    try stage.other.execute("DELETE FROM ferry.mark")
    let last = try stage.begin()
    let master = try PostgreSQLConnection(try Cluster.shared.get().address("postgres"))
    let copy = try Stage.copy(of: name, by: master, stage)
    let elsewhere = PostgreSQLConnector(copy, package: stage.package)
    #expect(try elsewhere.changes(since: last).hints == [.anything])
  }

  @Test("Entries that a copy brought along from another cluster are not taken for new ones")
  func foreignEntries() throws {
    let stage = try Stage()
    let cursor = try stage.begin()
    try stage.other.execute(
      """
      INSERT INTO ferry.change (xid, relation, new_key)
      VALUES ('900000000000', 'item'::regclass, '{77}'); INSERT INTO item VALUES (1)
      """)
    #expect(try stage.keys(since: cursor).keys == ["1"])
  }

  @Test("More entries than memory should hold become one hint at the entity")
  func bulk() throws {
    let stage = try Stage()
    let cursor = try stage.begin()
    try stage.other.execute("INSERT INTO item SELECT generate_series(1, 20001)")
    let changes = try stage.connector.changes(since: cursor)
    #expect(changes.hints == [.entity("Item")])
    #expect(try stage.keys(since: try #require(changes.cursor)).keys == [])
  }

  @Test("A partition that came after ferry prepare is told, and compared until it has its triggers")
  func newPartition() throws {
    let stage = try Stage(
      """
      CREATE TABLE item (id int8 PRIMARY KEY, name text) PARTITION BY RANGE (id);
      CREATE TABLE item_low PARTITION OF item FOR VALUES FROM (0) TO (100)
      """)
    let cursor = try stage.begin()
    try stage.other.execute(
      "CREATE TABLE item_high PARTITION OF item FOR VALUES FROM (100) TO (200)")
    let changes = try stage.fresh().changes(since: cursor)
    #expect(changes.hints == [.entity("Item")])
    #expect(changes.shortfall?.contains("item has a partition") == true)
    for statement in try Preparation(stage.package, stage.other).statements {
      try stage.other.execute(statement)
    }
    let fresh = stage.fresh()
    let next = try fresh.changes(since: changes.cursor)
    #expect(next.shortfall == nil)
    try stage.other.execute("INSERT INTO item VALUES (150)")
    #expect(
      try fresh.changes(since: next.cursor).hints
        == [.objects(entity: "Item", keys: [ObjectKey([.integer(150)])])])
  }

  @Test("A table that got another key after ferry prepare is compared, and told")
  func otherKey() throws {
    let stage = try Stage("CREATE TABLE item (id int8 NOT NULL, name text, PRIMARY KEY (name))")
    let cursor = try stage.begin()
    try stage.other.execute(
      "ALTER TABLE item DROP CONSTRAINT item_pkey, ADD PRIMARY KEY (id)")
    let changes = try stage.fresh().changes(since: cursor)
    #expect(changes.hints == [.entity("Item")])
    #expect(changes.shortfall?.contains("another key") == true)
  }
}
