import FerryGenerator
import FerryModel
import Testing

/// Lists of values, from the checks of a database to the model, its Swift and its differences.
struct ValueListTests {
  private func made(_ database: FixtureDatabase) throws -> ModelMaker.Result {
    try ModelMaker.make(
      fromSQLite: database.path, options: TranslationOptions(name: "shop", writable: .all),
      file: "model.json")
  }

  private func values(_ column: String, _ constraint: String = "") throws -> [AttributeValue] {
    let end = constraint.isEmpty ? "" : ", \(constraint)"
    let database = try FixtureDatabase(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, b TEXT, \(column)\(end));")
    let entity = try #require(try made(database).translation.package.entity(named: "T"))
    return try #require(entity.attributes.last).values
  }

  @Test(
    "A check that is nothing but a list becomes the list of the model",
    arguments: [
      ("a TEXT CHECK (a IN ('x', 'it''s'))", "", [.text("x"), .text("it's")]),
      ("a TEXT", "CONSTRAINT c CHECK ((\"A\" in ('x','y')))", [.text("x"), .text("y")]),
      ("[a] TEXT /* CHECK (a IN ('q')) */ CHECK ([a] IN -- one\n('x'))", "", [.text("x")]),
      ("a TEXT CHECK (a IS NULL OR a IN ('x', 'x'))", "", [.text("x")]),
      ("a TEXT CHECK (a IN ('x') or (`a` is null))", "", [.text("x")]),
      ("a INTEGER CHECK (a IN (-1, (2), 3))", "", [.integer(-1), .integer(2), .integer(3)]),
      ("a TEXT COLLATE BINARY CHECK (a IN ('x'))", "", [.text("x")]),
      ("a TEXT CHECK (b <> 'z') CHECK (a IN ('x'))", "", [.text("x")]),
    ] as [(String, String, [AttributeValue])])
  func plain(_ column: String, _ constraint: String, _ values: [AttributeValue]) throws {
    #expect(try self.values(column, constraint) == values)
  }

  @Test(
    "A check that says more or less than a list gives none",
    arguments: [
      ("a TEXT CHECK (a IN ('x') AND length(a) > 0)", ""), ("a TEXT CHECK (a NOT IN ('x'))", ""),
      ("a TEXT CHECK (lower(a) IN ('x'))", ""), ("a TEXT CHECK (a IN ('x') OR b IN ('y'))", ""),
      ("a TEXT CHECK (a IN ('x') OR b IS NULL)", ""), ("a TEXT CHECK (a IN ('x') = 1)", ""),
      ("a TEXT CHECK (a IN ('x', b))", ""), ("a TEXT CHECK (a IN (1, 2))", ""),
      ("a INTEGER CHECK (a IN ('1', '2'))", ""), ("a INTEGER CHECK (a IN (0, 1))", ""),
      ("a TEXT COLLATE NOCASE CHECK (a IN ('x', 'y'))", ""), ("a TEXT CHECK (a IN ())", ""),
      ("a TEXT CHECK (a IN ('x', 'y'))", "CHECK (a IN ('y', 'z'))"),
      ("a VARCHAR(1) CHECK (a IN ('x', 'yz'))", ""), ("a REAL CHECK (a IN (1, 2))", ""),
      ("a TEXT DEFAULT 'CHECK (a IN (''x''))'", ""), ("a TEXT CHECK (NOT (a IN ('x')))", ""),
    ])
  func others(_ column: String, _ constraint: String) throws {
    #expect(try values(column, constraint) == [])
  }

  @Test("A list on a key of the database, or on a reference to one, is left to the database")
  func keys() throws {
    let database = try FixtureDatabase(
      """
      CREATE TABLE a (id INTEGER PRIMARY KEY CHECK (id IN (7, 8)));
      CREATE TABLE b (id TEXT NOT NULL PRIMARY KEY CHECK (id IN ('x', 'y')),
        a INTEGER REFERENCES a CHECK (a IN (7, 8)), b TEXT REFERENCES b CHECK (b IN ('x', 'y')));
      """)
    let package = try made(database).translation.package
    #expect(package.entity(named: "A")?.attributes.map(\.values) == [[]])
    let both: [AttributeValue] = [.text("x"), .text("y")]
    #expect(package.entity(named: "B")?.attributes.map(\.values) == [both, [], both])
  }

