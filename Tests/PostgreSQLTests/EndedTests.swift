import FerryConnector
import FerryModel
import FerryPostgreSQL
import Foundation
import Testing

@testable import FerryPostgreSQLConnector

/// A prepared table, and a second connection that ends those of the server.
private struct EndedStage {
  let address: PostgreSQLAddress
  let other: PostgreSQLConnection
  let connector: PostgreSQLConnector

  init(_ cluster: Cluster? = nil) throws {
    if let cluster {
      try cluster.connection("postgres").execute("CREATE DATABASE ended")
      address = try cluster.address("ended")
    } else {
      address = try Cluster.database()
    }
    other = try PostgreSQLConnection(address)
    try other.execute("CREATE TABLE item (id int8 PRIMARY KEY, name text)")
    for statement in try Preparation(ItemTable.package, other).statements {
      try other.execute(statement)
    }
    connector = PostgreSQLConnector(address, package: ItemTable.package)
    connector.lead("store")
  }

  func create(_ id: Int64) -> [ConnectorOperation] {
    let digits = String(id)
    return [
      ConnectorOperation(
        id: OperationID(String(repeating: "0", count: 32 - digits.count) + digits)!,
        entity: ItemTable.entity, kind: .create, key: ObjectKey([.integer(id)]), changed: [:],
        base: [:])
    ]
  }

  func load() throws(ConnectorError) -> Int {
    var count = 0
    _ = try connector.load(
      LoadScope(entities: [ItemTable.entity]), from: nil, each: { count += $0.rows.count },
      rejected: { _ in })
    return count
  }

  /// Ends every connection whose statement contains the text, as soon as there is one; what it returns
  /// waits until there was one.
  func endNext(_ text: String) throws -> () -> Void {
    nonisolated(unsafe) let line = try PostgreSQLConnection(address)
    let ended = DispatchSemaphore(value: 0)
    let sql = """
      SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active'
        AND query LIKE '%\(text)%'
      """
    Thread.detachNewThread {
      let patience = Patience()
      while (try? line.value(sql)) == "0", !patience.hasEnded {}
      ended.signal()
    }
    return {
      ended.wait()
      ended.signal()
    }
  }
}

