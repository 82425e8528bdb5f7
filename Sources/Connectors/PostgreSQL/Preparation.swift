public import FerryModel
public import FerryPostgreSQL

/// What Ferry needs in a business database, as statements: its table of operations, and triggers
/// that note which rows change. All of it is in the schema `ferry`, but for the triggers.
public struct Preparation: Sendable {
  private struct Prepared: Sendable {
    let table: CatalogueTable
    /// Its partitions, on every level: TRUNCATE of one is told by a trigger of its own.
    let partitions: [TableName]
  }

  private let tables: [Prepared]

  /// For the tables of the package that are there. In no transaction.
  public init(
    _ package: Package, _ connection: PostgreSQLConnection
  ) throws(PostgreSQLError) {
    try connection.execute("BEGIN READ ONLY; \(CatalogueReader.settings)")
    var tables: [Prepared] = []
    var seen: Set<String> = []
    for entity in package.served.entities where !entity.isOperation {
      guard let name = TableName(entity.table),
        let table = try CatalogueReader(connection).table(name), seen.insert(table.oid).inserted
      else { continue }
      tables.append(
        Prepared(table: table, partitions: try Preparation.partitions(table, connection)))
    }
    try connection.execute("COMMIT")
    self.tables = tables
  }

  /// Makes what is not there yet; may be run again.
  public var statements: [String] {
    AppliedOperations.create + Preparation.changes + tables.flatMap(triggers)
  }

  /// Takes everything away.
  public var removal: [String] {
    tables.flatMap { prepared in
      ["DROP TRIGGER IF EXISTS ferry_row ON \(prepared.table.name.quoted)"]
        + ([prepared.table.name] + prepared.partitions).map {
          "DROP TRIGGER IF EXISTS ferry_truncate ON \($0.quoted)"
        }
    } + ["DROP SCHEMA IF EXISTS ferry CASCADE"]
  }

  private static let changes: [String] = [
    """
    CREATE TABLE IF NOT EXISTS ferry.change (
      id bigint GENERATED ALWAYS AS IDENTITY,
      xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
      at timestamptz NOT NULL DEFAULT clock_timestamp(),
      relation oid NOT NULL, old_key text[], new_key text[])
    """,
    "CREATE INDEX IF NOT EXISTS change_xid ON ferry.change (xid)",
    """
    CREATE TABLE IF NOT EXISTS ferry.floor (
      one boolean PRIMARY KEY DEFAULT true CHECK (one), xid xid8 NOT NULL)
    """,
    "INSERT INTO ferry.floor (xid) VALUES ('0') ON CONFLICT DO NOTHING",
  ]

  /// The function looks for its table before it writes: where somebody dropped that, the customer's
  /// own writes go on.
  private func triggers(_ prepared: Prepared) -> [String] {
    let table = prepared.table
    let name = "ferry.capture_\(table.oid)"
    let insert = "INSERT INTO ferry.change (relation, old_key, new_key) VALUES (\(table.oid), "
    let old = key(table, "OLD")
    let new = key(table, "NEW")
    return [
      """
      CREATE OR REPLACE FUNCTION \(name)() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
      SET search_path = '' SET datestyle = 'ISO' AS $ferry$
      BEGIN
        IF pg_catalog.to_regclass('ferry.change') IS NULL THEN RETURN NULL; END IF;
        IF TG_OP = 'INSERT' THEN
          \(insert)NULL, \(new));
        ELSIF TG_OP = 'UPDATE' THEN
          \(insert)\(old), \(new));
        ELSIF TG_OP = 'DELETE' THEN
          \(insert)\(old), NULL);
        ELSE
          \(insert)NULL, NULL);
        END IF;
        RETURN NULL;
      END $ferry$
      """,
      "DROP TRIGGER IF EXISTS ferry_row ON \(table.name.quoted)",
      """
      CREATE TRIGGER ferry_row AFTER INSERT OR UPDATE OR DELETE ON \(table.name.quoted)
      FOR EACH ROW EXECUTE FUNCTION \(name)()
      """,
    ]
      + ([table.name] + prepared.partitions).flatMap { part in
        [
          "ALTER TABLE ONLY \(part.quoted) ENABLE ALWAYS TRIGGER ferry_row",
          "DROP TRIGGER IF EXISTS ferry_truncate ON \(part.quoted)",
          """
          CREATE TRIGGER ferry_truncate AFTER TRUNCATE ON \(part.quoted)
          FOR EACH STATEMENT EXECUTE FUNCTION \(name)()
          """,
          "ALTER TABLE ONLY \(part.quoted) ENABLE ALWAYS TRIGGER ferry_truncate",
        ]
      }
  }

  private static func partitions(
    _ table: CatalogueTable, _ connection: PostgreSQLConnection
  ) throws(PostgreSQLError) -> [TableName] {
    guard table.kind == .partitioned else { return [] }
    let rows = try connection.rows(
      """
      SELECT n.nspname, c.relname FROM pg_catalog.pg_partition_tree($1::pg_catalog.oid) AS t
      JOIN pg_catalog.pg_class AS c ON c.oid = t.relid
      JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
      WHERE t.level > 0 ORDER BY t.level, c.oid
      """, [.text(table.oid)])
    return rows.texts.map { TableName(schema: $0[0] ?? "", name: $0[1] ?? "") }
  }

  /// The primary key in the texts that `ColumnForm` reads.
  private func key(_ table: CatalogueTable, _ row: String) -> String {
    guard !table.primaryKey.isEmpty else { return "NULL" }
    let parts = table.primaryKey.map { name in
      let value = "\(row).\(quotedName(name))"
      return table.column(named: name)?.typeName == "timestamptz"
        ? "(\(value) AT TIME ZONE 'UTC')::pg_catalog.text" : "\(value)::pg_catalog.text"
    }
    return "ARRAY[\(parts.joined(separator: ", "))]"
  }
}
