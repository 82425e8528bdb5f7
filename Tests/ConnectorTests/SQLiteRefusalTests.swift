import FerryConnector
import FerryModel
import FerrySQLite
import FerryTestTraits
import Testing

@testable import FerrySQLConnector

@Suite("SQLite's refusals are sentences for the user", .reference("sync/Q11"))
struct SQLiteRefusalTests {
  let parent: Entity = entity("Parent", [attribute("id", .long, required: true)])
  let child: Entity = entity(
    "Child",
    [
      attribute("id", .long, required: true), attribute("parent", .long),
      attribute("code", .string), attribute("part", .int), attribute("size", .int),
    ], origin: .businessSystem)

  func business(_ more: String = "") throws -> Business {
    try Business(
      """
      CREATE TABLE Parent (id INTEGER PRIMARY KEY);
      CREATE TABLE Child (id INTEGER PRIMARY KEY,
        parent INTEGER REFERENCES Parent DEFERRABLE INITIALLY DEFERRED,
        code TEXT, part INTEGER, size INTEGER DEFAULT 7 CONSTRAINT "not too big" CHECK (size < 10),
        UNIQUE (code, part));
      INSERT INTO Parent VALUES (1), (2);
      INSERT INTO Child VALUES (1, 1, 'a', 1, 1);
      \(more)
      """, parent, child)
  }

