import FerryConnector
import FerryModel
import FerrySQLConnector
import FerrySQLite
import Foundation
import Testing

@Suite("A SQLite database as business system")
struct SQLiteConnectorTests {
  @Test("A file that is overwritten in place, its log removed, is opened again by all connectors")
  func overwritten() throws {
    let item = entity("item", [attribute("id", .long, required: true), attribute("name", .string)])
    let folder = try TemporaryFolder()
    let (path, copy) = (folder.path("business.db"), folder.path("copy.db"))
    for (file, name) in [(path, "before"), (copy, "after")] {
      try Connection(path: file).execute(
        """
        PRAGMA journal_mode = WAL; CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT);
        INSERT INTO item VALUES (1, '\(name)')
        """)
    }
    let package = Business.package([item])
    let (one, two) = (
      SQLiteConnector(path: path, package: package), SQLiteConnector(path: path, package: package)
    )
    let key = ObjectKey([.integer(1)])
    func name(_ connector: SQLiteConnector) throws -> AttributeValue? {
      try connector.read(item, keys: [key]).first?.values?[1]
    }
    _ = try one.changes(since: nil)
    #expect(try one.changes(since: nil).hints == [])
    #expect(try name(one) == .text("before") && name(two) == .text("before"))
    // What the log of before has must not come over what was put there.
    let update = ConnectorOperation(
      id: try #require(OperationID(String(repeating: "a", count: 32))), entity: item, kind: .update,
      key: key, changed: [1: .text("old")], base: [:])
    guard case .done = one.perform([update]) else { throw Overwriting.failed }

    let cp = Process()
    cp.executableURL = URL(filePath: "/bin/cp")
    cp.arguments = [copy, path]
    try cp.run()
    cp.waitUntilExit()
    #expect(cp.terminationStatus == 0)
    for end in ["-wal", "-shm"] { try FileManager.default.removeItem(atPath: path + end) }

    #expect(try one.changes(since: nil).hints == [.anything])
    #expect(try name(one) == .text("after"))
    #expect(try name(two) == .text("after"))
    // What is written is in the file that others see.
    let next = ConnectorOperation(
      id: try #require(OperationID(String(repeating: "b", count: 32))), entity: item, kind: .update,
      key: key, changed: [1: .text("new")], base: [:])
    guard case .done(let outcomes, _) = one.perform([next]) else { throw Overwriting.failed }
    #expect(outcomes == [.accepted(key: key)])
    let sqlite = try Connection(path: path, mode: .readOnly)
    #expect(try sqlite.value("SELECT name FROM item") == .text("new"))
    #expect(try sqlite.value("PRAGMA integrity_check") == .text("ok"))
    #expect(FileManager.default.fileExists(atPath: path + "-wal"))
  }

  private enum Overwriting: Error { case failed }

  @Test("Decimals keep every digit, or are refused where the column would lose some")
  func decimals() throws {
    let prices = entity(
      "Prices",
      [
        attribute("id", .long, required: true), attribute("exact", .decimal),
        attribute("loose", .decimal), attribute("big", .integer),
      ])
    let business = try Business(
      "CREATE TABLE Prices (id INTEGER PRIMARY KEY, exact TEXT, loose DECIMAL(20, 4), big NUMERIC)",
      prices)
    let long = "12345678901234567890123456789012345.678"
    let (outcomes, touched) = try business.perform(
      business.operation(
        .create, prices, [.integer(1)],
        ["exact": .text(long), "loose": .text("0.1"), "big": .text("9223372036854775807")]))
    #expect(outcomes == [.accepted(key: ObjectKey([.integer(1)]))])
    let row: [AttributeValue] = [
      .integer(1), .text(long), .text("0.1"), .text("9223372036854775807"),
    ]
    #expect(touched == [RowImage(entity: "Prices", key: ObjectKey([.integer(1)]), values: row)])
    #expect(try business.other.value("SELECT typeof(loose) FROM Prices") == .text("real"))
    for (name, value) in [
      ("loose", "0.12345678901234567"), ("loose", long), ("big", "9223372036854775808"),
    ] {
      let refusal = try business.refusal(
        of: business.operation(.update, prices, [.integer(1)], [name: .text(value)]))
      #expect(refusal.code == 422)
      #expect(refusal.attribute == name)
      #expect(refusal.message.contains("cannot be kept exactly"))
    }
    #expect(try business.load(prices).rows.map(\.values) == [row])
  }

