import FerryConnector
import FerryModel
import FerryPostgreSQL
import FerryPostgreSQLConnector
import Testing

@Suite("Operations that meet others on PostgreSQL")
struct ReplayTests {
  @Test("Recall waits for a transaction that may still commit, and never says it was not performed")
  func recallWaits() throws {
    let stage = try ReplayStage()
    let operation = stage.create(1)
    // Makes the table of operations.
    _ = stage.connector.perform([stage.create(2)])
    try stage.other.execute(
      "BEGIN; INSERT INTO ferry.applied VALUES ('\(operation.id.text)', 'h', '1')")
    let error = #expect(throws: ConnectorError.self) { try stage.connector.recall([operation]) }
    #expect(error?.isTransient == true)
    try stage.other.execute("COMMIT")
    #expect(
      try stage.connector.recall([operation])
        == [.performed(.accepted(key: ObjectKey([.integer(1)])))])
    let nobody = stage.create(3)
    #expect(try stage.connector.recall([nobody]) == [.notPerformed])
    #expect(try stage.connector.recall([nobody]) == [.notPerformed], "asking leaves nothing behind")
  }

  @Test("A row is judged as it is and as the statement left it, and a refusal tells no value")
  func judged() throws {
    let stage = try ReplayStage()
    try stage.other.execute("INSERT INTO item VALUES (1, 'mine'), (2, 'hers')")
    let item = stage.item
    let judge = RowJudge { row, lookup throws(ConnectorError) in
      // What decides may stand in another row too: here its own, found by its key.
      try lookup(item, [0], [row[0]]) == row && row[1] == .text("mine")
    }
    func update(_ id: Int64, to name: String, from base: String) -> Refusal? {
      let operation = ConnectorOperation(
        id: OperationID(String(repeating: String(id), count: 32))!, entity: stage.item,
        kind: .update, key: ObjectKey([.integer(id)]), changed: [1: .text(name)],
        base: [1: .text(base)], judge: judge)
      return stage.refusal(stage.connector.perform([operation]))
    }
    let foreign = update(2, to: "mine", from: "other")
    #expect(foreign?.code == 403)
    #expect(foreign?.message.contains("hers") == false)
    #expect(update(1, to: "hers", from: "mine")?.code == 403)
    #expect(
      try stage.other.rows("SELECT id, name FROM item ORDER BY id").texts
        == [["1", "mine"], ["2", "hers"]])
  }

  @Test(
    "Two replays never share the lock of a row that decides: a trigger that writes it would hang")
  func parentLock() throws {
    let stage = try ReplayStage()
    try stage.other.execute("INSERT INTO item VALUES (1, 'a'), (2, 'c')")
    let item = stage.item
    let judge = RowJudge { _, lookup throws(ConnectorError) in
      try lookup(item, [0], [.integer(1)]) != nil
    }
    let update = ConnectorOperation(
      id: OperationID(String(repeating: "2", count: 32))!, entity: stage.item, kind: .update,
      key: ObjectKey([.integer(2)]), changed: [1: .text("b")], base: [1: .text("c")], judge: judge)
    try stage.other.execute("BEGIN; SELECT * FROM item WHERE id = 1 FOR SHARE")
    guard case .notDone(let reason) = stage.connector.perform([update]) else {
      Issue.record("it was performed beside another lock")
      return
    }
    #expect(reason.contains("locked"))
    try stage.other.execute("COMMIT")
    guard case .done(let done, _) = stage.connector.perform([update]) else {
      Issue.record("it was not performed")
      return
    }
    #expect(done == [.accepted(key: ObjectKey([.integer(2)]))])
  }

  @Test("A row that others have locked is tried again, and nothing was done")
  func locked() throws {
    let stage = try ReplayStage()
    try stage.other.execute("INSERT INTO item VALUES (1, 'a')")
    try stage.other.execute("BEGIN; SELECT * FROM item FOR UPDATE")
    let update = ConnectorOperation(
      id: OperationID(String(repeating: "1", count: 32))!, entity: stage.item, kind: .update,
      key: ObjectKey([.integer(1)]), changed: [1: .text("b")], base: [1: .text("a")])
    guard case .notDone(let reason) = stage.connector.perform([update]) else {
      Issue.record("it was answered")
      return
    }
    #expect(reason.contains("locked"))
    try stage.other.execute("COMMIT")
    #expect(
      stage.connector.perform([update])
        == .done(
          [.accepted(key: ObjectKey([.integer(1)]))],
          touched: [
            RowImage(
              entity: "Item", key: ObjectKey([.integer(1)]),
              values: [.integer(1), .text("b"), .null, .null])
          ]))
  }

  @Test("After its connections were ended the connector connects again")
  func ended() throws {
    let stage = try ReplayStage()
    _ = stage.connector.perform([stage.create(1)])
    _ = try stage.connector.read(stage.item, keys: [])
    try stage.other.execute(
      """
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()
      """)
    var result = stage.connector.perform([stage.create(2)])
    if case .notDone = result { result = stage.connector.perform([stage.create(2)]) }
    guard case .done(let outcomes, _) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(outcomes == [.accepted(key: ObjectKey([.integer(2)]))])
  }

  @Test("What a column would round or cut is refused, and a moment with a zone is kept in UTC")
  func exact() throws {
    let stage = try ReplayStage()
    #expect(
      stage.refusal(stage.connector.perform([stage.create(1, [3: .text("1.234")])]))?.code == 422)
    #expect(
      stage.refusal(stage.connector.perform([stage.create(1, [1: .text("abcdef")])]))?.code == 422)
    #expect(
      stage.refusal(stage.connector.perform([stage.create(1, [1: .text("a\0b")])]))?.code == 422)
    #expect(
      stage.refusal(stage.connector.perform([stage.create(1, [3: .text("12345678")])]))?.code == 422
    )
    let moment = AttributeValue.text("2026-03-01T08:30:00.25")
    _ = stage.connector.perform([stage.create(1, [2: moment])])
    try stage.other.execute("SET timezone = 'Asia/Tokyo'")
    #expect(
      try stage.other.value("SELECT at::text FROM item WHERE id = 1") == "2026-03-01 17:30:00.25+09"
    )
    #expect(
      try stage.connector.read(stage.item, keys: [ObjectKey([.integer(1)])]).first?.values?[2]
        == moment)
  }

  @Test("Rows that no model can take are told one by one, and the load goes on")
  func unfit() throws {
    let stage = try ReplayStage(
      "CREATE TABLE item (id int8 PRIMARY KEY, name text, at timestamp, price numeric)")
    try stage.other.execute(
      """
      INSERT INTO item VALUES (1, 'a', NULL, 1.50), (2, 'b', 'infinity', 1), (3, 'c', NULL, 'NaN'),
        (4, 'd', '0044-03-15 BC', 1), (5, 'e', '12026-01-01', 1), (6, E'tab\\t\\\\ \\n', NULL, NULL)
      """)
    var rows: [RowImage] = []
    var rejected: [RejectedRow] = []
    _ = try stage.connector.load(
      LoadScope(entities: [stage.item]), from: nil, each: { rows += $0.rows },
      rejected: { rejected.append($0) })
    #expect(rows.map { $0.values?[0] } == [.integer(1), .integer(6)])
    #expect(rows.first?.values?[3] == .text("1.5"))
    #expect(rows.last?.values?[1] == .text("tab\t\\ \n"))
    #expect(rejected.map(\.key).sorted() == ["2", "3", "4", "5"])
  }

  @Test("A rule that is judged at the end refuses the group that broke it, and no other")
  func deferred() throws {
    let stage = try ReplayStage(
      """
      CREATE TABLE parent (id int8 PRIMARY KEY);
      CREATE TABLE item (
        id int8 PRIMARY KEY, name text, at timestamptz, price numeric,
        CONSTRAINT has_parent FOREIGN KEY (id) REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
      INSERT INTO parent VALUES (1)
      """)
    let groups = [[stage.create(1)], [stage.create(2)]]
    var results: [PerformResult] = []
    while results.count < groups.count {
      results += stage.connector.perform(Array(groups.dropFirst(results.count))) { true }
    }
    guard case .done(let outcomes, _) = results[0],
      outcomes == [.accepted(key: ObjectKey([.integer(1)]))]
    else {
      Issue.record("\(results[0])")
      return
    }
    let refusal = stage.refusal(results[1])
    #expect(refusal?.code == 412)
    #expect(refusal?.message == "id 2 does not exist in parent.")
    #expect(try stage.other.value("SELECT count(*) FROM item") == "1")
  }
}
