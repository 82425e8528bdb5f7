import FerryGenerator
import FerryModel
import FerryPostgreSQL
import FerryPostgreSQLReading
import Testing

@Suite("A model of a database of PostgreSQL")
struct ReadingTests {
  private func made(_ sql: String) throws -> ModelMaker.Result {
    let address = try Cluster.database()
    try PostgreSQLConnection(address).execute(sql)
    return try ModelMaker.make(
      from: try PostgreSQLSchema.read(address),
      options: TranslationOptions(name: "Shop"), file: "model.json", source: address.text)
  }

  @Test("Types, limits, identities, domains and enums are what the catalogue says")
  func types() throws {
    let made = try made(
      """
      CREATE TYPE mood AS ENUM ('sad', 'ok');
      CREATE DOMAIN price AS numeric(8, 2) CHECK (VALUE >= 0);
      CREATE DOMAIN list_price AS price NOT NULL;
      CREATE TABLE things (
        id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, a smallint, b bigint, c boolean,
        d double precision, e numeric, f list_price, g varchar(30) NOT NULL, h text, i uuid,
        j jsonb, k date, l time, m timestamp, n timestamptz, o bytea, p mood, q interval,
        r integer[], s point, t numeric(50, 2), u text GENERATED ALWAYS AS (g || '!') STORED);
      """)
    let thing = try #require(made.translation.package.entity(named: "Things"))
    #expect(thing.keyOrigin == .businessSystem)
    let types = Dictionary(uniqueKeysWithValues: thing.attributes.map { ($0.column, $0.type) })
    let wanted: [String: AttributeType] = [
      "id": .long, "a": .long, "b": .long, "c": .boolean, "d": .double, "e": .decimal,
      "f": .decimal, "g": .string, "h": .string, "i": .string, "j": .string, "k": .date,
      "l": .time, "m": .dateTime, "n": .dateTime, "o": .binary, "p": .string,
    ]
    #expect(types == wanted)
    let price = thing.attributes.first { $0.column == "f" }
    #expect(price?.precision == 8)
    #expect(price?.scale == 2)
    #expect(price?.isNullable == false)
    #expect(thing.attributes.first { $0.column == "g" }?.maxLength == 30)
    let leftOut = made.translation.notes(.leftOut)
    #expect(
      leftOut.map(\.subject).sorted()
        == ["things.q", "things.r", "things.s", "things.t", "things.u"])
    #expect(leftOut.allSatisfy { !$0.cure.isEmpty })
  }

  @Test(
    "Schemas, foreign keys between them, partitions, views and awkward names are taken in order")
  func shapes() throws {
    let made = try made(
      """
      CREATE SCHEMA "Ö";
      CREATE TABLE "Order" (id bigserial PRIMARY KEY, "a.b" text UNIQUE);
      CREATE TABLE "Ö"."x.y" (
        id int PRIMARY KEY, "order" bigint NOT NULL REFERENCES "Order", "say ""it"" now" text);
      CREATE TABLE events (day date, id int, PRIMARY KEY (day, id)) PARTITION BY RANGE (day);
      CREATE TABLE events_old PARTITION OF events FOR VALUES FROM (MINVALUE) TO ('2026-01-01');
      CREATE VIEW orders_seen AS SELECT * FROM "Order";
      """)
    let package = made.translation.package
    #expect(
      Set(package.entities.map(\.table)) == ["Order", "Ö.\"x.y\"", "events"],
      "\(package.entities.map(\.table))")
    let child = try #require(package.entities.first { $0.table.hasPrefix("Ö") })
    #expect(
      child.relationships.map(\.target)
        == package.entities.filter { $0.table == "Order" }.map(\.name))
    #expect(package.entities.first { $0.table == "events" }?.key.count == 2)
    #expect(made.translation.notes(.leftOut).map(\.subject) == ["orders_seen"])
  }

  @Test("Lists of checks and of enumerations become the values of their attributes")
  func lists() throws {
    let address = try Cluster.database()
    let connection = try PostgreSQLConnection(address)
    try connection.execute(
      """
      CREATE TYPE mood AS ENUM ('so so', 'sad');
      ALTER TYPE mood ADD VALUE 'glad' BEFORE 'sad';
      CREATE DOMAIN feeling AS mood;
      CREATE TABLE things (
        id bigserial PRIMARY KEY, a text CHECK (a IN ('x', 'it''s')),
        b varchar(9) CHECK (b IN ('x', 'y')) NOT NULL, c int CHECK (c IN (-1, 2)),
        "D" mood, e feeling, f char(3) CHECK (f IN ('x')), g text CHECK (g = 'x'),
        h text CHECK (h IS NULL OR h IN ('x', 'y')), i text CHECK (i IN ('x') AND b <> 'y'),
        j smallint CHECK (j IN (1, 2)), k text, CONSTRAINT k_is CHECK (k IN ('x', 'y')));
      """)
    func schema() throws -> DatabaseSchema { try PostgreSQLSchema.read(address) }
    let package = try ModelMaker.make(
      from: try schema(), options: TranslationOptions(name: "Shop"), file: "model.json"
    ).translation.package
    let thing = try #require(package.entity(named: "Things"))
    let values = Dictionary(
      uniqueKeysWithValues: thing.attributes.map {
        ($0.column, $0.values.map(\.shown).joined(separator: " "))
      })
    let moods = #""so so" "glad" "sad""#
    #expect(
      values == [
        "id": "", "a": #""x" "it's""#, "b": #""x" "y""#, "c": "-1 2", "D": moods, "e": moods,
        "f": "", "g": #""x""#, "h": #""x" "y""#, "i": "", "j": "1 2", "k": #""x" "y""#,
      ])
    #expect(ModelDifference.compare(package, with: try schema()).changes == [])
    try connection.execute("ALTER TYPE mood ADD VALUE 'mad'")
    let changes = ModelDifference.compare(package, with: try schema()).changes
    #expect(changes.map(\.what) == Array(repeating: "also takes \"mad\" now", count: 2))
    #expect(changes.map(\.subject) == ["things.D", "things.e"] && changes.allSatisfy(\.canGoOn))
  }

  @Test("Comments of tables and columns become the documentation of the model and of its Swift")
  func comments() throws {
    let made = try made(
      #"""
      CREATE TABLE orders (id bigserial PRIMARY KEY, city varchar(30) NOT NULL, note text);
      COMMENT ON TABLE orders IS E'\n What a customer wants.  \n\n*/ fatalError("\u2067Ö") \n';
      COMMENT ON COLUMN orders.city IS E'Where it goes\r\nwithout the code';
      COMMENT ON COLUMN orders.note IS E' \n\t ';
      """#)
    let orders = try #require(made.translation.package.entity(named: "Orders"))
    #expect(
      orders.documentation == " What a customer wants.\n\n*/ fatalError(\"Ö\")",
      "\(String(describing: orders.documentation))")
    #expect(
      orders.attributes.map(\.documentation) == [nil, "Where it goes\nwithout the code", nil])
    let code = SwiftRenderer.render(made.translation.package, from: "model.json")
    #expect(
      code.contains(
        """
        ///  What a customer wants.
        ///
        /// */ fatalError("Ö")
        ///
        /// Objects of the table orders.
        public nonisolated struct Orders
        """))
    for indent in ["  ", "    "] {
      #expect(
        code.contains(
          """
          \(indent)/// Where it goes
          \(indent)/// without the code
          \(indent)///
          \(indent)/// Column city, text of at most 30 characters, required.
          \(indent)public
          """))
    }
    // The generated code passes its own reader, and every line of it that is no code is a comment.
    #expect(!code.split(separator: "\n").contains { $0.hasPrefix("*/") })
  }

  @Test("ferry diff names comments that were added or changed, and devices continue to work")
  func changedComments() throws {
    let address = try Cluster.database()
    let connection = try PostgreSQLConnection(address)
    try connection.execute(
      """
      CREATE TABLE orders (id bigserial PRIMARY KEY, city text, note text);
      COMMENT ON COLUMN orders.city IS 'Where it goes';
      """)
    func schema() throws -> DatabaseSchema { try PostgreSQLSchema.read(address) }
    let package = try ModelMaker.make(
      from: try schema(), options: TranslationOptions(name: "Shop"), file: "model.json"
    ).translation.package
    #expect(ModelDifference.compare(package, with: try schema()).changes == [])
    try connection.execute(
      """
      COMMENT ON TABLE orders IS 'What a customer wants';
      COMMENT ON COLUMN orders.city IS E'Where it went\\n';
      COMMENT ON COLUMN orders.note IS '';
      """)
    let difference = ModelDifference.compare(package, with: try schema())
    #expect(difference.canGoOn)
    #expect(
      difference.changes.map(\.description) == [
        "orders: has the comment \"What a customer wants\" now. "
          + "The documentation of Orders in the model does not have it.",
        "orders.city: has another comment now, \"Where it went\". "
          + "The documentation of Orders.city in the model does not have it.",
      ])
    // A comment that is removed leaves the model's documentation to its author.
    try connection.execute(
      "COMMENT ON TABLE orders IS NULL; COMMENT ON COLUMN orders.city IS NULL")
    #expect(ModelDifference.compare(package, with: try schema()).changes == [])
  }

  @Test("A time stamp with a zone, an array and a default are told with what to write in the model")
  func surprises() throws {
    let made = try made(
      """
      CREATE TABLE visits (
        id bigserial PRIMARY KEY, starts timestamptz, skills text[], counts int[], at timestamp,
        urgent boolean NOT NULL DEFAULT false, created timestamptz NOT NULL DEFAULT now());
      """)
    let told = made.translation.notes(.told).map(\.description)
    #expect(told.filter { $0.contains("in UTC without a zone") }.count == 2, "\(told)")
    #expect(told.filter { $0.contains(#"With "nullable": true"#) }.count == 2, "\(told)")
    let cures = made.translation.notes(.leftOut).map(\.cure)
    #expect(cures.first?.contains(#""type": "list" and "of": "string""#) == true, "\(cures)")
    #expect(cures.last?.contains(#""type": "list" and "of": "long""#) == true, "\(cures)")
  }

  @Test(
    "ferry diff accepts each type that the server accepts for a column, and tells what may not fit",
    arguments: [
      ("text[]", AttributeType.list, "string", true, 0), ("text[]", .list, "long", false, 1),
      ("int[]", .list, "long", true, 0), ("int[]", .list, "string", false, 1),
      ("text[]", .binary, "", false, 1), ("text[]", .string, "", true, 1),
      ("jsonb[]", .list, "Address", true, 0), ("jsonb", .list, "string", true, 0),
      ("jsonb", .complex, "Address", true, 0), ("int4", .int, "", true, 0),
      ("int8", .int, "", true, 1), ("int4", .string, "", true, 1),
      ("int4", .boolean, "", false, 1), ("float4", .float, "", true, 0),
      ("numeric", .long, "", true, 1), ("bytea", .bigBinary, "", true, 0),
      ("interval", .string, "", true, 0), ("text", .date, "", false, 1),
    ])
  func authorsChoices(
    declared: String, type: AttributeType, element: String, canGoOn: Bool, changes: Int
  ) throws {
    let address = try Cluster.database()
    try PostgreSQLConnection(address).execute(
      "CREATE TABLE things (id bigserial PRIMARY KEY, v \(declared))")
    let thing = Entity(
      name: "Thing", table: "things",
      attributes: [
        Attribute(name: "id", column: "id", type: .long, isNullable: false),
        Attribute(
          name: "v", column: "v", type: type, isNullable: true,
          element: element.isEmpty ? nil : element),
      ], key: [0], keyOrigin: .businessSystem, relationships: [],
      operations: [.create, .update, .delete], partition: nil, group: "all")
    let package = Package(
      name: "Shop", version: "1.0", entities: [thing], groups: [SynchronizationGroup(name: "all")])
    let difference = ModelDifference.compare(package, with: try PostgreSQLSchema.read(address))
    #expect(difference.canGoOn == canGoOn, "\(difference.changes)")
    #expect(difference.changes.count == changes, "\(difference.changes)")
  }

  @Test("Keys that are one there and two on devices are left out with their cure")
  func keys() throws {
    let made = try made(
      """
      CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
      CREATE TABLE padded (id char(5) PRIMARY KEY);
      CREATE TABLE loosely (id text COLLATE loose PRIMARY KEY);
      CREATE TABLE fraction (id numeric PRIMARY KEY);
      CREATE TABLE good (id text PRIMARY KEY);
      """)
    #expect(made.translation.package.entities.map(\.table) == ["good"])
    let subjects = made.translation.notes(.leftOut).map(\.subject)
    for name in ["padded", "loosely", "fraction"] { #expect(subjects.contains(name)) }
  }

  @Test("Large texts and bytes are kept apart from their rows")
  func large() throws {
    let made = try made(
      """
      CREATE TABLE papers (id int PRIMARY KEY, title text, body text, scan bytea);
      INSERT INTO papers VALUES (1, 'x', repeat('x', 100000), decode(repeat('00', 100000), 'hex'));
      """)
    let paper = try #require(made.translation.package.entity(named: "Papers"))
    #expect(paper.attributes.map(\.type) == [.long, .string, .bigString, .bigBinary])
  }
}
