import FerryConnector
import FerryGenerator
import FerryModel
import FerryPostgreSQL
import FerryPostgreSQLConnector
import FerryPostgreSQLReading
import FerrySQLite
import Foundation
import Testing

@Suite("A database of PostgreSQL goes round: model, load, changes and back")
struct RoundTripTests {
  private struct Trip {
    let other: PostgreSQLConnection
    let package: Package
    let connector: PostgreSQLConnector
    private var number: Int64 = 0

    init(_ address: PostgreSQLAddress) throws {
      other = try PostgreSQLConnection(address)
      let options = TranslationOptions(name: "Trip", writable: .all)
      let made = try ModelMaker.make(
        from: try PostgreSQLSchema.read(address), options: options, file: "model.json",
        source: address.text)
      package = made.translation.package
      connector = PostgreSQLConnector(address, package: package)
      for statement in try Preparation(package, other).statements { try other.execute(statement) }
      #expect(try connector.mismatches(with: package) == [])
    }

    func entity(_ table: String) throws -> Entity {
      try #require(package.entities.first { $0.table == table })
    }

    func load() throws -> [String: [RowImage]] {
      var rows: [String: [RowImage]] = [:]
      _ = try connector.load(
        LoadScope(entities: package.entities), from: nil,
        each: { rows[$0.entity.name, default: []] += $0.rows },
        rejected: { Issue.record("\($0)") })
      return rows
    }

    mutating func perform(
      _ kind: OperationKind, _ entity: Entity, _ key: ObjectKey?,
      _ changed: [String: AttributeValue] = [:],
      base: [String: AttributeValue] = [:]
    ) -> (outcome: OperationOutcome?, touched: [RowImage]) {
      number += 1
      let digits = String(number)
      func positions(_ values: [String: AttributeValue]) -> [Int: AttributeValue] {
        Dictionary(
          uniqueKeysWithValues: values.compactMap { name, value in
            entity.attributes.firstIndex { $0.column == name }.map { ($0, value) }
          })
      }
      let operation = ConnectorOperation(
        id: OperationID(String(repeating: "0", count: 32 - digits.count) + digits)!,
        entity: entity, kind: kind, key: key, changed: positions(changed), base: positions(base))
      guard case .done(let outcomes, let touched) = connector.perform([operation]) else {
        return (nil, [])
      }
      return (outcomes.first, touched)
    }
  }

