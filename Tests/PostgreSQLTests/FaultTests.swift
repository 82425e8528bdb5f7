import FerryConnector
import FerryModel
import FerryPostgreSQL
import FerryPostgreSQLConnector
import Foundation
import Synchronization
import Testing

@Suite("A business database of PostgreSQL that cannot do what is asked")
struct FaultTests {
  private func update(_ stage: ReplayStage, _ id: Int64, to name: String) -> ConnectorOperation {
    let digits = String(id)
    return ConnectorOperation(
      id: OperationID(String(repeating: name, count: 32 - digits.count) + digits)!,
      entity: stage.item, kind: .update, key: ObjectKey([.integer(id)]), changed: [1: .text(name)],
      base: [:])
  }

  /// Why nothing was done.
  private func reason(_ result: PerformResult) -> String {
    if case .notDone(let reason) = result { return reason }
    Issue.record("\(result)")
    return ""
  }

  /// With the rights that `ferry prepare --role` gives, and no others.
  private func connector(_ stage: ReplayStage, as role: String) throws -> PostgreSQLConnector {
    for statement in try Preparation(stage.package, stage.other, role: role).statements {
      try stage.other.execute(statement)
    }
    return PostgreSQLConnector(
      try PostgreSQLAddress(stage.address.text.replacing("user=ferry", with: "user=\(role)")),
      package: stage.package)
  }

