import FerryConnector
import FerryModel
import FerryPostgreSQL
import FerryPostgreSQLConnector
import Testing

/// One table that counts what is done to it, behind a line that can be cut.
private struct CutStage {
  let cluster: Cluster
  let cutter: Cutter
  let other: PostgreSQLConnection
  let address: PostgreSQLAddress
  let package: Package
  let item: Entity

  init(_ cluster: Cluster? = nil, isPrepared: Bool = true) throws {
    let shared = try Cluster.shared.get()
    self.cluster = cluster ?? shared
    cutter = try Cutter(before: self.cluster)
    var database = "postgres"
    if cluster == nil { database = try Cluster.database().database }
    address = try cutter.address(database)
    other = try self.cluster.connection(database)
    try other.execute(
      """
      CREATE TABLE item (id int8 PRIMARY KEY, name text);
      CREATE TABLE done (name text NOT NULL);
      CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO done VALUES (NEW.name); RETURN NULL; END $$;
      CREATE TRIGGER note AFTER UPDATE ON item FOR EACH ROW EXECUTE FUNCTION note();
      INSERT INTO item VALUES (1, 'start')
      """)
    item = ItemTable.entity
    package = ItemTable.package
    if isPrepared {
      for statement in try Preparation(package, other).statements { try other.execute(statement) }
    }
  }

  func connector() -> PostgreSQLConnector {
    let connector = PostgreSQLConnector(address, package: package, lockTimeout: .seconds(5))
    connector.lead("store")
    return connector
  }

  func update(_ number: Int, to name: String) -> ConnectorOperation {
    let digits = String(number)
    return ConnectorOperation(
      id: OperationID(String(repeating: "0", count: 32 - digits.count) + digits)!, entity: item,
      kind: .update, key: ObjectKey([.integer(1)]), changed: [1: .text(name)], base: [:])
  }

  /// Performs as a server does: where nobody knows, the business system is asked first.
  func finish(
    _ operation: ConnectorOperation, _ first: PerformResult, _ connector: PostgreSQLConnector
  ) throws {
    var result = first
    for _ in 0..<20 {
      switch result {
      case .done(let outcomes, _):
        #expect(outcomes == [.accepted(key: ObjectKey([.integer(1)]))])
        return
      case .notDone: result = connector.perform([operation])
      case .unknown:
        // The line that asks may be a line of before; then it is asked again.
        guard let recalled = try? connector.recall([operation]) else { continue }
        if case .performed(.accepted) = recalled[0] { return }
        result = connector.perform([operation])
      case .waits: break
      }
    }
    Issue.record("it never ended: \(result)")
  }

  func times(_ name: String) throws -> String? {
    try other.value("SELECT count(*) FROM done WHERE name = $1", [.text(name)])
  }
}

@Suite("A line to PostgreSQL that breaks, and a server that is killed")
struct CutTests {
  /// A word of each statement of a replay, in their order.
  private static let statements: [String] = [
    "SET LOCAL idle_in_transaction", "pg_current_xact_id()", "SAVEPOINT ferry_group",
    "INSERT INTO ferry.applied", "FOR NO KEY UPDATE", "UPDATE \"public\".\"item\"",
    "UPDATE ferry.applied", "SET CONSTRAINTS ALL", "FROM ferry.change WHERE xid",
    "row_security = off", "RELEASE ferry_group", commit,
  ]

  /// The statement that commits a replay, and not one that ends a look at the catalogue.
  private static let commit: String = "\0COMMIT"