  @Test("A deferred foreign key that breaks at the commit is told of its operation")
  func deferred() throws {
    let business = try business()
    let (outcomes, touched) = try business.perform(
      business.operation(.create, child, nil, ["parent": .integer(2)]),
      business.operation(.create, child, nil, ["parent": .integer(99)]))
    #expect(
      outcomes == [
        .notTried,
        .refused(
          Refusal(code: 412, message: "parent 99 does not exist in Parent.", attribute: "parent")),
      ])
    #expect(touched == [])
    #expect(try business.other.value("SELECT count(*) FROM Child") == .integer(1))
    let delete = try business.refusal(of: business.operation(.delete, parent, [.integer(1)]))
    #expect(delete.message == "Parent 1 is still needed: 1 row of Child refers to it.")
  }

  @Test("A unique constraint names attributes and values")
  func unique() throws {
    let business = try business()
    let refusal = try business.refusal(
      of: business.operation(.create, child, nil, ["code": .text("a"), "part": .integer(1)]))
    #expect(refusal.code == 412)
    #expect(refusal.message == "There is already a Child with code \"a\" and part 1.")
    #expect(refusal.attribute == "code")
  }

  @Test("A table that has given its last key refuses a create and says so; the disk is not full")
  func lastKey() throws {
    let counted = entity(
      "Counted", [attribute("id", .long, required: true), attribute("n", .int)],
      origin: .businessSystem)
    let business = try Business(
      """
      CREATE TABLE Counted (id INTEGER PRIMARY KEY AUTOINCREMENT, n INTEGER);
      INSERT INTO Counted VALUES (\(Int64.max), 1);
      """, counted)
    let refusal = try business.refusal(
      of: business.operation(.create, counted, nil, ["n": .integer(2)]))
    #expect(refusal.code == 500)
    #expect(refusal.message.hasPrefix("Counted has given its last key, \(Int64.max)"))
    let update = business.operation(.update, counted, [.integer(.max)], ["n": .integer(3)])
    #expect(try business.perform(update).0 == [.accepted(key: ObjectKey([.integer(.max)]))])
  }

  @Test("A check names its rule; where it is about one attribute, that and its value")
  func check() throws {
    let business = try business("CREATE TABLE Plain (id INTEGER PRIMARY KEY, n INT CHECK (n > 0));")
    let named = try business.refusal(
      of: business.operation(.create, child, nil, ["size": .integer(11)]))
    #expect(named.message == "The rule not too big of Child is not met.")
    #expect(named.constraint == "not too big", "an app can show a sentence of its own")
    let plain = entity("Plain", [attribute("id", .long, required: true), attribute("n", .int)])
    let other = SQLiteConnector(path: business.path, package: Business.package([plain]))
    let result = other.perform([
      business.operation(.create, plain, [.integer(1)], ["n": .integer(0)])
    ])
    #expect(
      result
        == .done(
          [
            .refused(
              Refusal(
                code: 412, message: "The rule n > 0 of Plain is not met (n is 0).", attribute: "n"))
          ], touched: []))
  }

  @Test(
    "A name is that of a constraint in each of SQLite's spellings, and the text of a check is none",
    arguments: [
      ("CHECK (a > 0)", false), ("CONSTRAINT rule CHECK (a > 0)", true),
      ("constraint\n\"rule\"check (a > 0)", true), ("CONSTRAINT [rule] CHECK (a > 0)", true),
      ("CONSTRAINT `Rule` CHECK (a > 0)", true), ("CONSTRAINT rules CHECK (rule)", false),
      ("my_constraint_rule INT, CHECK (rule)", false),
      ("CONSTRAINT a NOT NULL, CONSTRAINT rule CHECK (a)", true),
    ])
  func constraintNames(_ sql: String, isDeclared: Bool) {
    #expect(ConstraintName.isDeclared("rule", in: sql) == isDeclared)
  }

  @Test(
    "RAISE in every form undoes the group and says what the trigger says",
    arguments: ["ABORT", "FAIL", "ROLLBACK"])
  func raise(_ form: String) throws {
    let business = try business(
      """
      CREATE TRIGGER no AFTER INSERT ON Child WHEN NEW.code = 'no'
      BEGIN SELECT RAISE(\(form), 'Not today: said the trigger'); END;
      """)
    let (outcomes, _) = try business.perform(
      business.operation(.create, child, nil, ["code": .text("yes")]),
      business.operation(.create, child, nil, ["code": .text("no")]))
    #expect(
      outcomes == [.notTried, .refused(Refusal(code: 412, message: "Not today: said the trigger"))])
    #expect(try business.other.value("SELECT count(*) FROM Child") == .integer(1))
    let (again, _) = try business.perform(
      business.operation(.create, child, nil, ["code": .text("ok")]))
    #expect(again == [.accepted(key: ObjectKey([.integer(2)]))])
  }

  @Test("A change that a trigger ignores is refused, not accepted in silence")
  func ignored() throws {
    let business = try business(
      "CREATE TRIGGER no BEFORE UPDATE ON Child BEGIN SELECT RAISE(IGNORE); END;")
    let refusal = try business.refusal(
      of: business.operation(.update, child, [.integer(1)], ["size": .integer(2)]))
    #expect(refusal.message == "A rule of the business database ignored the change of Child.")
  }

  @Test("A trigger that cannot run is refused with 500 and does not block what follows")
  func brokenTrigger() throws {
    let business = try business(
      "CREATE TRIGGER bad AFTER DELETE ON Child BEGIN SELECT nowhere(1); END;")
    let refusal = try business.refusal(of: business.operation(.delete, child, [.integer(1)]))
    #expect(refusal.code == 500)
    #expect(refusal.message.contains("nowhere"))
  }

  @Test("The key of an object cannot be changed, and a key that is none is refused with 422")
  func keys() throws {
    let business = try business()
    let changed = try business.refusal(
      of: business.operation(.update, child, [.integer(1)], ["id": .integer(5)]))
    #expect(changed.code == 422)
    let none = try business.refusal(of: business.operation(.update, child, [.text("x")], [:]))
    #expect(none.code == 422)
  }

  @Test("A database locked by another program is not done, and done when it is free")
  func locked() throws {
    let business = try business()
    let create = business.operation(.create, child, nil, ["size": .integer(3)])
    try business.other.execute("BEGIN EXCLUSIVE")
    guard case .notDone(let reason) = business.connector.perform([create]) else {
      Issue.record("done though locked")
      return
    }
    #expect(reason.contains("locked by another program"))
    #expect {
      _ = try business.load(child)
    } throws: {
      ($0 as? ConnectorError)?.isTransient == true
    }
    try business.other.execute("COMMIT")
    let (outcomes, _) = try business.perform(create)
    #expect(outcomes == [.accepted(key: ObjectKey([.integer(2)]))])
  }

  @Test("A commit that a reader blocks is not done, and done when he is gone")
  func blockedCommit() throws {
    let business = try business()
    let create = business.operation(.create, child, nil, ["size": .integer(3)])
    try business.other.execute("BEGIN")
    #expect(try business.other.value("SELECT count(*) FROM Child") == .integer(1))
    guard case .notDone = business.connector.perform([create]) else {
      Issue.record("done though a reader stands in the way")
      return
    }
    try business.other.execute("COMMIT")
    let (outcomes, _) = try business.perform(create)
    #expect(outcomes == [.accepted(key: ObjectKey([.integer(2)]))])
  }

  @Test("A full disk is not done, says so, and leaves nothing behind")
  func full() throws {
    let business = try business()
    let writer = try Writer(
      business.path,
      SQLiteConnector.Settings(
        package: business.package, remembersOperations: true, busyTimeoutMilliseconds: 10))
    let pages = try #require(try business.other.value("PRAGMA page_count")?.integer)
    try writer.connection.execute("PRAGMA max_page_count = \(pages + 2)")
    let text = String(repeating: "x", count: 100_000)
    let create = business.operation(.create, child, nil, ["code": .text(text)])
    guard case .notDone(let reason) = writer.perform([create]) else {
      Issue.record("done though full")
      return
    }
    #expect(reason.contains("Free space"))
    #expect(try business.other.value("SELECT count(*) FROM Child") == .integer(1))
    #expect(try business.connector.recall([create]) == [.notPerformed])
    let (outcomes, _) = try business.perform(create)
    #expect(outcomes == [.accepted(key: ObjectKey([.integer(2)]))])
  }
}
