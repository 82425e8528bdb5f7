public import FerryModel
public import FerryPostgreSQL

/// What Ferry needs in a business database, as statements: its table of operations, and triggers
/// that note which rows change. All of it is in the schema `ferry`, but for the triggers.
public struct Preparation: Sendable {
  private let tables: [CatalogueTable]

  /// For the tables of the package that are there. In no transaction.
  public init(
    _ package: Package, _ connection: PostgreSQLConnection
  ) throws(PostgreSQLError) {
    try connection.execute("BEGIN READ ONLY; \(CatalogueReader.settings)")
    var tables: [CatalogueTable] = []
    var seen: Set<String> = []
    for entity in package.served.entities where !entity.isOperation {
      guard let name = TableName(entity.table),
        let table = try CatalogueReader(connection).table(name), seen.insert(table.oid).inserted
      else { continue }
      tables.append(table)
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
    tables.flatMap { table in
      ["ferry_row", "ferry_truncate"].map {
        "DROP TRIGGER IF EXISTS \($0) ON \(table.name.quoted)"
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
  ]

  /// The function looks for its table before it writes: where somebody dropped that, the customer's
  /// own writes go on.
  private func triggers(_ table: CatalogueTable) -> [String] {
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
      "ALTER TABLE \(table.name.quoted) ENABLE ALWAYS TRIGGER ferry_row",
      "DROP TRIGGER IF EXISTS ferry_truncate ON \(table.name.quoted)",
      """
      CREATE TRIGGER ferry_truncate AFTER TRUNCATE ON \(table.name.quoted)
      FOR EACH STATEMENT EXECUTE FUNCTION \(name)()
      """,
      "ALTER TABLE \(table.name.quoted) ENABLE ALWAYS TRIGGER ferry_truncate",
    ]
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