  @Test("Deadlocks are tried again; after ten the user is told with 409, and nothing is half done")
  func deadlock() throws {
    let stage = try ReplayStage()
    try stage.other.execute("INSERT INTO item VALUES (1, 'a'), (2, 'b')")
    // The server's own line looks for deadlocks first, so that it is the one that is ended. When it
    // has the first row it says so, and wants the second only when others wait for the first.
    try stage.other.execute(
      """
      CREATE FUNCTION meet() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM pg_advisory_xact_lock(42);
        WHILE NOT EXISTS (SELECT FROM pg_locks AS l
          WHERE NOT l.granted AND pg_backend_pid() = ANY (pg_blocking_pids(l.pid)))
        LOOP PERFORM pg_sleep(0.001); END LOOP;
        RETURN NEW; END $$;
      CREATE TRIGGER meet BEFORE UPDATE ON item FOR EACH ROW
        WHEN (NEW.id = 1 AND NEW.name = 'e') EXECUTE FUNCTION meet();
      ALTER DATABASE \(stage.address.database) SET deadlock_timeout = '20ms';
      SET deadlock_timeout = '1h'
      """)
    let connector = PostgreSQLConnector(stage.address, package: stage.package)
    let group = [update(stage, 1, to: "e"), update(stage, 2, to: "e")]
    for attempt in 1...10 {
      try stage.other.execute("BEGIN; UPDATE item SET name = 'o' WHERE id = 2")
      nonisolated(unsafe) let other = stage.other
      let waits = DispatchSemaphore(value: 0)
      nonisolated(unsafe) let watcher = try PostgreSQLConnection(stage.address)
      let isOver = Atomic<Bool>(false)
      let hasFirst = """
        SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 42
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        """
      Thread.detachNewThread {
        while !isOver.load(ordering: .relaxed), (try? watcher.value(hasFirst)) == "0" {}
        try? other.execute("UPDATE item SET name = 'o' WHERE id = 1")
        waits.signal()
      }
      let result = connector.perform(group)
      isOver.store(true, ordering: .relaxed)
      waits.wait()
      try stage.other.execute("ROLLBACK")
      if attempt < 10 {
        #expect(reason(result).contains("deadlock"), "attempt \(attempt)")
      } else {
        guard case .done(let outcomes, _) = result, case .refused(let refusal) = outcomes[1] else {
          Issue.record("\(result)")
          return
        }
        #expect(refusal.code == 409)
        #expect(outcomes[0] == .notTried)
      }
      #expect(
        try stage.other.rows("SELECT name FROM item ORDER BY id").texts == [["a"], ["b"]])
    }
  }

  @Test("A statement that takes too long, of the server's own limit or the database's, is not done")
  func statementTimeout() throws {
    let stage = try ReplayStage()
    try stage.other.execute(
      """
      CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_sleep(600); RETURN NEW; END $$;
      CREATE TRIGGER slow BEFORE INSERT ON item FOR EACH ROW WHEN (NEW.id = 1)
        EXECUTE FUNCTION slow()
      """)
    // What is not slow has long enough on any machine.
    let connector = PostgreSQLConnector(
      stage.address, package: stage.package,
      deadlines: PostgreSQLConnection.Deadlines(answer: .seconds(8)))
    #expect(reason(connector.perform([stage.create(1)])).contains("statement timeout"))
    #expect(stage.isDone(connector.perform([stage.create(2)])))
    #expect(try stage.other.value("SELECT count(*) FROM item") == "1")
  }

  @Test("Without a free connection nothing is lost, the reason is told, and it goes on by itself")
  func noConnection() throws {
    let stage = try ReplayStage()
    let role = "full_\(stage.address.database)"
    try stage.other.execute("CREATE ROLE \(role) LOGIN CONNECTION LIMIT 0")
    let connector = try connector(stage, as: role)
    #expect(reason(connector.perform([stage.create(1)])).contains("too many connections"))
    #expect(connector.isUnreachable)
    for error in [
      #expect(throws: ConnectorError.self) { try connector.changes(since: nil) },
      #expect(throws: ConnectorError.self) { try connector.read(stage.item, keys: []) },
      #expect(throws: ConnectorError.self) { try connector.recall([stage.create(1)]) },
    ] {
      #expect(error?.isTransient == true)
      #expect(error?.message.contains("too many connections") == true)
    }
    try stage.other.execute("ALTER ROLE \(role) CONNECTION LIMIT 5")
    #expect(stage.isDone(connector.perform([stage.create(1)])))
    #expect(!connector.isUnreachable)
  }

  @Test("A database that is read-only, as a standby is, performs nothing and says so")
  func readOnly() throws {
    let stage = try ReplayStage()
    #expect(stage.isDone(stage.connector.perform([stage.create(1)])))
    let name = stage.address.database
    try stage.other.execute("ALTER DATABASE \(name) SET default_transaction_read_only = on")
    let connector = PostgreSQLConnector(stage.address, package: stage.package)
    connector.lead("store")
    #expect(reason(connector.perform([stage.create(2)])).contains("Name the primary"))
    let error = #expect(throws: ConnectorError.self) {
      try connector.recall([stage.create(2)])
    }
    #expect(error?.isTransient == true)
    // What only reads goes on.
    #expect(try connector.read(stage.item, keys: [ObjectKey([.integer(1)])]).first?.values != nil)
    try stage.other.execute("ALTER DATABASE \(name) SET default_transaction_read_only = off")
    var result = connector.perform([stage.create(2)])
    if case .notDone = result {
      // The connection that was made meanwhile keeps what it began with.
      result = PostgreSQLConnector(stage.address, package: stage.package).perform([stage.create(2)])
    }
    #expect(stage.isDone(result))
  }

  @Test(
    "Rights that are withdrawn from a running server: nothing looks deleted, the right is named")
  func withdrawn() throws {
    let stage = try ReplayStage()
    try stage.other.execute("INSERT INTO item VALUES (1, 'a')")
    let role = "less_\(stage.address.database)"
    try stage.other.execute("CREATE ROLE \(role) LOGIN")
    let connector = try connector(stage, as: role)
    func load() throws(ConnectorError) -> Int {
      var count = 0
      _ = try connector.load(
        LoadScope(entities: [stage.item]), from: nil, each: { count += $0.rows.count },
        rejected: { _ in })
      return count
    }
    #expect(try load() == 1)
    #expect(stage.isDone(connector.perform([update(stage, 1, to: "b")])))
    try stage.other.execute("REVOKE UPDATE ON item FROM \(role)")
    for _ in 0..<12 {
      #expect(reason(connector.perform([update(stage, 1, to: "c")])).contains("Grant"))
    }
    try stage.other.execute("GRANT UPDATE ON item TO \(role); REVOKE SELECT ON item FROM \(role)")
    let errors = [
      #expect(throws: ConnectorError.self) { try load() },
      #expect(throws: ConnectorError.self) {
        try connector.read(stage.item, keys: [ObjectKey([.integer(1)])])
      },
    ]
    for error in errors { #expect(error?.message.contains("permission denied") == true) }
    try stage.other.execute("GRANT SELECT ON item TO \(role)")
    #expect(try load() == 1)
    // Row security that comes later: an error, for fewer rows would look deleted.
    try stage.other.execute("ALTER TABLE item ENABLE ROW LEVEL SECURITY")
    #expect(throws: ConnectorError.self) { try load() }
    #expect(throws: ConnectorError.self) {
      try connector.read(stage.item, keys: [ObjectKey([.integer(1)])])
    }
  }

  @Test("Columns that are added, renamed or dropped under a running server")
  func columns() throws {
    let stage = try ReplayStage()
    let connector = PostgreSQLConnector(stage.address, package: stage.package)
    func load() throws(ConnectorError) -> [AttributeValue?] {
      var rows: [RowImage] = []
      _ = try connector.load(
        LoadScope(entities: [stage.item]), from: nil, each: { rows += $0.rows },
        rejected: { _ in })
      return rows.map { $0.values?[1] }
    }
    #expect(stage.isDone(connector.perform([stage.create(1, [1: .text("a")])])))
    #expect(try load() == [.text("a")])
    try stage.other.execute("ALTER TABLE item ADD COLUMN extra text NOT NULL DEFAULT 'x'")
    #expect(stage.isDone(connector.perform([stage.create(2, [1: .text("b")])])))
    #expect(try load() == [.text("a"), .text("b")])
    try stage.other.execute("ALTER TABLE item ALTER COLUMN extra DROP DEFAULT")
    let refusal = stage.refusal(connector.perform([stage.create(3)]))
    #expect(refusal?.code == 412)
    #expect(refusal?.message.contains("extra") == true, "\(refusal?.message ?? "")")
    try stage.other.execute("ALTER TABLE item DROP COLUMN extra")
    for change in ["RENAME COLUMN name TO title", "RENAME COLUMN title TO name"] {
      try stage.other.execute("ALTER TABLE item \(change)")
      guard change.hasSuffix("title") else { continue }
      // A rename is no deletion: nothing is done, and nothing is read.
      for _ in 0..<12 {
        #expect(reason(connector.perform([update(stage, 1, to: "c")])).contains("ferry diff"))
      }
      #expect(throws: ConnectorError.self) { try load() }
      #expect(throws: ConnectorError.self) {
        try connector.read(stage.item, keys: [ObjectKey([.integer(1)])])
      }
    }
    #expect(stage.isDone(connector.perform([update(stage, 1, to: "c")])))
    try stage.other.execute("ALTER TABLE item DROP COLUMN name")
    #expect(throws: ConnectorError.self) { try load() }
    #expect(reason(connector.perform([update(stage, 1, to: "d")])).contains("name"))
    try stage.other.execute("DROP TABLE item")
    #expect(throws: ConnectorError.self) { try load() }
    #expect(reason(connector.perform([update(stage, 1, to: "d")])).contains("item"))
  }

  @Test("24:00 and what is no number on devices are told row by row, and the others arrive")
  func strangeValues() throws {
    let address = try Cluster.database()
    let other = try PostgreSQLConnection(address)
    try other.execute(
      """
      CREATE TABLE odd (id int8 PRIMARY KEY, hour time, day date, ratio float8);
      INSERT INTO odd VALUES (1, '24:00', NULL, 1), (2, '23:59:59.999999', '9999-12-31', 0.5),
        (3, NULL, 'infinity', 1), (4, NULL, '0001-01-01 BC', 1), (5, NULL, '10000-01-01', 1),
        (6, '00:00', '0001-01-01', '-0'), (7, NULL, NULL, 'NaN'), (8, NULL, NULL, 'Infinity')
      """)
    let odd = Entity(
      name: "Odd", table: "odd",
      attributes: [
        Attribute(name: "id", column: "id", type: .long, isNullable: false),
        Attribute(name: "hour", column: "hour", type: .time, isNullable: true),
        Attribute(name: "day", column: "day", type: .date, isNullable: true),
        Attribute(name: "ratio", column: "ratio", type: .double, isNullable: true),
      ], key: [0], keyOrigin: .app, relationships: [], operations: Set(OperationKind.allCases),
      partition: nil, group: "all")
    let package = Package(
      name: "odd", version: "1.0", entities: [odd], groups: [SynchronizationGroup(name: "all")])
    let connector = PostgreSQLConnector(address, package: package)
    var rows: [RowImage] = []
    var rejected: [RejectedRow] = []
    _ = try connector.load(
      LoadScope(entities: [odd]), from: nil, each: { rows += $0.rows },
      rejected: { rejected.append($0) })
    let kept = Dictionary(uniqueKeysWithValues: rows.map { ($0.key.text, $0.values ?? []) })
    #expect(kept["2"]?[1] == .text("23:59:59.999999"))
    #expect(kept["6"]?[1] == .text("00:00:00"))
    #expect(rejected.filter { $0.attribute == "hour" }.map(\.key) == ["1"])
    #expect(rejected.filter { $0.attribute == "day" }.map(\.key).sorted() == ["3", "4", "5"])
    #expect(rejected.allSatisfy { !$0.reason.isEmpty })
    #expect(rows.count + rejected.count == 8)
    // What arrived is written back as it is.
    for row in rows {
      guard let values = row.values else { continue }
      let digits = row.key.text
      let operation = ConnectorOperation(
        id: OperationID(String(repeating: "b", count: 32 - digits.count) + digits)!, entity: odd,
        kind: .update, key: row.key, changed: [3: .double(2)],
        base: Dictionary(uniqueKeysWithValues: values.enumerated().map { ($0, $1) }))
      guard case .done(let outcomes, _) = connector.perform([operation]) else {
        Issue.record("\(row.key) was not performed")
        continue
      }
      #expect(outcomes == [.accepted(key: row.key)], "\(row.key)")
    }
  }

  @Test("Two servers on one database: each hears of the other's changes, and of none of its own")
  func twoServers() throws {
    let stage = try ReplayStage()
    for statement in try Preparation(stage.package, stage.other).statements {
      try stage.other.execute(statement)
    }
    let servers = try ["north", "south"].map { name in
      let connector = PostgreSQLConnector(stage.address, package: stage.package)
      connector.lead(name)
      return (connector, try #require(try connector.changes(since: nil).cursor))
    }
    #expect(stage.isDone(servers[0].0.perform([stage.create(1, [1: .text("n")])])))
    #expect(stage.isDone(servers[1].0.perform([stage.create(2, [1: .text("s")])])))
    for (place, (connector, cursor)) in servers.enumerated() {
      let changes = try connector.changes(since: cursor)
      let key = ObjectKey([.integer(place == 0 ? 2 : 1)])
      #expect(changes.hints == [.objects(entity: "Item", keys: [key])], "server \(place)")
      #expect(try connector.changes(since: changes.cursor).hints == [])
    }
    // One object, changed at both: the second is told what the first has written.
    let conflict = ConnectorOperation(
      id: OperationID(String(repeating: "c", count: 32))!, entity: stage.item, kind: .update,
      key: ObjectKey([.integer(1)]), changed: [1: .text("x")], base: [1: .text("old")])
    #expect(stage.refusal(servers[1].0.perform([conflict]))?.currentValue == .text("n"))
  }
}