  @Test("A text that its column would turn into a number is refused")
  func textInNumber() throws {
    let codes = entity(
      "Codes", [attribute("id", .long, required: true), attribute("code", .string)])
    let business = try Business("CREATE TABLE Codes (id INTEGER PRIMARY KEY, code NUMERIC)", codes)
    let refusal = try business.refusal(
      of: business.operation(.create, codes, [.integer(1)], ["code": .text("007")]))
    #expect(refusal.code == 422)
    let (outcomes, _) = try business.perform(
      business.operation(.create, codes, [.integer(1)], ["code": .text("x07")]))
    #expect(outcomes == [.accepted(key: ObjectKey([.integer(1)]))])
  }

  @Test("Dates are read from and written in the form of their column")
  func dates() throws {
    let days = entity(
      "Days",
      [
        attribute("id", .long, required: true), attribute("day", .date),
        attribute("at", .dateTime, stored: .space), attribute("iso", .dateTime, stored: .iso),
        attribute("unix", .dateTime, stored: .unixSeconds),
        attribute("unixDay", .date, stored: .unixSeconds), attribute("time", .time),
      ])
    let business = try Business(
      """
      CREATE TABLE Days (id INTEGER PRIMARY KEY, day DATE, at DATETIME, iso TEXT, unix INTEGER,
        unixDay INTEGER, time TIME);
      INSERT INTO Days VALUES (1, '1996-07-04', '1996-07-04 08:00:00.000', '1996-07-04T08:00:00',
        unixepoch('1969-12-31 23:59:58'), unixepoch('2024-02-29'), '08:30');
      """, days)
    let first: [AttributeValue] = [
      .integer(1), .text("1996-07-04"), .text("1996-07-04T08:00:00"), .text("1996-07-04T08:00:00"),
      .text("1969-12-31T23:59:58"), .text("2024-02-29"), .text("08:30:00"),
    ]
    #expect(try business.load(days).rows.map(\.values) == [first])
    _ = try business.perform(
      business.operation(
        .create, days, [.integer(2)],
        [
          "day": .text("2026-03-01"), "at": .text("2026-03-01T10:00:00.5"),
          "iso": .text("2026-03-01T10:00:00"), "unix": .text("2026-03-01T10:00:00"),
          "unixDay": .text("0001-01-01"), "time": .text("23:59:59"),
        ]))
    let stored = try business.other.row(
      """
      SELECT day, at, iso, datetime(unix, 'unixepoch'), date(unixDay, 'unixepoch'), time
      FROM Days WHERE id = 2
      """
    )
    #expect(
      stored?.map(\.text) == [
        "2026-03-01", "2026-03-01 10:00:00.5", "2026-03-01T10:00:00", "2026-03-01 10:00:00",
        "0001-01-01", "23:59:59",
      ])
  }

  @Test("Rows that do not fit the model are rejected one by one with place and cure")
  func rejected() throws {
    let rows = entity(
      "Rows",
      [
        attribute("id", .string, required: true), attribute("n", .int),
        attribute("must", .string, required: true),
      ])
    let business = try Business(
      """
      CREATE TABLE Rows (id TEXT PRIMARY KEY, n INTEGER, must TEXT);
      INSERT INTO Rows VALUES ('good', 1, 'x'), ('bad', 'abc', 'x'), ('empty', 1, NULL),
        ('big', 3000000000, 'x'), (NULL, 1, 'x');
      """, rows)
    let (loaded, rejected) = try business.load(rows)
    #expect(loaded.map(\.key) == [ObjectKey([.text("good")])])
    #expect(rejected.map(\.key) == ["\"bad\"", "\"empty\"", "\"big\"", ""])
    #expect(rejected.map(\.attribute) == ["n", "must", "n", "id"])
    #expect(rejected[0].reason.hasPrefix("\"abc\" is no int; correct it in Rows.n"))
    #expect(rejected[1].reason.hasPrefix("it is empty and the model says it never is"))
    #expect(try business.connector.read(rows, keys: [ObjectKey([.text("bad")])])[0].values == nil)
  }

  @Test("Cascades, replaced rows, moved keys and tables without row ids are touched")
  func touched() throws {
    let parent = entity(
      "Parent", [attribute("id", .string, required: true), attribute("name", .string)])
    let child = entity(
      "Child",
      [
        attribute("id", .int, required: true), attribute("line", .int, required: true),
        attribute("parent", .string),
      ], key: [0, 1])
    let business = try Business(
      """
      CREATE TABLE Parent (double TEXT AS (id || id), id TEXT PRIMARY KEY, name TEXT UNIQUE);
      CREATE TABLE Child (line INTEGER, id INTEGER, parent TEXT
        REFERENCES Parent ON DELETE CASCADE ON UPDATE CASCADE,
        PRIMARY KEY (id, line)) WITHOUT ROWID;
      CREATE TABLE Ignored (n INTEGER);
      INSERT INTO Parent (id, name) VALUES ('a', 'A'), ('b', 'B');
      INSERT INTO Child (id, line, parent) VALUES (1, 1, 'a'), (1, 2, 'a'), (2, 1, 'b');
      CREATE TRIGGER moves AFTER UPDATE OF name ON Parent WHEN NEW.name = 'move'
      BEGIN UPDATE Parent SET id = 'moved' WHERE id = NEW.id; INSERT INTO Ignored VALUES (1); END;
      CREATE TRIGGER replaces AFTER UPDATE OF name ON Parent WHEN NEW.name = 'replace'
      BEGIN INSERT OR REPLACE INTO Child (id, line, parent) VALUES (2, 1, 'moved'); END;
      """, parent, child)
    func image(_ entity: String, _ key: [AttributeValue], _ values: [AttributeValue]?) -> RowImage {
      RowImage(entity: entity, key: ObjectKey(key), values: values)
    }
    let (_, moved) = try business.perform(
      business.operation(.update, parent, [.text("a")], ["name": .text("move")]))
    let wanted = [
      image("Parent", [.text("a")], nil),
      image("Parent", [.text("moved")], [.text("moved"), .text("move")]),
      image("Child", [.integer(1), .integer(1)], [.integer(1), .integer(1), .text("moved")]),
      image("Child", [.integer(1), .integer(2)], [.integer(1), .integer(2), .text("moved")]),
    ]
    #expect(moved.count == 4)
    for one in wanted { #expect(moved.contains(one), "\(one) in \(moved)") }
    let (_, replaced) = try business.perform(
      business.operation(.update, parent, [.text("b")], ["name": .text("replace")]))
    #expect(
      replaced.contains(
        image("Child", [.integer(2), .integer(1)], [.integer(2), .integer(1), .text("moved")])))
    let (_, deleted) = try business.perform(business.operation(.delete, parent, [.text("moved")]))
    #expect(deleted.allSatisfy { $0.values == nil })
    #expect(deleted.count == 4)
  }

  @Test("Columns that are not set get the database's default, keys of any kind are given")
  func defaults() throws {
    let rows = entity(
      "Rows", [attribute("id", .string, required: true), attribute("n", .int)],
      origin: .businessSystem)
    for tail in ["", "WITHOUT ROWID"] {
      let business = try Business(
        """
        CREATE TABLE Rows (id TEXT NOT NULL PRIMARY KEY DEFAULT (hex(randomblob(4))),
          n INTEGER DEFAULT 7) \(tail)
        """, rows)
      let (outcomes, touched) = try business.perform(business.operation(.create, rows))
      let key = try #require(touched.first?.key)
      #expect(outcomes == [.accepted(key: key)])
      #expect(key.values(of: rows)?[0] == touched[0].values?[0])
      #expect(touched[0].values?[1] == .integer(7))
    }
  }

  @Test("A model that does not fit the tables is told with place and cure")
  func mismatches() throws {
    let business = try Business(
      """
      CREATE TABLE Fine (id INTEGER PRIMARY KEY, n INTEGER);
      CREATE TABLE Other (id TEXT PRIMARY KEY, n TEXT, must INTEGER NOT NULL);
      CREATE VIEW Seen AS SELECT * FROM Fine;
      """)
    let shape = [attribute("id", .long, required: true), attribute("n", .int)]
    let found = try business.connector.mismatches(
      with: Business.package([
        entity("Fine", shape), entity("Gone", shape), entity("Seen", shape),
        entity(
          "Other", [attribute("id", .string), attribute("n", .int), attribute("m", .int)],
          key: [1]),
      ]))
    #expect(
      found.map { "\($0.place): \($0.problem)" } == [
        "Gone: the database has no table Gone",
        "Seen: Seen is a view",
        "Other.n: the column Other.n is TEXT, which cannot store a int",
        "Other.m: Other has no column m",
        "Other: the model's key (n) is not unique in Other, whose key is (id)",
        "Other: Other.must must have a value and is not in the model",
      ])
    #expect(found.allSatisfy { !$0.cure.isEmpty })
  }

  @Test("No file, no database and no table are errors that name the cure, and nothing is made")
  func noDatabase() throws {
    let folder = try TemporaryFolder()
    let rows = entity("Rows", [attribute("id", .long, required: true)])
    let package = Business.package([rows])
    func error(_ name: String) -> ConnectorError? {
      do throws(ConnectorError) {
        _ = try SQLiteConnector(path: folder.path(name), package: package).load(
          LoadScope(entities: [rows]), from: nil, each: { _ in }, rejected: { _ in })
        return nil
      } catch { return error }
    }
    #expect(error("missing.db")?.message.contains("cannot be opened") == true)
    #expect(!FileManager.default.fileExists(atPath: folder.path("missing.db")))
    let text = String(repeating: "This is no database. ", count: 100)
    try text.write(toFile: folder.path("text.db"), atomically: true, encoding: .utf8)
    #expect(error("text.db")?.message.contains("is not a SQLite database") == true)
    let empty = try Connection(path: folder.path("empty.db"))
    try empty.execute("CREATE TABLE Unasked (n)")
    #expect(error("empty.db")?.message.contains("has no table Rows") == true)
    let perform = SQLiteConnector(path: folder.path("empty.db"), package: package).perform([])
    #expect(perform == .done([], touched: []))
  }

  @Test("Looking and loading write nothing; performing keeps the journal mode")
  func quiet() throws {
    let rows = entity("Rows", [attribute("id", .long, required: true)])
    let business = try Business("CREATE TABLE Rows (id INTEGER PRIMARY KEY)", rows)
    let before = try Data(contentsOf: URL(filePath: business.path))
    _ = try business.load(rows)
    _ = try business.connector.changedByOthers()
    _ = try business.connector.mismatches(with: business.package)
    #expect(try business.connector.recall([business.operation(.create, rows)]) == [.notPerformed])
    #expect(try Data(contentsOf: URL(filePath: business.path)) == before)
    _ = try business.perform(business.operation(.create, rows, [.integer(1)]))
    #expect(try business.other.value("PRAGMA journal_mode") == .text("delete"))
  }

  @Test("A database put in the place of another is seen, written and told as changed")
  func replaced() throws {
    let rows = entity("Rows", [attribute("id", .long, required: true)])
    let sql = "CREATE TABLE Rows (id INTEGER PRIMARY KEY)"
    let business = try Business(sql, rows)
    _ = try business.perform(business.operation(.create, rows, [.integer(1)]))
    _ = try business.connector.changedByOthers()
    let second = try Connection(path: business.folder.path("second.db"))
    try second.execute(sql)
    #expect(rename(business.folder.path("second.db"), business.path) == 0)
    #expect(try business.connector.changedByOthers())
    #expect(try business.load(rows).rows == [])
    _ = try business.perform(business.operation(.create, rows, [.integer(2)]))
    #expect(try business.load(rows).rows.map(\.key) == [ObjectKey([.integer(2)])])
  }

  @Test("What a crash left half-written is rolled back by whoever comes first, a reader too")
  func hotJournal() throws {
    let rows = entity("Rows", [attribute("id", .long, required: true), attribute("n", .string)])
    let business = try Business(
      """
      CREATE TABLE Rows (id INTEGER PRIMARY KEY, n TEXT);
      WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 2000)
      INSERT INTO Rows SELECT i, hex(zeroblob(200)) FROM c;
      PRAGMA cache_size = 5;
      """, rows)
    try business.other.execute("BEGIN; UPDATE Rows SET n = 'torn'")
    let copy = business.folder.path("copy.db")
    try FileManager.default.copyItem(atPath: business.path, toPath: copy)
    try FileManager.default.copyItem(atPath: business.path + "-journal", toPath: copy + "-journal")
    try business.other.execute("ROLLBACK")
    var torn = 0
    _ = try SQLiteConnector(path: copy, package: business.package).load(
      LoadScope(entities: [rows]), from: nil,
      each: { torn += $0.rows.count { $0.values?[1] == .text("torn") } }, rejected: { _ in })
    #expect(torn == 0)
    #expect(!FileManager.default.fileExists(atPath: copy + "-journal"))
  }

  @Test("A schema that changes under the connector is read again")
  func schemaChange() throws {
    let rows = entity("Rows", [attribute("id", .long, required: true), attribute("n", .int)])
    let business = try Business("CREATE TABLE Rows (id INTEGER PRIMARY KEY)", rows)
    let create = business.operation(.create, rows, [.integer(1)], ["n": .integer(5)])
    guard case .notDone(let reason) = business.connector.perform([create]) else {
      Issue.record("done without its column")
      return
    }
    #expect(reason.contains("has no column n") && reason.contains("`ferry diff`"))
    try business.other.execute("ALTER TABLE Rows ADD COLUMN n INTEGER")
    let (outcomes, _) = try business.perform(create)
    #expect(outcomes == [.accepted(key: ObjectKey([.integer(1)]))])
  }
}
