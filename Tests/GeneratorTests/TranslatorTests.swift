import FerryGenerator
import FerryModel
import Testing

struct TranslatorTests {
  private func translate(
    _ sql: String, partitions: [String] = [], groups: [String] = []
  ) throws -> Translation {
    let database = try FixtureDatabase(sql)
    return try Translator.translate(
      try SchemaReader.read(path: database.path),
      options: TranslationOptions(
        name: "shop", partitions: try partitions.map(PartitionRequest.init),
        groups: try groups.map(GroupRequest.init)))
  }

  private static let orders = """
    CREATE TABLE orders (id INTEGER PRIMARY KEY, clerk TEXT NOT NULL, region TEXT NOT NULL);
    CREATE TABLE lines (n INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders);
    CREATE TABLE notes (n INTEGER PRIMARY KEY, line_id INTEGER NOT NULL REFERENCES lines);
    CREATE TABLE hints (n INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders);
    CREATE TABLE links (
      n INTEGER PRIMARY KEY, from_id INTEGER NOT NULL REFERENCES orders,
      to_id INTEGER NOT NULL REFERENCES orders);
    CREATE TABLE parts (n INTEGER PRIMARY KEY);
    """

  @Test("Whatever refers to a partitioned entity by its key follows it, also over several steps")
  func follow() throws {
    let made = try translate(Self.orders, partitions: ["orders=clerk:claim:clerk,region:open"])
    let rules = Dictionary(
      uniqueKeysWithValues: made.package.entities.map { ($0.name, $0.partition) })
    #expect(
      rules["Orders"]
        == .columns([
          PartitionColumn(attribute: "clerk", source: .claim("clerk")),
          PartitionColumn(attribute: "region", source: .open),
        ]))
    #expect(rules["Lines"] == .through(relationship: "order"))
    #expect(rules["Notes"] == .through(relationship: "line"))
    #expect(rules["Links"] == .through(relationship: "from"))
    #expect(rules["Parts"] == .some(nil))
  }

  @Test("A path that is ambiguous, and one that may be null, are told")
  func told() throws {
    let made = try translate(Self.orders, partitions: ["Orders=clerk:claim:clerk"])
    let told = made.notes(.told)
    #expect(told.contains { $0.subject == "links" && $0.what.contains("could follow to") })
    #expect(told.contains { $0.subject == "hints" && $0.what.contains("may refer to none") })
    #expect(made.package.entity(named: "Hints")?.partition == nil)
  }

  @Test("Groups take the entities named, the rest are in the default one")
  func groups() throws {
    let made = try translate(
      Self.orders, partitions: ["orders=clerk:claim:clerk"], groups: ["stock=parts,Hints"])
    #expect(made.package.groups.map(\.name) == ["stock", "default"])
    #expect(made.package.entity(named: "Parts")?.group == "stock")
    #expect(made.package.entity(named: "Hints")?.group == "stock")
    #expect(made.package.entity(named: "Orders")?.group == "default")
    #expect(
      made.notes(.told).contains {
        $0.subject == "hints" && $0.what.contains("is in another group")
      })
  }

  @Test(
    "What is asked for and is not there is refused with the nearest name",
    arguments: [
      (
        "order=clerk:claim:clerk",
        "\"order\" is not an entity of the model. Did you mean \"orders\"?"
      ),
      ("orders=clark:open", "orders has no column \"clark\". Did you mean \"clerk\"?"),
    ])
  func unknown(_ request: String, _ words: String) throws {
    do {
      _ = try translate(Self.orders, partitions: [request])
      Issue.record("not refused")
    } catch {
      #expect("\(error)" == words)
    }
  }

  @Test(
    "A partition option that makes no sense is refused",
    arguments: [
      "orders", "orders=", "=a:open", "orders=a", "orders=a:claim:", "orders=a:open,",
      "orders=:open",
    ])
  func malformed(_ text: String) {
    #expect(throws: GeneratorError.self) { try PartitionRequest(text) }
  }

  @Test("A database of which nothing can be taken is refused with the first reasons")
  func nothing() throws {
    #expect(throws: GeneratorError.self) { try translate("CREATE TABLE log (what TEXT)") }
    #expect(throws: GeneratorError.self) { try translate("") }
  }

  @Test(
    "Column types come from the declaration and then from the values",
    arguments: [
      ("INTEGER", [], .long, nil), ("BIGINT", ["1"], .long, nil), ("REAL", ["1"], .double, nil),
      ("DECIMAL(10,2)", ["1.5"], .decimal, nil), ("BOOLEAN", ["1", "0"], .boolean, nil),
      ("VARCHAR(5)", ["'abc'"], .string, nil), ("BLOB", ["x'00'"], .binary, nil),
      ("DATE", [], .date, nil), ("DATE", ["'2024-01-31'"], .date, nil),
      ("DATETIME", [], .dateTime, .space), ("DATETIME", ["'2024-01-31'"], .date, nil),
      ("TIMESTAMP", ["'2024-01-31T10:00:00'"], .dateTime, .iso),
      ("TIMESTAMP", ["'2024-01-31 10:00:00.5'"], .dateTime, .space),
      ("TIMESTAMP", ["1706695200"], .dateTime, .unixSeconds),
      ("TIMESTAMP", ["'2024-01-31 10:00:00'", "1706695200"], .string, nil),
      ("DATETIME", ["2460000.5"], .decimal, nil), ("TIME", ["'10:00'"], .time, nil),
      ("INTEGER", ["'x'"], .string, nil), ("INTEGER", ["1.5"], .decimal, nil),
      ("INTEGER", ["1e300"], .double, nil), ("BOOLEAN", ["2"], .long, nil),
      ("DOUBLE", ["'12'"], .double, nil), ("DOUBLE", ["'n/a'"], .string, nil),
      ("", ["'007'"], .string, nil), ("", ["7"], .long, nil), ("NUMERIC", ["1e300"], .double, nil),
    ] as [(String, [String], AttributeType, StoredForm?)])
  func types(
    _ declared: String, _ values: [String], _ type: AttributeType, _ stored: StoredForm?
  ) throws {
    let rows = values.map { "INSERT INTO t (v) VALUES (\($0));" }.joined()
    let made = try translate("CREATE TABLE t (n INTEGER PRIMARY KEY, v \(declared)); \(rows)")
    let attribute = try #require(made.package.entities.first?.attributes.last)
    #expect(attribute.type == type)
    #expect(attribute.stored == stored)
  }

  @Test(
    "A decimal has the digits that its column declares, unless a value has more",
    arguments: [
      ("DECIMAL(10,2)", ["1.5", "'12345678.90'", "-7"], 10, 2),
      ("NUMERIC( 5 , 0 )", ["99999"], 5, 0), ("DEC(6)", ["12"], 6, 0), ("DECIMAL(4,2)", [], 4, 2),
      ("DECIMAL(4,4)", ["0.25"], 4, 4), ("DECIMAL", ["1.5"], nil, nil),
      ("DECIMAL(10,2)", ["1.125"], nil, nil), ("DECIMAL(4,2)", ["100"], nil, nil),
      ("DECIMAL(6)", ["1.5"], nil, nil), ("NUMERIC(10,11)", ["1"], nil, nil),
      ("NUMERIC(39,0)", ["1"], nil, nil), ("DECIMAL(0)", ["1"], nil, nil),
    ] as [(String, [String], Int?, Int?)])
  func digits(_ declared: String, _ values: [String], _ precision: Int?, _ scale: Int?) throws {
    let rows = values.map { "INSERT INTO t (v) VALUES (\($0));" }.joined()
    let sql = "CREATE TABLE t (n INTEGER PRIMARY KEY, v \(declared)); \(rows)"
    let made = try translate(sql)
    let attribute = try #require(made.package.entities.first?.attributes.last)
    #expect(attribute.type == .decimal)
    #expect(attribute.precision == precision)
    #expect(attribute.scale == scale)
    let database = try FixtureDatabase(sql)
    let same = try ModelDifference.compare(made.package, withSQLite: database.path)
    #expect(same.changes.isEmpty)
    let wider = try FixtureDatabase(
      "CREATE TABLE t (n INTEGER PRIMARY KEY, v DECIMAL(38,9)); \(rows)")
    let other = try ModelDifference.compare(made.package, withSQLite: wider.path)
    #expect(other.canGoOn)
    let what = precision.map { "\($0) digits, \(scale ?? 0) of them after the point" }
    #expect(
      other.changes.map(\.what) == [
        "takes 38 digits, 9 of them after the point now, \(what ?? "any digits") in the model"
      ])
  }

  @Test("A default of the database and bytes in the row are told, each with what to write")
  func surprises() throws {
    let made = try translate(
      """
      CREATE TABLE t (
        n INTEGER PRIMARY KEY, urgent BOOLEAN NOT NULL DEFAULT 0, photo BLOB, note TEXT DEFAULT '');
      """)
    let told = made.notes(.told).filter { $0.subject.hasPrefix("t.") }
    #expect(told.map(\.subject) == ["t.urgent", "t.photo"])
    #expect(told.first?.cure.contains(#"With "nullable": true"#) == true)
    #expect(told.last?.cure.contains(#""type": "bigBinary""#) == true)
  }

  @Test(
    "A nullable attribute of a column with a default, and JSON in a text, are right as they are")
  func authorsChoices() throws {
    let database = try FixtureDatabase(
      """
      CREATE TABLE t (
        n INTEGER PRIMARY KEY, urgent BOOLEAN NOT NULL DEFAULT 0, skills TEXT, address TEXT,
        must TEXT NOT NULL);
      """)
    let attributes = [
      Attribute(name: "n", column: "n", type: .long, isNullable: false),
      Attribute(name: "urgent", column: "urgent", type: .boolean, isNullable: true),
      Attribute(
        name: "skills", column: "skills", type: .list, isNullable: true, element: "string"),
      Attribute(
        name: "address", column: "address", type: .complex, isNullable: true, element: "Address"),
      Attribute(name: "must", column: "must", type: .string, isNullable: true),
    ]
    let entity = Entity(
      name: "T", table: "t", attributes: attributes, key: [0], keyOrigin: .businessSystem,
      relationships: [], operations: [.create, .update, .delete], partition: nil, group: "default")
    let package = Package(
      name: "Shop", version: "1.0", entities: [entity],
      groups: [SynchronizationGroup(name: "default")])
    let difference = try ModelDifference.compare(package, withSQLite: database.path)
    #expect(difference.canGoOn)
    #expect(
      difference.changes.map(\.description) == [
        "t.urgent: is NOT NULL with a default, and nullable in the model. "
          + "A create without a value gets the default. The database refuses an update to null.",
        "t.must: is NOT NULL now. The database refuses null values from devices.",
      ])
  }

  @Test("Values that have more digits than their column declares are told")
  func tooManyDigits() throws {
    let made = try translate(
      """
      CREATE TABLE t (n INTEGER PRIMARY KEY, v DECIMAL(4,2));
      INSERT INTO t (v) VALUES ('123.5'), ('0.125');
      """)
    let note = try #require(made.notes.first { $0.subject == "t.v" })
    #expect(
      note.what
        == "is declared DECIMAL(4,2) but has values of up to 3 digits before the point and 3 behind it"
    )
  }
}