  @Test("Definitions of checks as PostgreSQL writes them are read")
  func postgreSQL() {
    let lists = CheckLists(ofChecks: [
      "CHECK ((status = ANY (ARRAY['open'::text, 'it''s'::text])))",
      "CHECK (((\"Kind\")::text = ANY ((ARRAY['a'::character varying, 'b'::character varying])::text[])))",
      "CHECK (((size IS NULL) OR (size = ANY (ARRAY['-1'::integer, 2])))) NOT VALID",
      "CHECK ((one = 'x'::text))", "CHECK ((price > (0)::numeric))",
      "CHECK (((mark)::bpchar = ANY (ARRAY['1'::bpchar, '2'::bpchar])))",
      "CHECK ((status2 <> ALL (ARRAY['a'::text])))",
      "CHECK (((lot)::text = ANY (ARRAY[('a'::character varying(3))::text, ('b'::character varying(3))::text])))",
    ])
    #expect(lists["status"] == [.text("open"), .text("it's")])
    #expect(lists["Kind"] == [.text("a"), .text("b")] && lists["kind"] == [])
    #expect(lists["size"] == [.integer(-1), .integer(2)])
    #expect(lists["one"] == [.text("x")] && lists["price"] == [] && lists["status2"] == [])
    #expect(lists["mark"] == [.text("1"), .text("2")] && lists["lot"] == [.text("a"), .text("b")])
  }

  @Test("Sakila's ratings become a type with a name for each, and an unnamed list is a note")
  func sakila() throws {
    let made = try made(
      try FixtureDatabase(FixtureDatabase.text(ofFixture: "sakila-shape.sql")))
    let package = made.translation.package
    let film = try #require(package.entity(named: "Film"))
    let rating = try #require(film.attributes.first { $0.name == "rating" })
    #expect(rating.values.map(\.shown).joined(separator: " ") == #""G" "PG" "PG-13" "R" "NC-17""#)
    let code = SwiftRenderer.render(package, from: "model.json")
    #expect(code.contains("public static var nc17: Self { Self(\"NC-17\") }"))
    #expect(code.contains("public static var allCases: [Self] { [.g, .pg, .pg13, .r, .nc17] }"))
    #expect(code.contains("public var rating: Film.Rating?"))
    #expect(code.contains("Ferry.AttributeOf<Film, Film.Rating?>"))

    let clash = try self.made(
      try FixtureDatabase(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT CHECK (a IN ('a b', 'a-b')));"))
    #expect(
      clash.translation.notes.contains {
        $0.subject == "t.a" && $0.what.hasPrefix("its list of values gets no Swift type")
      })
    #expect(
      SwiftRenderer.render(clash.translation.package, from: "m").contains("public var a: String?"))
  }

  @Test(
    "ferry diff names what changed in a list, and devices continue to work",
    arguments: [
      ("'x', 'y'", "'x', 'y'", nil),
      ("'x', 'y'", "'y', 'x'", nil),
      ("'x', 'y'", "'x', 'y', 'z'", "t.a: also takes \"z\" now. "),
      ("'x', 'y'", "'x'", "t.a: no longer takes \"y\". "),
      ("'x', 'y'", "'x', 'z'", "t.a: also takes \"z\" now and no longer takes \"y\". "),
    ])
  func difference(_ before: String, _ after: String, _ words: String?) throws {
    let table = { (list: String) in
      "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT CHECK (a IN (\(list))));"
    }
    let package = try made(try FixtureDatabase(table(before))).translation.package
    let now = try FixtureDatabase(table(after))
    let difference = try ModelDifference.compare(package, withSQLite: now.path)
    #expect(difference.canGoOn && difference.changes.count == (words == nil ? 0 : 1))
    #expect(words.map { difference.changes[0].description.hasPrefix($0) } ?? true)
  }

  @Test("ferry diff names a list that is new, and one that is no longer there")
  func newAndOld() throws {
    let with = try FixtureDatabase(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT CHECK (a IN ('x')));")
    let without = try FixtureDatabase("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT);")
    let gone = try ModelDifference.compare(
      try made(with).translation.package, withSQLite: without.path)
    #expect(gone.changes.map(\.what) == ["has no plain list of values now, \"x\" in the model"])
    let new = try ModelDifference.compare(
      try made(without).translation.package, withSQLite: with.path)
    #expect(new.changes.map(\.what) == ["takes only \"x\" now, any value in the model"])
    #expect(gone.canGoOn && new.canGoOn)
  }
}
