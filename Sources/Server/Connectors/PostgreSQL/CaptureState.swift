import FerryJSON
import FerryModel
import FerryPostgreSQL

/// What the catalogue says of the tables that are served and of their triggers.
struct CaptureState {
  struct Table {
    /// Of all that a change without an entry would alter: table, partitions, their files, triggers.
    let digest: String
    /// Of the columns and the primary key.
    let shape: String
    /// Why changes of the table may be missing among the entries; nil where none is.
    let trouble: String?
  }

  /// The cluster, its timeline, the database and the table of entries; nil where there is no such
  /// table.
  let identity: String?
  /// By oid.
  let tables: [String: Table]

  init(_ oids: [String], _ connection: PostgreSQLConnection) throws(PostgreSQLError) {
    let answers = try connection.pipeline([
      PostgreSQLConnection.Request(CaptureState.identitySQL),
      PostgreSQLConnection.Request(
        CaptureState.tablesSQL, [.text("{\(oids.joined(separator: ","))}")]),
    ])
    let (found, rows) = (answers[0], answers[1])
    guard found.text(0, 1) == "f" else {
      throw PostgreSQLError(
        .server, sqlState: "25006", message: "the server is a standby, which may have changes late")
    }
    identity = found.text(0, 0)
    var tables: [String: Table] = [:]
    for row in rows.texts {
      let arguments = CaptureState.arguments(row[4])
      var trouble: String?
      if arguments == nil {
        trouble = "has no triggers of Ferry"
      } else if row[2] != "t" {
        trouble = "has a partition or a trigger that is new, missing or disabled"
      } else if arguments != CaptureTriggers.arguments(CaptureState.texts(row[5])) {
        trouble = "has triggers that were made for another key or by another version"
      }
      tables[row[0] ?? ""] = Table(
        digest: String((row[1] ?? "").prefix(16)), shape: "\(row[3] ?? "") \(row[5] ?? "")",
        trouble: trouble)
    }
    self.tables = tables
  }

  /// The arguments of a trigger: each ends with a zero byte.
  private static func arguments(_ hex: String?) -> [String]? {
    guard let hex, let bytes = ColumnForm.bytes(hex) else { return nil }
    return bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast()
      .map { String(decoding: $0, as: UTF8.self) }
  }

  private static func texts(_ json: String?) -> [String] {
    guard let json, let node = try? JSONNode.parse(Array(json.utf8)) else { return [] }
    return (node.array ?? []).compactMap(\.string)
  }

  private static let identitySQL: String = """
    SELECT (SELECT system_identifier FROM pg_catalog.pg_control_system()) || '.'
      || CASE WHEN NOT pg_catalog.pg_is_in_recovery() THEN pg_catalog.substr(
        pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8) END || '.'
      || (SELECT d.oid FROM pg_catalog.pg_database AS d
        WHERE d.datname = pg_catalog.current_database()) || '.'
      || pg_catalog.to_regclass('ferry.change')::pg_catalog.oid || '.'
      || pg_catalog.to_regclass('ferry.mark')::pg_catalog.oid,
      pg_catalog.pg_is_in_recovery()
    """

  /// The `xmin` of a trigger shows that it was disabled and enabled meanwhile.
  private static let tablesSQL: String = """
    WITH root AS (
      SELECT r.oid FROM pg_catalog.unnest($1::pg_catalog.oid[]) AS r (oid)),
    part AS (
      SELECT root.oid AS root, root.oid FROM root UNION
      SELECT root.oid, t.relid::pg_catalog.oid FROM root
      CROSS JOIN LATERAL pg_catalog.pg_partition_tree(root.oid) AS t),
    state AS (
      SELECT part.root, part.oid, c.relfilenode,
        (SELECT pg_catalog.string_agg(pg_catalog.concat_ws('.', g.oid, g.xmin, g.tgenabled), ' '
          ORDER BY g.oid) FROM pg_catalog.pg_trigger AS g
          WHERE g.tgrelid = part.oid AND g.tgname IN ('ferry_row', 'ferry_truncate')) AS triggers,
        (SELECT count(*) FROM pg_catalog.pg_trigger AS g WHERE g.tgrelid = part.oid
          AND g.tgname IN ('ferry_row', 'ferry_truncate') AND g.tgenabled = 'A') AS enabled
      FROM part JOIN pg_catalog.pg_class AS c ON c.oid = part.oid)
    SELECT state.root,
      pg_catalog.md5(pg_catalog.string_agg(pg_catalog.concat_ws(
        ' ', state.oid, state.relfilenode, state.triggers), ',' ORDER BY state.oid)),
      pg_catalog.bool_and(state.enabled = 2),
      \(EntityTables.shape(of: "state.root")),
      (SELECT g.tgargs FROM pg_catalog.pg_trigger AS g
        WHERE g.tgrelid = state.root AND g.tgname = 'ferry_row'),
      (SELECT pg_catalog.array_to_json(pg_catalog.array_agg(
        a.atttypid || ':' || a.attname ORDER BY k.place))
        FROM pg_catalog.pg_index AS i
        CROSS JOIN LATERAL pg_catalog.unnest(i.indkey::pg_catalog.int2[])
          WITH ORDINALITY AS k (number, place)
        JOIN pg_catalog.pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.number
        WHERE i.indrelid = state.root AND i.indisprimary AND k.place <= i.indnkeyatts)
    FROM state GROUP BY state.root
    """
}
