import FerryConnector
import FerryModel
import FerrySQLConnector
import FerrySQLite
import Foundation
import Testing

@Suite("What triggers note of SQLite")
struct ChangeEntriesTests {
  private static let item: Entity = Entity(
    name: "Item", table: "item",
    attributes: [
      Attribute(name: "id", column: "id", type: .long, isNullable: false),
      Attribute(name: "name", column: "name", type: .string, isNullable: true),
    ], key: [0], keyOrigin: .app, relationships: [], operations: Set(OperationKind.allCases),
    partition: nil, group: "all")

  /// Prepared, with what was there before the first question behind it.
  private struct Stage {
    let business: Business
    var cursor: String

    init(_ sql: String) throws {
      business = try Business(sql, ChangeEntriesTests.item)
      let preparation = try SQLitePreparation(business.package, business.other)
      #expect(preparation.leftOut.isEmpty)
      for statement in preparation.statements { try business.other.execute(statement) }
      let first = try business.connector.changes(since: nil)
      #expect(first.hints == [.anything])
      cursor = try #require(first.cursor)
    }

    /// Keys of the hints, sorted.
    mutating func keys(_ sql: String) throws -> [String] {
      try business.other.execute(sql)
      let changes = try business.connector.changes(since: cursor)
      cursor = try #require(changes.cursor)
      #expect(changes.shortfall == nil)
      return changes.hints.flatMap { hint -> [String] in
        guard case .objects("Item", let keys) = hint else { return ["\(hint)"] }
        return keys.map(\.text)
      }.sorted()
    }

    func fresh() -> SQLiteConnector {
      SQLiteConnector(path: business.path, package: business.package)
    }
  }

  @Test("Insert, update, delete, a new key, upserts and cascades are noted, each key once")
  func kinds() throws {
    var stage = try Stage(
      """
      CREATE TABLE parent (id INTEGER PRIMARY KEY);
      CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT,
        parent INTEGER REFERENCES parent ON DELETE CASCADE);
      INSERT INTO parent VALUES (1); INSERT INTO item VALUES (1, 'a', 1), (2, 'b', NULL)
      """)
    #expect(
      try stage.keys(
        """
        INSERT INTO item VALUES (3, 'c', NULL); UPDATE item SET name = 'x' WHERE id = 3;
        UPDATE item SET id = 20 WHERE id = 2;
        INSERT INTO item VALUES (20, 'y', NULL) ON CONFLICT DO UPDATE SET name = 'z'
        """) == ["2", "20", "3"])
    #expect(try stage.keys("DELETE FROM parent") == ["1"])
    #expect(try stage.keys("DELETE FROM item") == ["20", "3"])
    #expect(try stage.keys("SELECT 1") == [])
  }

  @Test(
    "REPLACE over a second unique key notes the rows that it removes, which fire no trigger",
    arguments: [
      "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT UNIQUE COLLATE NOCASE)",
      "CREATE TABLE item (id INTEGER NOT NULL PRIMARY KEY, name TEXT UNIQUE COLLATE NOCASE) "
        + "WITHOUT ROWID",
    ])
  func replace(_ table: String) throws {
    var stage = try Stage("\(table); INSERT INTO item VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    #expect(try stage.keys("INSERT OR REPLACE INTO item VALUES (9, 'A')") == ["1", "9"])
    #expect(try stage.keys("UPDATE OR REPLACE item SET name = 'B' WHERE id = 9") == ["2", "9"])
    #expect(try stage.keys("REPLACE INTO item VALUES (3, 'b')") == ["3", "9"])
    let rows = try stage.business.other.rows("SELECT id FROM item")
    #expect(rows.map { $0[0].integer } == [3])
  }

  @Test("Own operations are no news, and after a restart those since the cursor are read again")
  func own() throws {
    var stage = try Stage("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)")
    let start = stage.cursor
    let create = stage.business.operation(
      .create, ChangeEntriesTests.item, [.integer(1)], ["id": .integer(1)])
    #expect(try stage.business.perform(create).0 == [.accepted(key: ObjectKey([.integer(1)]))])
    #expect(try stage.keys("INSERT INTO item VALUES (2, 'b')") == ["2"])
    let again = try stage.fresh().changes(since: start)
    #expect(
      again.hints == [.objects(entity: "Item", keys: [1, 2].map { ObjectKey([.integer($0)]) })])
  }

  @Test(
    "A file that was set back, a copy of a trigger, and entries that ended lead to a comparison")
  func setBack() throws {
    var stage = try Stage("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)")
    #expect(try stage.keys("INSERT INTO item VALUES (1, 'a')") == ["1"])
    try stage.business.other.execute("VACUUM INTO '\(stage.business.path).backup'")
    let early = stage.cursor
    #expect(try stage.keys("INSERT INTO item VALUES (2, 'b')") == ["2"])
    // A store that was set back reads again what it missed.
    #expect(
      try stage.fresh().changes(since: early).hints
        == [.objects(entity: "Item", keys: [ObjectKey([.integer(2)])])])

    let backup = try Connection(path: "\(stage.business.path).backup")
    // Entries have gone on beyond the cursor since.
    try backup.execute("INSERT INTO item VALUES (5, 'e'), (6, 'f'), (7, 'g')")
    let restored = SQLiteConnector(
      path: "\(stage.business.path).backup", package: stage.business.package)
    #expect(try restored.changes(since: stage.cursor).hints == [.anything])

    let sql = try #require(
      try stage.business.other.value(
        "SELECT sql FROM sqlite_schema WHERE name = 'ferry_update_item'")?
        .text)
    try stage.business.other.execute(
      "DROP TRIGGER ferry_update_item; UPDATE item SET name = 'unseen'; \(sql)")
    let made = try stage.fresh().changes(since: stage.cursor)
    #expect(made.hints == [.anything])
    stage.cursor = try #require(made.cursor)

    #expect(try stage.keys("INSERT INTO item VALUES (8, 'h')") == ["8"])
    let behind = stage.cursor
    try stage.business.other.execute(
      "INSERT INTO item VALUES (9, 'i'); UPDATE ferry_change SET at = at - 8 * 86400")
    _ = try stage.fresh().changes(since: behind)
    #expect(try stage.business.other.value("SELECT count(*) FROM ferry_change")?.integer == 0)
    #expect(try stage.fresh().changes(since: behind).hints == [.anything])
  }

  @Test("A table whose changes cannot be noted is left out with the reason, and read whole")
  func leftOut() throws {
    let business = try Business(
      """
      CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT);
      CREATE UNIQUE INDEX some ON item (name) WHERE id > 5
      """, ChangeEntriesTests.item)
    let preparation = try SQLitePreparation(business.package, business.other)
    #expect(preparation.leftOut.map(\.table) == ["item"])
    for statement in preparation.statements { try business.other.execute(statement) }
    let cursor = try business.connector.changes(since: nil).cursor
    try business.other.execute("INSERT INTO item VALUES (1, 'a')")
    let changes = try business.connector.changes(since: cursor)
    #expect(changes.hints == [.entity("Item")])
    #expect(changes.shortfall?.contains("Item") == true)
    // Nothing has changed, the missing triggers neither: the log does not say that all is well.
    let quiet = try business.connector.changes(since: changes.cursor)
    #expect(quiet.hints == [] && quiet.shortfall == changes.shortfall)
    for statement in preparation.removal { try business.other.execute(statement) }
    #expect(
      try business.other.value("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'ferry%'")?
        .integer == 0)
  }
}