@Suite("A business database that ends connections, is a standby, or has old transactions")
struct EndedTests {
  @Test("A connection that is ended in mid-load: the load fails, and the next one has every row")
  func load() throws {
    let stage = try EndedStage()
    try stage.other.execute(
      "INSERT INTO item SELECT n, repeat('x', 2000) FROM generate_series(1, 40000) AS n")
    var waitForTheEnd: (() -> Void)?
    var count = 0
    let error = #expect(throws: ConnectorError.self) {
      _ = try stage.connector.load(
        LoadScope(entities: [ItemTable.entity]), from: nil,
        each: { page throws(ConnectorError) in
          count += page.rows.count
          // The server is in the middle of the table, and waits for this reader.
          if waitForTheEnd == nil { waitForTheEnd = try? stage.endNext("COPY (SELECT") }
          waitForTheEnd?()
        }, rejected: { _ in })
    }
    #expect(count > 0)
    #expect(error?.isTransient == true)
    #expect(count < 40_000)
    #expect(try stage.load() == 40_000)
  }

  @Test("A connection that is ended while it asks for changes: asked again, nothing is missed")
  func capture() throws {
    let stage = try EndedStage()
    let cursor = try #require(try stage.connector.changes(since: nil).cursor)
    try stage.other.execute("INSERT INTO item VALUES (1, 'a')")
    // The question waits for the lock, and is ended there.
    try stage.other.execute("BEGIN; LOCK TABLE ferry.change IN ACCESS EXCLUSIVE MODE")
    let waitForTheEnd = try stage.endNext("ferry.change AS c")
    let error = #expect(throws: ConnectorError.self) {
      try stage.connector.changes(since: cursor)
    }
    waitForTheEnd()
    #expect(error?.isTransient == true)
    try stage.other.execute("COMMIT")
    let changes = try stage.connector.changes(since: cursor)
    #expect(changes.hints == [.objects(entity: "Item", keys: [ObjectKey([.integer(1)])])])
  }

  @Test(
    "A transaction that is open for long: its change comes at its end, and nothing piles up meanwhile"
  )
  func longTransaction() throws {
    let stage = try EndedStage()
    var cursor = try #require(try stage.connector.changes(since: nil).cursor)
    try stage.other.execute("BEGIN; INSERT INTO item VALUES (1, 'late')")
    let second = try PostgreSQLConnection(stage.address)
    for number in 2...40 {
      guard case .done = stage.connector.perform(stage.create(Int64(number))) else {
        Issue.record("\(number) was not performed")
        continue
      }
      try second.execute("INSERT INTO item VALUES (\(number + 1_000), 'o')")
      let changes = try stage.connector.changes(since: cursor)
      #expect(
        changes.hints == [
          .objects(entity: "Item", keys: [ObjectKey([.integer(Int64(number + 1_000))])])
        ])
      cursor = try #require(changes.cursor)
    }
    #expect(try stage.connector.changes(since: cursor).hints == [])
    #expect(stage.connector.own.count == 0, "own transactions are kept that nobody can meet again")
    try stage.other.execute("COMMIT")
    let changes = try stage.connector.changes(since: cursor)
    #expect(changes.hints == [.objects(entity: "Item", keys: [ObjectKey([.integer(1)])])])
  }

  @Test("A killed server gives numbers of transactions again: what others change with them is seen")
  func reusedNumbers() throws {
    // Nothing writes the log by itself, so a kill loses what nobody waited for.
    let cluster = try Cluster(["wal_writer_delay=10s", "synchronous_commit=on"])
    let stage = try EndedStage(cluster)
    let first = try #require(try stage.connector.changes(since: nil).cursor)
    for _ in 1...50 { try stage.other.execute("BEGIN; SELECT pg_current_xact_id(); ROLLBACK") }
    let looked = try stage.connector.changes(since: first)
    #expect(looked.hints == [])
    try cluster.kill()
    let other = try cluster.connection("ended")
    for id in 1...60 { try other.execute("INSERT INTO item VALUES (\(id), 'o')") }
    // One question may still meet the line that was killed.
    let cursor = try #require(looked.cursor)
    let changes =
      try (try? stage.connector.changes(since: cursor))
      ?? stage.connector.changes(since: cursor)
    guard changes.hints != [.anything] else { return }
    guard changes.hints.count == 1, case .objects("Item", let keys) = changes.hints[0] else {
      Issue.record("\(changes.hints)")
      return
    }
    #expect(Set(keys) == Set((1...60).map { ObjectKey([.integer($0)]) }))
  }

  @Test(
    "A streaming standby is read and not written to, says what to do, and after its promotion is compared"
  )
  func standby() throws {
    let primary = try Cluster()
    let stage = try EndedStage(primary)
    guard case .done = stage.connector.perform(stage.create(1)) else {
      Issue.record("the primary performed nothing")
      return
    }
    let cursor = try #require(try stage.connector.changes(since: nil).cursor)
    let copy = try Cluster(arguments: ["--standby-of", primary.socket])
    let address = try copy.address("ended")
    let connector = PostgreSQLConnector(address, package: ItemTable.package)
    connector.lead("store")
    guard case .notDone(let reason) = connector.perform(stage.create(2)) else {
      Issue.record("a standby performed something")
      return
    }
    #expect(reason.contains("read-only") && reason.contains("Name the primary"), "\(reason)")
    let errors = [
      #expect(throws: ConnectorError.self) { try connector.changes(since: cursor) },
      #expect(throws: ConnectorError.self) { try connector.recall([stage.create(2)[0]]) },
    ]
    for error in errors {
      #expect(error?.isTransient == true)
      #expect(error?.hint.contains("primary") == true, "\(error?.description ?? "")")
    }
    // Reading goes on, for those who look at it.
    var count = 0
    _ = try connector.load(
      LoadScope(entities: [ItemTable.entity]), from: nil, each: { count += $0.rows.count },
      rejected: { _ in })
    #expect(count == 1)
    // The primary is lost, and the standby takes its place.
    let line = try PostgreSQLConnection(address)
    #expect(try line.value("SELECT pg_promote()") == "t")
    let patience = Patience()
    var changes: BusinessChanges?
    while changes == nil, !patience.hasEnded { changes = try? connector.changes(since: cursor) }
    #expect(changes?.hints == [.anything], "another timeline, so everything is compared")
    guard case .done = connector.perform(stage.create(2)) else {
      Issue.record("the promoted server performs nothing")
      return
    }
  }
}
