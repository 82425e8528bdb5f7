import FerryConnector
import FerryModel
import FerryPostgreSQL
import Foundation
import Synchronization
import Testing

@testable import FerryPostgreSQLConnector

/// A table whose triggers note who did what, in which order and on which connection; row 0 counts.
private struct LaneStage {
  let address: PostgreSQLAddress
  let other: PostgreSQLConnection
  let connector: PostgreSQLConnector

  init(_ sql: String = "", connections: Int = 4, lockTimeout: Duration = .seconds(10)) throws {
    address = try Cluster.database()
    other = try PostgreSQLConnection(address)
    try other.execute(
      """
      CREATE TABLE item (id int8 PRIMARY KEY, name text);
      CREATE TABLE done (place bigint GENERATED ALWAYS AS IDENTITY, id int8 NOT NULL, name text,
        person text, process int NOT NULL);
      CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO done (id, name, person, process)
          VALUES (NEW.id, NEW.name, current_setting('ferry.user', true), pg_backend_pid());
        RETURN NULL; END $$;
      CREATE TRIGGER note AFTER INSERT OR UPDATE ON item FOR EACH ROW WHEN (NEW.id > 0)
        EXECUTE FUNCTION note();
      \(sql)
      """)
    for statement in try Preparation(ItemTable.package, other).statements {
      try other.execute(statement)
    }
    connector = PostgreSQLConnector(
      address, package: ItemTable.package, lockTimeout: lockTimeout, connections: connections)
    connector.lead("store")
  }

  func group(
    _ number: Int, _ kind: OperationKind = .create, id: Int? = nil, user: String, name: String = "n"
  ) -> [ConnectorOperation] {
    let digits = String(number)
    let key = Int64(id ?? number)
    return [
      ConnectorOperation(
        id: OperationID(String(repeating: "0", count: 32 - digits.count) + digits)!,
        entity: ItemTable.entity, kind: kind, key: ObjectKey([.integer(key)]),
        changed: [1: .text(name)], base: [:], user: user)
    ]
  }

  /// 64 creates of eight users.
  var creates: [[ConnectorOperation]] { (1...64).map { group($0, user: "u\($0 % 8)") } }

  func count(_ sql: String) throws -> Int { Int(try other.value(sql) ?? "") ?? -1 }

  /// Performs as a server does: again what was not done, and asking first where nobody knows.
  func finish(_ groups: [[ConnectorOperation]]) throws {
    var open = groups
    var asked: [[ConnectorOperation]] = []
    let patience = Patience()
    while !(open.isEmpty && asked.isEmpty), !patience.hasEnded {
      for group in asked {
        guard let recalled = try? connector.recall(group) else { continue }
        asked.removeAll { $0 == group }
        if recalled[0] == .notPerformed { open.append(group) }
      }
      guard !open.isEmpty else { continue }
      let results = connector.perform(open, while: { true })
      var rest = Array(open.dropFirst(results.count))
      for (group, result) in zip(open, results) {
        switch result {
        case .done(let outcomes, _):
          guard case .accepted? = outcomes.first else {
            Issue.record("\(group[0].id.text): \(outcomes)")
            continue
          }
        case .notDone, .waits: rest.append(group)
        case .unknown: asked.append(group)
        }
      }
      open = rest
    }
    #expect(open.isEmpty && asked.isEmpty, "\(open.count) and \(asked.count) never ended")
  }
}

private func isDone(_ result: PerformResult) -> Bool {
  if case .done(let outcomes, _) = result, case .accepted? = outcomes.first { return true }
  return false
}

