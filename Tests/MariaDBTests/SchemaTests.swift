import FerryConnector
import FerryGenerator
import FerryMariaDB
import FerryMariaDBConnector
import FerryMariaDBReading
import FerryModel
import Testing

@Suite("Tables of MariaDB in a model")
struct SchemaTests {
  private static let all = """
    CREATE TABLE everything (
      a INT UNSIGNED NOT NULL, b VARCHAR(10) CHARACTER SET latin1 NOT NULL, flag TINYINT(1), bit1 BIT(1),
      tiny TINYINT, big BIGINT UNSIGNED, price DECIMAL(20, 4), real4 FLOAT, real8 DOUBLE, day DATE,
      clock TIME(3), at DATETIME(6), stamp TIMESTAMP NULL, raw VARBINARY(20), fixed BINARY(4),
      words LONGTEXT, data JSON, kind ENUM('x', 'it''s', 'B') NOT NULL, marks SET('p', 'q'), y YEAR,
      made INT AS (a + 1) VIRTUAL, PRIMARY KEY (a, b), UNIQUE KEY one_day (day))
    """

  @Test("Every type goes round: a model from the tables, a row written, read and loaded")
  func types() throws {
    let stage = try ItemStage([SchemaTests.all], isPrepared: false)
    let made = try ModelMaker.make(
      from: try MariaDBSchema.read(stage.address),
      options: TranslationOptions(name: "Types", writable: .all), file: "model.json",
      source: stage.address.text)
    let package = made.translation.package
    let entity = try #require(package.entities.first)
    let connector = MariaDBConnector(stage.address, package: package)
    #expect(try connector.mismatches(with: package) == [])
    let values: [String: AttributeValue] = [
      "a": .integer(4_294_967_295), "b": .text("Zürich"), "flag": .boolean(true),
      "bit1": .boolean(false), "tiny": .integer(-128), "big": .integer(.max),
      "price": .text("1234567890123456.7891"), "real4": .double(0.1), "real8": .double(1.0e-200),
      "day": .text("2028-02-29"), "clock": .text("23:59:59.999"),
      "at": .text("2026-03-01T08:30:00.123456"), "stamp": .text("2026-03-29T02:30:00"),
      "raw": .bytes([0, 39, 92, 255]), "fixed": .bytes([1, 2, 3, 4]),
      "words": .text("😀 'quoted' \\ \u{0}"), "data": .text("{\"a\":1}"), "kind": .text("it's"),
      "marks": .text("p,q"), "y": .integer(2026),
    ]
    #expect(entity.attributes.map(\.column).filter { values[$0] == nil && $0 != "made" } == [])
    var row: [Int: AttributeValue] = [:]
    for (position, attribute) in entity.attributes.enumerated() {
      row[position] = values[attribute.column]
    }
    let key = ObjectKey(entity.key.compactMap { row[$0] })
    let create = ConnectorOperation(
      id: ItemStage.id(1), entity: entity, kind: .create, key: key, changed: row, base: [:])
    #expect(stage.isDone(connector.perform([create])))
    let wanted = entity.attributes.indices.map { row[$0] ?? .null }
    #expect(try connector.read(entity, keys: [key]).first?.values == wanted)
    var loaded: [[AttributeValue]?] = []
    _ = try connector.load(
      LoadScope(entities: [entity]), from: nil, each: { loaded += $0.rows.map(\.values) },
      rejected: { Issue.record("\($0)") })
    #expect(loaded == [wanted])
    let slice = try connector.slice(of: entity, after: nil, count: 1)
    #expect(slice?.rows.map(\.values) == [wanted])
    #expect(try connector.slice(of: entity, after: slice?.next, count: 1)?.rows == [])
  }

  @Test("A row that no model can take is named, and the load goes on")
  func unfit() throws {
    let stage = try ItemStage()
    try stage.other.execute("SET SESSION sql_mode = ''")
    try stage.other.execute("INSERT INTO item (id, at) VALUES (1, '0000-00-00'), (2, NULL)")
    var rejected: [RejectedRow] = []
    var rows: [ObjectKey] = []
    _ = try stage.connector.load(
      LoadScope(entities: [stage.item]), from: nil, each: { rows += $0.rows.map(\.key) },
      rejected: { rejected.append($0) })
    #expect(rows == [ObjectKey([.integer(2)])])
    #expect(rejected.map(\.attribute) == ["at"])
  }