  @Test("Northwind: every row of every table, a key that the database gives, refusals, a cascade")
  func northwind() throws {
    let address = try Cluster.database()
    let counts = try Northwind.write(to: address)
    var trip = try Trip(address)
    let loaded = try trip.load()
    for entity in trip.package.entities {
      #expect(loaded[entity.name]?.count ?? 0 == counts[entity.table], "\(entity.table)")
    }
    let orders = try trip.entity("Orders")
    let last = try trip.other.rows(#"SELECT max("OrderID") FROM "Orders""#).row(0)[0]
    let next = try #require(last.flatMap { Int64($0) }) + 1
    let cursor = try trip.connector.changes(since: nil).cursor
    let made = trip.perform(
      .create, orders, nil, ["CustomerID": .text("ALFKI"), "ShipCity": .text("Zürich")])
    guard case .accepted(let key, _)? = made.outcome else {
      Issue.record("\(String(describing: made.outcome))")
      return
    }
    #expect(key == ObjectKey([.integer(next)]))
    let update = trip.perform(
      .update, orders, key, ["ShipCity": .text("Bern")], base: ["ShipCity": .text("Genf")])
    guard case .refused(let conflict)? = update.outcome else {
      Issue.record("a change that was based on another value was made")
      return
    }
    #expect(conflict.code == 412)
    let orphan = trip.perform(.create, orders, nil, ["CustomerID": .text("NOONE")])
    guard case .refused(let refusal)? = orphan.outcome else {
      Issue.record("a reference to nobody was taken")
      return
    }
    #expect(
      refusal.message == #"customerID "NOONE" does not exist in Customers."#, "\(refusal.message)")
    let customers = try trip.entity("Customers")
    guard
      case .refused(let needed)? = trip.perform(.delete, customers, ObjectKey([.text("ALFKI")]))
        .outcome
    else {
      Issue.record("a customer with orders was deleted")
      return
    }
    #expect(needed.message.contains("still needed"))
    try trip.other.execute(
      "UPDATE \"Orders\" SET \"ShipCity\" = 'Chur' WHERE \"OrderID\" = \(next)")
    #expect(
      try trip.connector.changes(since: cursor).hints
        == [.objects(entity: orders.name, keys: [key])])
    let city = orders.attributes.firstIndex { $0.column == "ShipCity" } ?? 0
    #expect(
      try trip.connector.read(orders, keys: [key]).first?.values?[city] == .text("Chur"))
  }

  @Test("A schema made awkward on purpose: names, cases, types and keys are all kept as they are")
  func awkward() throws {
    let address = try Cluster.database()
    try PostgreSQLConnection(address).execute(
      #"""
      CREATE TYPE "Ampel" AS ENUM ('rot', 'grün');
      CREATE DOMAIN cents AS numeric(12, 2) CHECK (VALUE >= 0);
      CREATE SCHEMA "Ö"; CREATE SCHEMA "select";
      CREATE TABLE "Order" ("ID" bigserial PRIMARY KEY, "a.b" text, "say ""it""" text, "$1" int);
      CREATE TABLE "order" (id text PRIMARY KEY, "ID" int);
      CREATE TABLE "Ö"."x.y" (key uuid DEFAULT gen_random_uuid() PRIMARY KEY,
        "Order" bigint REFERENCES "Order", "order" text REFERENCES "order",
        light "Ampel" NOT NULL DEFAULT 'rot', price cents, at timestamptz, day date, hour time,
        body jsonb, raw bytea, flag bool, ratio float8, big numeric,
        twice numeric GENERATED ALWAYS AS (price * 2) STORED);
      CREATE TABLE "select"."from" ("where" date, "group" int, "having" char(3),
        PRIMARY KEY ("where", "group")) PARTITION BY RANGE ("where");
      CREATE TABLE "select".old PARTITION OF "select"."from"
        FOR VALUES FROM (MINVALUE) TO ('2026-01-01');
      CREATE TABLE "select".new PARTITION OF "select"."from"
        FOR VALUES FROM ('2026-01-01') TO (MAXVALUE);
      INSERT INTO "Order" ("a.b", "say ""it""", "$1") VALUES ('Ö', E'\\t\\n', 7);
      INSERT INTO "order" VALUES ('small'), ('SMALL');
      """#)
    var trip = try Trip(address)
    let tables: Set<String> = ["Order", "order", #"Ö."x.y""#, "select.from"]
    #expect(Set(trip.package.entities.map(\.table)) == tables)
    let thing = try trip.entity(#"Ö."x.y""#)
    // "Order" and "order" are two tables, and each reference leads to its own.
    let targets = Dictionary(
      uniqueKeysWithValues: thing.relationships.map { relationship in
        (
          thing.attributes[thing.position(of: relationship.attributes[0]) ?? 0].column,
          trip.package.entity(named: relationship.target)?.table
        )
      })
    #expect(targets == ["Order": "Order", "order": "order"])

    let cursor = try trip.connector.changes(since: nil).cursor
    let key = ObjectKey([.text("123e4567-e89b-12d3-a456-426614174000")])
    let values: [String: AttributeValue] = [
      "Order": .integer(1), "order": .text("SMALL"), "light": .text("grün"),
      "price": .text("12.5"), "at": .text("2026-03-29T01:30:00"), "day": .text("2024-02-29"),
      "hour": .text("23:59:59.5"), "body": .text(#"{"a": [1, null, "Ö"]}"#),
      "raw": .bytes([0, 255, 92]), "flag": .boolean(false), "ratio": .double(0.1),
      "big": .text("123456789012345678901234567890.5"),
    ]
    let made = trip.perform(.create, thing, key, values)
    #expect(made.outcome == .accepted(key: key))
    let image = try #require(try trip.connector.read(thing, keys: [key]).first?.values)
    for (column, value) in values {
      let position = try #require(thing.attributes.firstIndex { $0.column == column })
      #expect(image[position] == value, "\(column)")
    }
    #expect(try trip.load()[thing.name]?.first?.values == image)

    // A key of two columns, moved from one partition to the other by somebody else.
    let from = try trip.entity("select.from")
    let old = ObjectKey([.text("2025-12-31"), .integer(1)])
    #expect(
      trip.perform(.create, from, old, ["having": .text("a")]).outcome == .accepted(key: old))
    try trip.other.execute("UPDATE \"select\".\"from\" SET \"where\" = '2026-05-01'")
    let hints = try trip.connector.changes(since: cursor).hints
    #expect(
      hints == [
        .objects(entity: from.name, keys: [old, ObjectKey([.text("2026-05-01"), .integer(1)])])
      ])
    let order = try trip.entity("Order")
    let named = trip.perform(
      .update, order, ObjectKey([.integer(1)]),
      ["say \"it\"": .text("'; DROP TABLE \"Order\"; --")],
      base: ["say \"it\"": .text(#"\t\n"#)])
    #expect(named.outcome == .accepted(key: ObjectKey([.integer(1)])))
    #expect(trip.perform(.delete, thing, key).outcome == .accepted(key: key))
  }
}

/// Northwind where it lies beside the checkout, else its shape with a few rows, written into
/// PostgreSQL.
enum Northwind {
  private static let types: [String: String] = [
    "INTEGER": "bigint", "DATETIME": "timestamp", "DATE": "date", "NUMERIC": "numeric",
    "REAL": "double precision", "BLOB": "bytea",
  ]

  /// The number of rows by table.
  static func write(to address: PostgreSQLAddress) throws -> [String: Int] {
    let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let real = "\(root)/../shared/data/northwind/northwind.sql"
    let shape = "\(root)/Tests/Fixtures/northwind-shape.sql"
    let isReal = FileManager.default.isReadableFile(atPath: real)
    if !isReal { print("Northwind is not beside the checkout: its shape stands in for it.") }
    let source = try Connection(path: ":memory:")
    try source.execute(String(contentsOfFile: isReal ? real : shape, encoding: .utf8))
    let target = try PostgreSQLConnection(address)
    var counts: [String: Int] = [:]
    let tables = try source.rows(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' "
        + "AND name NOT LIKE 'sqlite%' ORDER BY name")
    var foreign: [String] = []
    for table in tables.compactMap({ $0[0].text }) {
      counts[table] = try copy(table, source, target, &foreign)
    }
    for statement in foreign { try target.execute(statement) }
    return counts
  }

  private static func copy(
    _ table: String, _ source: Connection, _ target: PostgreSQLConnection,
    _ foreign: inout [String]
  ) throws -> Int {
    let columns = try source.rows(
      "SELECT name, type, pk, \"notnull\" FROM pragma_table_info(?) ORDER BY cid", .text(table))
    let keys = columns.filter { $0[2].integer != 0 }
      .sorted { $0[2].integer ?? 0 < $1[2].integer ?? 0 }.map { quotedName($0[0].text ?? "") }
    let declared = columns.map { column in
      let type = types[column[1].text?.uppercased() ?? ""] ?? "text"
      let isCounted = keys == [quotedName(column[0].text ?? "")] && type == "bigint"
      return "\(quotedName(column[0].text ?? "")) \(type)"
        + (isCounted ? " GENERATED BY DEFAULT AS IDENTITY" : "")
        + (column[3].integer == 1 ? " NOT NULL" : "")
    }
    try target.execute(
      "CREATE TABLE \(quotedName(table)) (\((declared + ["PRIMARY KEY (\(keys.joined(separator: ", ")))"]).joined(separator: ", ")))"
    )
    let marks = columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
    let rows = try source.rows("SELECT * FROM \(quoted(table))")
    var rest = rows[...]
    while !rest.isEmpty {
      try target.pipeline(
        rest.prefix(200).map { row in
          PostgreSQLConnection.Request(
            "INSERT INTO \(quotedName(table)) VALUES (\(marks))", row.map(value))
        })
      rest = rest.dropFirst(200)
    }
    if keys.count == 1, declared.contains(where: { $0.contains("IDENTITY") }) {
      try target.execute(
        "SELECT setval(pg_get_serial_sequence('\(quotedName(table))', "
          + "\(FerryPostgreSQL.quotedText(keys[0].filter { $0 != "\"" }))), max(\(keys[0]))) FROM \(quotedName(table))"
      )
    }
    let references = try source.rows(
      "SELECT \"from\", \"table\", \"to\" FROM pragma_foreign_key_list(?)", .text(table))
    for reference in references {
      let to = reference[2].text.map { " (\(quotedName($0)))" } ?? ""
      foreign.append(
        "ALTER TABLE \(quotedName(table)) ADD FOREIGN KEY (\(quotedName(reference[0].text ?? ""))) "
          + "REFERENCES \(quotedName(reference[1].text ?? ""))\(to)")
    }
    return rows.count
  }

  private static func value(_ value: SQLiteValue) -> PostgreSQLValue {
    switch value {
    case .null: .null
    case .integer(let number): .text(String(number))
    case .real(let number): .text(number.description)
    case .text(let text): .text(text)
    case .blob(let bytes): .bytes(bytes)
    }
  }
}
