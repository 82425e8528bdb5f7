import FerryConnector
import FerryModel
import FerryPostgreSQL

/// What Ferry needs in a business database, as statements: its table of operations, and triggers
/// that note which rows change. All of it is in the schema `ferry`, but for the triggers.
package struct Preparation: Sendable {
  /// How much of it is made.
  package enum Level: Sendable {
    /// The tables of operations, and triggers.
    case all
    /// The tables of operations alone: changes of others are found by comparison.
    case operations
  }

  /// Where the package does not fit the database: a server would not start with both.
  package let mismatches: [String]
  private let level: Level
  private let triggers: [CaptureTriggers]
  private let rights: RequiredRights
  private let role: String?

  /// For the tables of the package that are there. In no transaction. `role`: who gets the rights
  /// that a server needs, where that is not who makes the statements.
  package init(
    _ package: Package, _ connection: PostgreSQLConnection, level: Level = .all,
    role: String? = nil
  ) throws(PostgreSQLError) {
    try connection.execute("BEGIN READ ONLY; \(CatalogueReader.settings)")
    let reader = CatalogueReader(connection)
    var triggers: [CaptureTriggers] = []
    var seen: Set<String> = []
    for entity in package.served.entities where !entity.isOperation {
      guard let name = TableName(entity.table), let table = try reader.table(name),
        seen.insert(table.oid).inserted
      else { continue }
      triggers.append(try CaptureTriggers(table, connection))
    }
    rights = try RequiredRights(package, connection, captures: level == .all)
    mismatches = try SchemaComparison(connection).mismatches(with: package.served).map(
      \.description)
    try connection.execute("COMMIT")
    self.triggers = triggers
    self.level = level
    self.role = role
  }

  /// Whether a server is connected to the database; in no transaction. One that was just stopped
  /// has a moment to end.
  package static func isServed(_ connection: PostgreSQLConnection) throws(PostgreSQLError) -> Bool {
    for _ in 0..<20 {
      let found = try connection.value(
        """
        SELECT count(*) FROM pg_catalog.pg_stat_activity
        WHERE datname = pg_catalog.current_database() AND application_name LIKE 'ferryd%'
        """)
      if found == "0" { return false }
      try connection.execute("SELECT pg_catalog.pg_sleep(0.1)")
    }
    return true
  }

  /// Makes what is not there yet; may be run again.
  package var statements: [String] {
    var statements = AppliedOperations.create
    if level == .all { statements += Preparation.changes + triggers.flatMap(\.statements) }
    if let role { statements += rights.grants(to: role) }
    return statements
  }

  /// Takes everything away.
  package var removal: [String] {
    triggers.flatMap(\.removal) + ["DROP SCHEMA IF EXISTS ferry CASCADE"]
  }

  /// The numbers are no part of the table: a transaction holds their lock even behind a savepoint that
  /// was rolled back, and would wait for the table while DROP TABLE waits for the numbers.
  private static let changes: [String] = [
    "CREATE SEQUENCE IF NOT EXISTS ferry.change_number",
    """
    CREATE TABLE IF NOT EXISTS ferry.change (
      id bigint NOT NULL DEFAULT nextval('ferry.change_number'),
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
    """
    CREATE TABLE IF NOT EXISTS ferry.mark (
      consumer text PRIMARY KEY, epoch text NOT NULL, number bigint NOT NULL,
      at timestamptz NOT NULL DEFAULT now())
    """,
  ]
}

/// The triggers of one table, which write the primary key of each row that changes.
struct CaptureTriggers: Sendable {
  /// Of the function that is written here: another one is made anew by `ferry prepare`.
  static let version: String = "3"

  private let table: CatalogueTable
  /// Its partitions, on every level: TRUNCATE of one needs a trigger of its own.
  private let partitions: [TableName]
  /// Names and types of the primary key's columns.
  private let key: [KeyColumn]

  struct KeyColumn: Sendable {
    let name: String
    let type: String

    /// As the trigger is given it, so that a key which changed later is seen.
    var text: String { "\(type):\(name)" }
  }

  /// To be called in a transaction whose `search_path` is empty.
  init(_ table: CatalogueTable, _ connection: PostgreSQLConnection) throws(PostgreSQLError) {
    self.table = table
    partitions = try CaptureTriggers.partitions(table, connection)
    let types = try connection.rows(
      """
      SELECT attname, atttypid FROM pg_catalog.pg_attribute
      WHERE attrelid = $1::pg_catalog.oid AND attnum > 0 AND NOT attisdropped
      """, [.text(table.oid)])
    var byName: [String: String] = [:]
    for row in types.texts { byName[row[0] ?? ""] = row[1] ?? "" }
    key = table.primaryKey.map { KeyColumn(name: $0, type: byName[$0] ?? "0") }
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

  /// What a trigger of this version and this key is given.
  static func arguments(_ key: [String]) -> [String] { [version] + key }

  var statements: [String] {
    let given = CaptureTriggers.arguments(key.map(\.text)).map(quotedText).joined(separator: ", ")
    let call = "EXECUTE FUNCTION \(function)(\(given))"
    return [
      body,
      "DROP TRIGGER IF EXISTS ferry_row ON \(table.name.quoted)",
      """
      CREATE TRIGGER ferry_row AFTER INSERT OR UPDATE OR DELETE ON \(table.name.quoted)
      FOR EACH ROW \(call)
      """,
    ]
      + ([table.name] + partitions).flatMap { part in
        [
          "ALTER TABLE ONLY \(part.quoted) ENABLE ALWAYS TRIGGER ferry_row",
          "DROP TRIGGER IF EXISTS ferry_truncate ON \(part.quoted)",
          """
          CREATE TRIGGER ferry_truncate AFTER TRUNCATE ON \(part.quoted)
          FOR EACH STATEMENT \(call)
          """,
          "ALTER TABLE ONLY \(part.quoted) ENABLE ALWAYS TRIGGER ferry_truncate",
        ]
      }
  }

  var removal: [String] {
    ["DROP TRIGGER IF EXISTS ferry_row ON \(table.name.quoted)"]
      + ([table.name] + partitions).map { "DROP TRIGGER IF EXISTS ferry_truncate ON \($0.quoted)" }
  }

  private var function: String { "ferry.capture_\(table.oid)" }

  /// The function looks for its table and for the key's columns before it writes. Where somebody
  /// dropped, renamed or retyped one of them the customer's own writes go on, and the entry says
  /// that any row may have changed. (A cached plan fails on a column of another type; a handler of
  /// errors around each entry would cost a subtransaction for each row.)
  ///
  /// The first entry of a transaction locks the table of entries until its end, so that nobody drops
  /// it between the look and a write. Who waits for the lock behind DROP TABLE finds no table then:
  /// that is caught once in a transaction. A savepoint that is rolled back gives back the lock and
  /// forgets the setting with it.
  private var body: String {
    let insert = "INSERT INTO ferry.change (relation, old_key, new_key) VALUES (\(table.oid), "
    let text = """
      BEGIN
        IF pg_catalog.current_setting('ferry.notes', true) IS DISTINCT FROM 'yes' THEN
          IF pg_catalog.to_regclass('ferry.change') IS NULL THEN RETURN NULL; END IF;
          BEGIN
            LOCK TABLE ferry.change IN ROW EXCLUSIVE MODE;
            PERFORM pg_catalog.set_config('ferry.notes', 'yes', true);
          EXCEPTION WHEN undefined_table OR invalid_schema_name THEN RETURN NULL;
          END;
        END IF;
        IF TG_OP = 'TRUNCATE' OR NOT \(isKeyThere) THEN
          \(insert)NULL, NULL);
        ELSIF TG_OP = 'INSERT' THEN
          \(insert)NULL, \(values("NEW")));
        ELSIF TG_OP = 'UPDATE' THEN
          \(insert)\(values("OLD")), \(values("NEW")));
        ELSE
          \(insert)\(values("OLD")), NULL);
        END IF;
        RETURN NULL;
      END
      """
    let quote = CaptureTriggers.dollarQuote(text)
    return """
      CREATE OR REPLACE FUNCTION \(function)() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
      SET search_path = ''\(forms) AS \(quote)
      \(text) \(quote)
      """
  }

  /// A mark that is not in the text: names of columns are in it, and one could end the quotes.
  static func dollarQuote(_ text: String) -> String {
    // In bytes: before a combining mark a dollar is no `Character`.
    let bytes = Array(text.utf8)
    var number = 0
    while true {
      let mark = number == 0 ? "$ferry$" : "$ferry\(number)$"
      let sought = Array(mark.utf8)
      if !bytes.indices.contains(where: { bytes[$0...].starts(with: sought) }) { return mark }
      number += 1
    }
  }

  /// In a partition the columns may have other places.
  private var isKeyThere: String {
    guard !key.isEmpty else { return "false" }
    let columns = key.map { "attname = \(quotedText($0.name)) AND atttypid = \($0.type)" }
    let found =
      "FROM pg_catalog.pg_attribute WHERE attrelid = TG_RELID AND (\(columns.joined(separator: " OR ")))"
    return key.count == 1 ? "EXISTS (SELECT \(found))" : "(SELECT count(*) = \(key.count) \(found))"
  }

  /// The primary key in the texts that `ColumnForm` reads.
  private func values(_ row: String) -> String {
    guard !key.isEmpty else { return "NULL" }
    let parts = key.map { column in
      let value = "\(row).\(quotedName(column.name))"
      return table.column(named: column.name)?.typeName == "timestamptz"
        ? "(\(value) AT TIME ZONE 'UTC')::pg_catalog.text" : "\(value)::pg_catalog.text"
    }
    return "ARRAY[\(parts.joined(separator: ", "))]"
  }

  /// Settings on which the texts of the key's types depend. Each costs something for each row.
  private var forms: String {
    let types = Set(key.compactMap { table.column(named: $0.name)?.typeName })
    var forms = ""
    if !types.isDisjoint(with: ["date", "timestamp", "timestamptz"]) {
      forms += " SET datestyle = 'ISO'"
    }
    if types.contains("bytea") { forms += " SET bytea_output = 'hex'" }
    if !types.isDisjoint(with: ["float4", "float8"]) { forms += " SET extra_float_digits = 1" }
    return forms
  }
}
