import FerryConnector
import FerryMariaDB
import FerryMariaDBConnector
import FerryModel
import Testing

@Suite("Operations that meet others on MariaDB")
struct ReplayTests {
  @Test("Recall waits for a transaction that may still commit, and never says it was not performed")
  func recallWaits() throws {
    let stage = try ItemStage()
    let operation = stage.create(1)
    // Makes the table of operations.
    #expect(stage.isDone(stage.connector.perform([stage.create(2)])))
    try stage.other.execute("START TRANSACTION")
    try stage.other.execute("INSERT INTO ferry_applied VALUES ('\(operation.id.text)', 'h', '1')")
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

  @Test("A server that another one has followed performs nothing more for the store")
  func fence() throws {
    let stage = try ItemStage()
    stage.connector.lead("store")
    #expect(stage.isDone(stage.connector.perform([stage.create(1)])))
    let next = stage.newConnector()
    next.lead("store")
    #expect(stage.isDone(next.perform([stage.create(2)])))
    let reason = stage.reason(stage.connector.perform([stage.create(3)]))
    #expect(reason?.contains("Another server performs") == true)
    #expect(try stage.other.value("SELECT COUNT(*) FROM item") == "2")
    #expect(try stage.connector.takeLead(again: true))
    #expect(stage.isDone(stage.connector.perform([stage.create(3)])))
  }

  @Test("A row is judged as it is and as the statement left it, and a refusal tells no value")
  func judged() throws {
    let stage = try ItemStage()
    try stage.other.execute("INSERT INTO item (id, name) VALUES (1, 'mine'), (2, 'hers')")
    let item = stage.item
    let judge = RowJudge { row, lookup throws(ConnectorError) in
      try lookup(item, [0], [row[0]]) == row && row[1] == .text("mine")
    }
    func update(_ id: Int64, to name: String, from base: String) -> Refusal? {
      let operation = ConnectorOperation(
        id: ItemStage.id(id), entity: stage.item, kind: .update, key: ObjectKey([.integer(id)]),
        changed: [1: .text(name)], base: [1: .text(base)], judge: judge)
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

  @Test("A row that others have locked is tried again, and nothing was done")
  func locked() throws {
    let stage = try ItemStage(lockTimeout: .zero)
    try stage.other.execute("INSERT INTO item (id, name) VALUES (1, 'a')")
    try stage.other.execute("START TRANSACTION")
    try stage.other.rows("SELECT * FROM item FOR UPDATE")
    let update = stage.update(1, 1, to: "b", from: "a")
    #expect(stage.reason(stage.connector.perform([update]))?.contains("locked") == true)
    try stage.other.execute("COMMIT")
    #expect(stage.isDone(stage.connector.perform([update])))
    #expect(try stage.other.value("SELECT name FROM item") == "b")
  }

  @Test("A deadlock undoes every group of the transaction, and each may be tried again")
  func deadlock() throws {
    let stage = try ItemStage(lockTimeout: Patience.limit)
    try stage.other.execute("INSERT INTO item (id, name) VALUES (1, 'a'), (2, 'a')")
    // A transaction that has changed more is not the one that the server ends.
    try stage.other.execute("START TRANSACTION")
    for id in 100..<150 { try stage.other.execute("INSERT INTO item (id) VALUES (\(id))") }
    try stage.other.execute("UPDATE item SET name = 'o' WHERE id = 2")
    let (address, package) = (stage.address, stage.package)
    let groups = [
      [stage.update(1, 1, to: "b", from: "a")], [stage.update(2, 2, to: "b", from: "a")],
    ]
    let performed = Aside {
      MariaDBConnector(address, package: package, lockTimeout: Patience.limit)
        .perform(groups, while: { true })
    }
    // Until the connector has locked the first row and waits for the second. Other tests on the server
    // have waits of their own.
    let blocker = try stage.other.value("SELECT CONNECTION_ID()") ?? ""
    let watcher = try MariaDBConnection(address)
    let patience = Patience()
    while try watcher.value(
      """
      SELECT COUNT(*) FROM information_schema.innodb_lock_waits AS w
      JOIN information_schema.innodb_trx AS t ON t.trx_id = w.blocking_trx_id
      WHERE t.trx_mysql_thread_id = \(blocker)
      """) == "0",
      patience.lasts()
    {}
    try stage.other.execute("UPDATE item SET name = 'o' WHERE id = 1")
    let results = performed.value
    #expect(results.count == 2)
    for result in results { _ = stage.reason(result) }
    try stage.other.execute("ROLLBACK")
    #expect(try stage.other.value("SELECT GROUP_CONCAT(name) FROM item") == "a,a")
    let again = stage.connector.perform(groups, while: { true })
    #expect(again.count == 2)
    for result in again { #expect(stage.isDone(result)) }
  }

  @Test("After its connections were ended the connector connects again")
  func ended() throws {
    let stage = try ItemStage()
    #expect(stage.isDone(stage.connector.perform([stage.create(1)])))
    _ = try stage.connector.read(stage.item, keys: [])
    let own = try stage.other.value("SELECT CONNECTION_ID()") ?? ""
    let lines = try stage.other.rows(
      "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> \(own)")
    #expect(lines.count == 2)
    for line in lines.texts { try stage.other.execute("KILL \(line[0] ?? "")") }
    var result = stage.connector.perform([stage.create(2)])
    if case .notDone = result { result = stage.connector.perform([stage.create(2)]) }
    #expect(stage.isDone(result))
  }

  /// A server of its own, with the tables of the stage.
  private func serverOfItsOwn(_ stage: ItemStage) throws -> (MariaDBServer, MariaDBAddress) {
    let server = try MariaDBServer(["--durable"])
    try MariaDBConnection(try server.address("mysql")).execute("CREATE DATABASE once")
    let address = try server.address("once")
    let other = try MariaDBConnection(address)
    for table in [ItemStage.places, ItemStage.items] { try other.execute(table) }
    return (server, address)
  }

  @Test("What was performed before the server was killed is recalled, and nothing is lost")
  func killed() throws {
    let stage = try ItemStage()
    let (server, address) = try serverOfItsOwn(stage)
    let connector = MariaDBConnector(address, package: stage.package)
    #expect(stage.isDone(connector.perform([stage.create(1)])))
    try server.kill()
    _ = stage.reason(connector.perform([stage.create(2)]))
    #expect(stage.isDone(connector.perform([stage.create(2)])))
    let key = { (number: Int64) in ObjectKey([.integer(number)]) }
    #expect(
      try connector.recall([stage.create(1), stage.create(2), stage.create(3)])
        == [
          .performed(.accepted(key: key(1))), .performed(.accepted(key: key(2))), .notPerformed,
        ])
  }

  @Test("After COMMIT was sent and no answer came the outcome is unknown until it is recalled")
  func unknown() throws {
    let stage = try ItemStage()
    let (server, address) = try serverOfItsOwn(stage)
    let package = stage.package
    let backup = try MariaDBConnection(try server.address("mysql"))
    // Makes the table of operations.
    let first = MariaDBConnector(address, package: package)
    #expect(stage.isDone(first.perform([stage.create(1)])))
    // From here on only the last step of a transaction waits.
    for step in ["START", "FLUSH", "BLOCK_DDL", "BLOCK_COMMIT"] {
      try backup.execute("BACKUP STAGE \(step)")
    }
    let create = stage.create(2)
    let performed = Aside {
      let connector = MariaDBConnector(address, package: package, lockTimeout: Patience.limit)
      let result = connector.perform([create])
      return (result, try? connector.recall([create]))
    }
    let watcher = try MariaDBConnection(address)
    var waiting: String?
    let patience = Patience()
    while waiting == nil, patience.lasts() {
      waiting = try watcher.value(
        "SELECT id FROM information_schema.processlist WHERE db = 'once' AND info = 'COMMIT'")
    }
    try watcher.execute("KILL \(waiting ?? "")")
    try backup.execute("BACKUP STAGE END")
    let (result, recalled) = performed.value
    guard case .unknown = result else {
      Issue.record("\(result)")
      return
    }
    let count = try watcher.value("SELECT COUNT(*) FROM item WHERE id = 2")
    #expect(
      recalled == [
        count == "1" ? .performed(.accepted(key: ObjectKey([.integer(2)]))) : .notPerformed
      ])
  }

  @Test("What a column would round, cut, pad or fold is refused")
  func exact() throws {
    let stage = try ItemStage()
    for values: [Int: AttributeValue] in [
      [3: .text("1.234")], [1: .text("abcdef")], [3: .text("12345678")],
      [2: .text("2026-03-01T08:30:00.125")],
    ] {
      #expect(stage.refusal(stage.connector.perform([stage.create(1, values)]))?.code == 422)
    }
    let moment = AttributeValue.text("2026-03-01T08:30:00.25")
    #expect(
      stage.isDone(stage.connector.perform([stage.create(1, [1: .text("a\0'\\"), 2: moment])])))
    let row = try stage.connector.read(stage.item, keys: [ObjectKey([.integer(1)])]).first?.values
    #expect(row?[2] == moment)
    #expect(row?[1] == .text("a\0'\\"))
  }

  @Test("A text cannot end its quotes, whatever marks are behind a quote")
  func quotes() throws {
    let stage = try ItemStage()
    for text in ["'\u{301}", "\\'", "''", "`\u{301}"] {
      let found = try stage.other.rows("SELECT \(quotedText(text)) AS \(quotedName("\(text)x"))")
      #expect(found.texts == [[text]])
    }
  }

  @Test("A refusal has the name of its constraint")
  func constraints() throws {
    let stage = try ItemStage()
    try stage.other.execute("ALTER TABLE item ADD CONSTRAINT cheap CHECK (price < 100)")
    let dear = stage.refusal(stage.connector.perform([stage.create(1, [3: .text("100")])]))
    #expect(dear?.constraint == "cheap")
    #expect(dear?.attribute == "price")
    let orphan = stage.refusal(stage.connector.perform([stage.create(1, [4: .text("none")])]))
    #expect(orphan?.constraint == "item_place")
    #expect(orphan?.message == "code \"none\" does not exist in place.")
  }
}