  @Test(
    "A cut at each statement of a replay, before it and after it: done once, and nothing is wrong")
  func replay() throws {
    let stage = try CutStage()
    var connector = stage.connector()
    // Connected, and its table of operations made.
    guard case .done = connector.perform([stage.update(1, to: "first")]) else {
      Issue.record("the first update was not done")
      return
    }
    var number = 1
    for word in CutTests.statements {
      for isDone in [false, true] {
        number += 1
        let before = stage.cutter.count
        let name = "\(word.filter { $0 != "\0" }) \(isDone)"
        let operation = stage.update(number, to: name)
        stage.cutter.arm(Cutter.Cut(word: word, isDone: isDone))
        let result = connector.perform([operation])
        #expect(stage.cutter.count == before + 1, "\(name) was not met")
        switch result {
        case .unknown:
          #expect(word == CutTests.commit, "\(name): nothing was done, and that is known")
          let recalled = try connector.recall([operation])
          #expect(
            recalled
              == [isDone ? .performed(.accepted(key: ObjectKey([.integer(1)]))) : .notPerformed],
            "\(name)")
        case .notDone(let reason):
          #expect(word != CutTests.commit, "\(name): \(reason)")
          #expect(try stage.times(name) == "0")
        case .done, .waits: Issue.record("\(name): done, over a line that was cut")
        }
        // Every second time by a server that was started again meanwhile.
        if number.isMultiple(of: 2) { connector = stage.connector() }
        try stage.finish(operation, result, connector)
        #expect(try stage.times(name) == "1", "\(name)")
        #expect(try stage.other.value("SELECT name FROM item") == name)
      }
    }
  }

  @Test("A load that is cut in the middle fails, and the next one has every row")
  func load() throws {
    let stage = try CutStage()
    try stage.other.execute(
      "INSERT INTO item SELECT n, repeat('x', 50) FROM generate_series(2, 20000) AS n")
    let connector = stage.connector()
    func load() throws(ConnectorError) -> Int {
      var count = 0
      _ = try connector.load(
        LoadScope(entities: [stage.item]), from: nil, each: { count += $0.rows.count },
        rejected: { _ in })
      return count
    }
    #expect(try load() == 20_000)
    let cuts = [
      Cutter.Cut(word: "COPY (", isDone: false), Cutter.Cut(word: "COPY (", isDone: true),
      Cutter.Cut(word: "COPY (", isDone: true, answerBytes: 300_000),
      Cutter.Cut(word: "ISOLATION LEVEL", isDone: false),
    ]
    for (place, cut) in cuts.enumerated() {
      stage.cutter.arm(cut)
      let error = #expect(throws: ConnectorError.self) { try load() }
      #expect(error?.isTransient == true, "\(String(describing: error))")
      #expect(stage.cutter.count == place + 1)
      #expect(try load() == 20_000)
    }
  }

  @Test("A question for changes that is cut, before it and after it, loses no hint")
  func capture() throws {
    let stage = try CutStage()
    let connector = stage.connector()
    stage.cutter.arm(Cutter.Cut(word: "INSERT INTO ferry.mark", isDone: true))
    #expect(throws: ConnectorError.self) { try connector.changes(since: nil) }
    var cursor = try #require(try connector.changes(since: nil).cursor)
    for word in ["FROM ferry.change AS c", "pg_control_system"] {
      for isDone in [false, true] {
        // A connection that is new asks for the catalogue, and sends statements with their text.
        try stage.other.execute(
          """
          SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid()
          """)
        _ = try? connector.changes(since: cursor)
        try stage.other.execute("UPDATE item SET name = '\(word) \(isDone)'")
        stage.cutter.arm(Cutter.Cut(word: word, isDone: isDone))
        #expect(throws: ConnectorError.self) { try connector.changes(since: cursor) }
        let changes = try connector.changes(since: cursor)
        #expect(changes.hints == [.objects(entity: "Item", keys: [ObjectKey([.integer(1)])])])
        cursor = try #require(changes.cursor)
        #expect(try connector.changes(since: cursor).hints == [])
      }
    }
  }

  @Test("PostgreSQL is killed in the middle of replays: each is done once, and capture goes on")
  func killed() throws {
    let cluster = try Cluster(["synchronous_commit=on"])
    let stage = try CutStage(cluster)
    let connector = stage.connector()
    let cursor = try connector.changes(since: nil).cursor
    // Whatever it was in the middle of, a killed server answers nothing more.
    for (place, word) in ["UPDATE \"public\".\"item\"", CutTests.commit].enumerated() {
      let name = word.filter { $0 != "\0" }
      let operation = stage.update(place + 1, to: name)
      stage.cutter.arm(Cutter.Cut(word: word, isDone: true))
      let result = connector.perform([operation])
      try cluster.kill()
      let other = try cluster.connection("postgres")
      try stage.finish(operation, result, connector)
      #expect(
        try other.value("SELECT count(*) FROM done WHERE name = $1", [.text(name)]) == "1")
    }
    let other = try cluster.connection("postgres")
    try other.execute("UPDATE item SET name = 'by others'")
    try cluster.kill()
    // One question of each kind may still meet a line that was killed.
    let changes = try (try? connector.changes(since: cursor)) ?? connector.changes(since: cursor)
    #expect(changes.hints == [.objects(entity: "Item", keys: [ObjectKey([.integer(1)])])])
    let keys = [ObjectKey([.integer(1)])]
    let rows =
      try (try? connector.read(stage.item, keys: keys)) ?? connector.read(stage.item, keys: keys)
    #expect(rows.first?.values?[1] == .text("by others"))
  }
}