  @Test(
    "Where a collation ignores case, a reference is its parent's key and a key is what is written")
  func collations() throws {
    let stage = try ItemStage()
    try stage.other.execute("INSERT INTO place VALUES ('KLOTEN', 'Zürich')")
    try stage.other.execute("INSERT INTO item (id, code) VALUES (1, 'kloten ')")
    let key = ObjectKey([.integer(1)])
    #expect(try stage.connector.read(stage.item, keys: [key]).first?.values?[4] == .text("KLOTEN"))
    let small = ObjectKey([.text("kloten")])
    #expect(try stage.connector.read(stage.place, keys: [small]).first?.values == nil)
    func change(_ number: Int64, _ kind: OperationKind) -> ConnectorOperation {
      ConnectorOperation(
        id: ItemStage.id(number), entity: stage.place, kind: kind, key: small,
        changed: kind == .create ? [0: .text("kloten")] : [1: .text("Bern")],
        base: kind == .create ? [:] : [1: .text("Zürich")])
    }
    #expect(stage.refusal(stage.connector.perform([change(1, .update)]))?.code == 404)
    let second = stage.refusal(stage.connector.perform([change(2, .create)]))
    #expect(second?.message == "There is a Place with code \"kloten\" already.")
    let based = ConnectorOperation(
      id: ItemStage.id(3), entity: stage.item, kind: .update, key: key, changed: [4: .null],
      base: [4: .text("KLOTEN")])
    #expect(stage.isDone(stage.connector.perform([based])))
  }

  @Test("What cannot be kept exactly is named before a server starts")
  func mismatches() throws {
    let stage = try ItemStage(
      [
        "CREATE TABLE place (code VARCHAR(10) PRIMARY KEY, city VARCHAR(20)) ENGINE = MyISAM",
        "CREATE TABLE item (id BIGINT, name VARCHAR(5), at DATE, price DECIMAL(8, 2), more INT NOT NULL)",
      ], isPrepared: false)
    let found = try stage.connector.mismatches(with: stage.package).map(\.problem)
    #expect(found.contains { $0.contains("MyISAM") })
    #expect(found.contains { $0.contains("no column code") })
    #expect(found.contains { $0.contains("date, which does not keep a dateTime") })
    #expect(found.contains { $0.contains("is not unique") })
    #expect(found.contains { $0.contains("item.more must have a value") })
  }

  @Test("Each right that a server lacks is named, and the rights that are granted are enough")
  func rights() throws {
    let stage = try ItemStage()
    let server = try MariaDBServer.shared.get()
    let user = "reader\(stage.address.database)"
    try stage.other.execute("CREATE USER \(user)@localhost")
    try stage.other.execute("GRANT SELECT ON item TO \(user)@localhost")
    try stage.other.execute("GRANT SELECT ON place TO \(user)@localhost")
    for name in ["ferry_applied", "ferry_leader"] {
      try stage.other.execute("GRANT ALL ON \(name) TO \(user)@localhost")
    }
    let address = try server.address(stage.address.database, user: user)
    let connector = MariaDBConnector(address, package: stage.package)
    let missing = try connector.mismatches(with: stage.package).map(\.problem)
    let wanted = ["item", "place"].flatMap { table in
      ["DELETE", "INSERT", "UPDATE"].map { "this user has no right \($0) on \(table)" }
    }
    #expect(missing == wanted)
    let preparation = try Preparation(stage.package, stage.other, role: "\(user)@localhost")
    for statement in preparation.statements { try stage.other.execute(statement) }
    #expect(try connector.mismatches(with: stage.package) == [])
    #expect(stage.isDone(connector.perform([stage.create(1)])))
    let cursor = try connector.changes(since: nil)
    #expect(cursor.cursor != nil)
    #expect(cursor.shortfall == nil)
  }

  @Test("An address has no password, and says which database it means")
  func addresses() throws {
    #expect(try MariaDBAddress("mariadb:shop").database == "shop")
    #expect(try MariaDBAddress("mysql:host=db dbname=shop user=f port=3307").database == "shop")
    #expect(try MariaDBAddress("mariadb://f@[::1]:3307/shop").database == "shop")
    for text in [
      "mariadb:", "mariadb:host=db", "mariadb://f:secret@db/shop", "mariadb:dbname=a password=b",
      "mariadb:dbname=a port=x", "mariadb://db", "postgres:shop", "mariadb:dbname=a colour=b",
    ] {
      let error = #expect(throws: MariaDBError.self, "\(text)") { try MariaDBAddress(text) }
      #expect(error?.description.contains("secret@") == false)
    }
  }
}
