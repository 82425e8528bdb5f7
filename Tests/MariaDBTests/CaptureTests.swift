import FerryConnector
import FerryMariaDB
import FerryMariaDBConnector
import FerryModel
import Testing

@Suite("Changes of others on MariaDB")
struct CaptureTests {
  private func keys(_ hints: [ChangeHint], _ entity: String) -> [ObjectKey]? {
    for case .objects(entity, let keys) in hints { return keys }
    return nil
  }

  @Test("An entry that is committed behind a later one is not missed")
  func lateCommit() throws {
    let stage = try ItemStage()
    var cursor = try stage.connector.changes(since: nil).cursor
    let early = try MariaDBConnection(stage.address)
    try early.execute("START TRANSACTION")
    try early.execute("INSERT INTO item (id) VALUES (1)")
    try stage.other.execute("INSERT INTO item (id) VALUES (2)")
    let first = try stage.connector.changes(since: cursor)
    #expect(keys(first.hints, "Item") == [ObjectKey([.integer(2)])])
    cursor = first.cursor
    #expect(try stage.connector.changes(since: cursor).hints == [])
    try early.execute("COMMIT")
    let second = try stage.connector.changes(since: cursor)
    #expect(keys(second.hints, "Item") == [ObjectKey([.integer(1)])])
  }

  @Test("Each of two servers gets every change of others, and its own are no news")
  func twoReaders() throws {
    let stage = try ItemStage()
    let second = stage.newConnector()
    let ones = try stage.connector.changes(since: nil).cursor
    let twos = try second.changes(since: nil).cursor
    try stage.other.execute("INSERT INTO item (id) VALUES (1)")
    #expect(stage.isDone(stage.connector.perform([stage.create(2)])))
    #expect(
      keys(try stage.connector.changes(since: ones).hints, "Item") == [ObjectKey([.integer(1)])])
    #expect(
      keys(try second.changes(since: twos).hints, "Item")
        == [ObjectKey([.integer(1)]), ObjectKey([.integer(2)])])
  }

  @Test("What a foreign key deletes is found, by others and by an own operation")
  func cascade() throws {
    let stage = try ItemStage()
    try stage.other.execute("INSERT INTO place (code) VALUES ('A'), ('B')")
    try stage.other.execute("INSERT INTO item (id, code) VALUES (1, 'A'), (2, 'B')")
    var cursor = try stage.connector.changes(since: nil).cursor
    try stage.other.execute("DELETE FROM place WHERE code = 'A'")
    let found = try stage.connector.changes(since: cursor)
    #expect(found.hints.contains(.entity("Item")))
    cursor = found.cursor
    let delete = ConnectorOperation(
      id: ItemStage.id(1), entity: stage.place, kind: .delete, key: ObjectKey([.text("B")]),
      changed: [:], base: [0: .text("B"), 1: .null])
    #expect(stage.isDone(stage.connector.perform([delete])))
    #expect(try stage.connector.changes(since: cursor).hints == [.entity("Item")])
  }

  @Test("A changed key is an old one and a new one, and rows that refer to it are looked at")
  func renamed() throws {
    let stage = try ItemStage([
      ItemStage.places, ItemStage.items.dropLast() + " ON UPDATE CASCADE)",
    ])
    try stage.other.execute("INSERT INTO place (code) VALUES ('lh')")
    try stage.other.execute("INSERT INTO item (id, code) VALUES (1, 'LH')")
    let cursor = try stage.connector.changes(since: nil).cursor
    try stage.other.execute("UPDATE place SET code = 'LH'")
    let hints = try stage.connector.changes(since: cursor).hints
    #expect(keys(hints, "Place") == [ObjectKey([.text("lh")]), ObjectKey([.text("LH")])])
    #expect(hints.contains(.entity("Item")))
  }

  @Test("TRUNCATE, and a trigger that was made anew, lead to a comparison of the table")
  func truncated() throws {
    let stage = try ItemStage()
    try stage.other.execute("INSERT INTO item (id) VALUES (1)")
    let cursor = try stage.connector.changes(since: nil).cursor
    try stage.other.execute("TRUNCATE TABLE item")
    try stage.other.execute("INSERT INTO item (id) VALUES (2)")
    // The state of the catalogue is believed for a second: another instance asks at once.
    #expect(try stage.newConnector().changes(since: cursor).hints.contains(.entity("Item")))
    try stage.other.execute("DROP TRIGGER ferry_u_item")
    let found = try stage.newConnector().changes(since: cursor)
    #expect(found.hints.contains(.entity("Item")))
    #expect(found.shortfall?.contains("ferry prepare") == true)
  }

  @Test("Writes of others go on where the table of entries was dropped")
  func dropped() throws {
    let stage = try ItemStage()
    try stage.other.execute("DROP TABLE ferry_change")
    try stage.other.execute("INSERT INTO item (id) VALUES (1)")
    #expect(try stage.other.value("SELECT COUNT(*) FROM item") == "1")
    let found = try stage.newConnector().changes(since: nil)
    #expect(found.cursor == nil)
    #expect(found.hints == [.anything])
    #expect(found.shortfall != nil)
  }

  @Test("A database that was set back is compared whole")
  func setBack() throws {
    let stage = try ItemStage()
    let first = try stage.connector.changes(since: nil).cursor
    try stage.other.execute("INSERT INTO item (id) VALUES (1)")
    let second = try stage.connector.changes(since: first).cursor
    // As a backup from before the last reading has them.
    try stage.other.execute("UPDATE ferry_mark SET number = 1")
    #expect(try stage.newConnector().changes(since: second).hints == [.anything])
  }

  @Test("Without triggers everything is compared once in a while")
  func unprepared() throws {
    let stage = try ItemStage(isPrepared: false)
    let found = try stage.connector.changes(since: nil)
    #expect(found.cursor == nil)
    #expect(found.hints == [.anything])
    #expect(stage.connector.abilities(of: stage.item).changes == .poll)
  }

  @Test("What was prepared is taken away whole, and not while a server is connected")
  func removed() throws {
    let stage = try ItemStage()
    #expect(try !Preparation.isServed(stage.other))
    let connector = stage.newConnector()
    #expect(stage.isDone(connector.perform([stage.create(1)])))
    #expect(try Preparation.isServed(stage.other))
    for statement in try Preparation(stage.package, stage.other).removal {
      try stage.other.execute(statement)
    }
    let left = try stage.other.value(
      """
      SELECT (SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()
          AND table_name LIKE 'ferry%')
        + (SELECT COUNT(*) FROM information_schema.triggers WHERE trigger_schema = DATABASE())
      """)
    #expect(left == "0")
  }
}