@Suite("Replay on several connections")
struct LaneTests {
  @Test("What one user did, and what is about one object, is in one lane and in its order")
  func shared() throws {
    let stage = try LaneStage()
    var groups = (0..<12).map { stage.group($0 + 1, user: "u\($0 % 4)") }
    groups.append(stage.group(13, .update, id: 1, user: "u1"))
    let lanes = Lanes(groups, connections: 4)
    // u0 made object 1 and u1 changes it: both are in one lane.
    #expect(lanes.places.count == 3)
    #expect(lanes.places.flatMap { $0 }.sorted() == Array(groups.indices))
    #expect(lanes.places.allSatisfy { $0 == $0.sorted() })
    for user in 0..<4 {
      let places = groups.indices.filter { groups[$0][0].user == "u\(user)" }
      #expect(lanes.places.count { !Set($0).isDisjoint(with: places) } == 1, "u\(user)")
    }
    let own = lanes.places.first { $0.contains(0) }
    #expect(own?.contains(12) == true)
    #expect(Lanes(groups, connections: 1).places == [Array(groups.indices)])
    #expect(
      Lanes((0..<20).map { stage.group($0 + 1, user: "u") }, connections: 4).places.count == 1)
  }

  @Test("Operations of different users are performed on several connections, each user's in order")
  func sideBySide() throws {
    let stage = try LaneStage()
    let results = stage.connector.perform(stage.creates, while: { true })
    #expect(results.count == 64 && results.allSatisfy(isDone))
    #expect(try stage.count("SELECT count(DISTINCT process) FROM done") == 4)
    #expect(try stage.count("SELECT count(*) FROM ferry.applied") == 64)
    #expect(
      try stage.count(
        """
        SELECT count(*) FROM (SELECT id < lag(id) OVER (PARTITION BY person ORDER BY place) AS late
          FROM done) AS d WHERE late
        """) == 0)
    // None of it is news.
    let cursor = try stage.connector.changes(since: nil).cursor
    let updates = (1...64).map {
      stage.group(100 + $0, .update, id: $0, user: "u\($0 % 8)", name: "m")
    }
    #expect(stage.connector.perform(updates, while: { true }).allSatisfy(isDone))
    #expect(try stage.connector.changes(since: cursor).hints == [])
    // The same again is answered as it was.
    let again = stage.connector.perform(updates, while: { true })
    for result in again {
      guard case .done(let outcomes, _) = result, case .accepted(_, true)? = outcomes.first else {
        Issue.record("\(result)")
        continue
      }
    }
    #expect(try stage.count("SELECT count(*) FROM done") == 128)
  }

  @Test("One object that many users change is changed in the order in which they came")
  func oneObject() throws {
    let stage = try LaneStage("INSERT INTO item VALUES (1, '')")
    var groups: [[ConnectorOperation]] = []
    for number in 1...60 {
      let isShared = number % 3 == 0
      groups.append(
        stage.group(
          number, isShared ? .update : .create, id: isShared ? 1 : number + 100,
          user: "u\(number)", name: String(number)))
    }
    #expect(stage.connector.perform(groups, while: { true }).allSatisfy(isDone))
    #expect(try stage.count("SELECT count(DISTINCT process) FROM done WHERE id > 100") > 1)
    let names = try stage.other.rows("SELECT name FROM done WHERE id = 1 ORDER BY place").texts
    // The first one is of the schema's own insert.
    #expect(names.dropFirst().map { $0[0] } == (1...20).map { String($0 * 3) })
  }

  /// Row 0 counts the creates.
  private static let counter: String = """
    INSERT INTO item VALUES (0, '0');
    CREATE FUNCTION tally() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN UPDATE item SET name = (name::int + 1)::text WHERE id = 0; RETURN NULL; END $$;
    CREATE TRIGGER tally AFTER INSERT ON item FOR EACH ROW WHEN (NEW.id > 0)
      EXECUTE FUNCTION tally();
    """

  @Test("A third row that two connections touched is read again: each answer has its last state")
  func third() throws {
    let stage = try LaneStage(LaneTests.counter)
    let results = stage.connector.perform(stage.creates, while: { true })
    #expect(results.count == 64 && results.allSatisfy(isDone))
    #expect(try stage.count("SELECT count(DISTINCT process) FROM done") > 1)
    for result in results {
      guard case .done(_, let touched) = result else { continue }
      let counter = touched.first { $0.key == ObjectKey([.integer(0)]) }
      #expect(counter?.values?[1] == .text("64"))
      #expect(touched.count == 2)
    }
  }

  @Test("Connections that lock each other out go on one after the other, and all is done once")
  func deadlock() throws {
    let stage = try LaneStage(
      """
      INSERT INTO item VALUES (-1, '0'), (-2, '0');
      CREATE FUNCTION cross() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE first int8 := -1 - mod(NEW.id, 2); BEGIN
          UPDATE item SET name = (name::int + 1)::text WHERE id = first;
          PERFORM pg_sleep(0.02);
          UPDATE item SET name = (name::int + 1)::text WHERE id = -3 - first;
          RETURN NULL; END $$;
      CREATE TRIGGER crossing AFTER INSERT ON item FOR EACH ROW WHEN (NEW.id > 0)
        EXECUTE FUNCTION cross();
      """)
    try stage.other.execute(
      "ALTER DATABASE \(stage.address.database) SET deadlock_timeout = '50ms'")
    let groups = (1...32).map { stage.group($0, user: "u\($0)") }
    try stage.finish(groups)
    #expect(stage.connector.lanesPausedUntil != nil, "nobody was in anybody's way")
    #expect(try stage.count("SELECT count(*) FROM item WHERE id > 0") == 32)
    #expect(try stage.other.rows("SELECT name FROM item WHERE id < 0").texts == [["32"], ["32"]])
  }

  @Test("Connections that are ended in mid-statement: everything is done, and nothing twice")
  func terminated() throws {
    let stage = try LaneStage(LaneTests.counter)
    let isOver = Atomic<Bool>(false)
    let kills = Atomic<Int>(0)
    let ended = DispatchSemaphore(value: 0)
    nonisolated(unsafe) let killer = try PostgreSQLConnection(stage.address)
    Thread.detachNewThread {
      while !isOver.load(ordering: .relaxed) {
        let found = try? killer.value(
          """
          SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity
            WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()
            ORDER BY random() LIMIT 1) AS one
          """)
        kills.add(Int(found ?? "0") ?? 0, ordering: .relaxed)
        for _ in 0..<3 { Patience.moment() }
      }
      ended.signal()
    }
    // Until enough were ended, however fast the work is.
    var done = 0
    while done < 384 || kills.load(ordering: .relaxed) <= 3, done < 6_400 {
      try stage.finish((done + 1...done + 64).map { stage.group($0, user: "u\($0 % 40)") })
      done += 64
    }
    isOver.store(true, ordering: .relaxed)
    ended.wait()
    #expect(kills.load(ordering: .relaxed) > 3)
    #expect(try stage.count("SELECT count(*) FROM done") == done)
    #expect(try stage.count("SELECT count(*) FROM ferry.applied") == done)
    #expect(try stage.other.value("SELECT name FROM item WHERE id = 0") == String(done))
  }

  @Test("A row that others hold locked keeps one operation waiting, and no other")
  func locked() throws {
    // Where one waited as long as others allow, this would be a day.
    let stage = try LaneStage("INSERT INTO item VALUES (500, '')", lockTimeout: .seconds(86_400))
    try stage.other.execute("BEGIN; SELECT FROM item WHERE id = 500 FOR UPDATE")
    var groups = stage.creates
    groups[5] = stage.group(600, .update, id: 500, user: "u6")
    let results = stage.connector.perform(groups, while: { true })
    for (index, result) in results.enumerated() {
      #expect(isDone(result) == (index != 5), "\(index): \(result)")
    }
    guard case .notDone(let reason) = results[5] else { return }
    #expect(reason.contains("locked"), "\(reason)")
    try stage.other.execute("COMMIT")
    #expect(isDone(stage.connector.perform(groups[5])))
  }

  @Test("Without connections for more, one does everything")
  func oneConnection() throws {
    let stage = try LaneStage()
    let role = "few_\(stage.address.database)"
    try stage.other.execute(
      "CREATE ROLE \(role) LOGIN CONNECTION LIMIT 2; GRANT ALL ON done TO \(role)")
    for statement in try Preparation(ItemTable.package, stage.other, role: role).statements {
      try stage.other.execute(statement)
    }
    let connector = PostgreSQLConnector(
      try PostgreSQLAddress(stage.address.text.replacing("user=ferry", with: "user=\(role)")),
      package: ItemTable.package)
    connector.lead("few")
    let results = connector.perform(stage.creates, while: { true })
    #expect(results.count == 64)
    #expect(results.allSatisfy(isDone), "\(results.filter { !isDone($0) })")
    #expect(connector.lanesPausedUntil != nil)
  }
}
