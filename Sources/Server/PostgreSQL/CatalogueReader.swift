/// Reads tables from the catalogue of the connection's database. Names resolve to the catalogue's own
/// only inside a transaction whose `search_path` is empty; the caller begins one.
package struct CatalogueReader {
  private let connection: PostgreSQLConnection

  package init(_ connection: PostgreSQLConnection) { self.connection = connection }

  /// What a transaction that reads begins with: nothing of the session's settings is left in it.
  package static let settings: String = """
    SET LOCAL search_path = ''; SET LOCAL datestyle = 'ISO'; SET LOCAL intervalstyle = 'postgres'; \
    SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1
    """

  /// Tables and views of the schemas that are not the system's nor Ferry's, by schema and name.
  /// Partitions are left out: their root stands for them.
  package func names() throws(PostgreSQLError) -> [TableName] {
    let rows = try connection.rows(
      """
      SELECT n.nspname, c.relname FROM pg_catalog.pg_class c
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
        AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_' AND n.nspname <> 'ferry'
        AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d
          WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objid = c.oid
            AND d.deptype = 'e')
      ORDER BY n.nspname = 'public' DESC, n.nspname COLLATE "C", c.relname COLLATE "C"
      """)
    return rows.texts.map { TableName(schema: $0[0] ?? "", name: $0[1] ?? "") }
  }

  /// Nil where there is no such table that this user may see.
  package func table(_ name: TableName) throws(PostgreSQLError) -> CatalogueTable? {
    let found = try connection.rows(
      """
      SELECT c.oid, c.relkind, pg_catalog.obj_description(c.oid, 'pg_class')
      FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
      """, [.text(name.schema), .text(name.name)])
    guard found.count == 1, let oid = found.text(0, 0) else { return nil }
    let (unique, primary) = try keys(oid)
    let (foreign, checks) = try constraints(oid)
    return CatalogueTable(
      oid: oid, name: name, kind: CatalogueReader.kind(found.text(0, 1)),
      comment: found.text(0, 2), columns: try columns(oid), primaryKey: primary,
      uniqueKeys: unique, foreignKeys: foreign, checks: checks, triggers: try triggers(oid))
  }

  private static func kind(_ letter: String?) -> CatalogueTable.Kind {
    switch letter {
    case "r": .table
    case "p": .partitioned
    case "v", "m": .view
    case "f": .foreign
    default: .other
    }
  }

  private func columns(_ oid: String) throws(PostgreSQLError) -> [CatalogueColumn] {
    let rows = try connection.rows(
      """
      SELECT a.attname, a.attnotnull OR base.isnotnull, a.attgenerated <> '', a.attidentity,
        pg_catalog.pg_get_expr(d.adbin, d.adrelid), t.typname,
        pg_catalog.format_type(t.oid, NULL),
        pg_catalog.format_type(a.atttypid, a.atttypmod), t.typtype, element.typname, base.typmod,
        coalesce(l.collisdeterministic, true), pg_catalog.col_description(a.attrelid, a.attnum)
      FROM pg_catalog.pg_attribute a
      CROSS JOIN LATERAL (
        WITH RECURSIVE step (oid, typtype, typbasetype, nextmod, typmod, isnotnull) AS (
          SELECT t.oid, t.typtype, t.typbasetype, t.typtypmod, a.atttypmod, t.typnotnull
          FROM pg_catalog.pg_type t WHERE t.oid = a.atttypid
          UNION ALL
          SELECT t.oid, t.typtype, t.typbasetype, t.typtypmod, step.nextmod,
            step.isnotnull OR t.typnotnull
          FROM step JOIN pg_catalog.pg_type t ON t.oid = step.typbasetype
          WHERE step.typtype = 'd')
        SELECT step.oid, step.typmod, step.isnotnull FROM step WHERE step.typtype <> 'd'
      ) AS base
      JOIN pg_catalog.pg_type t ON t.oid = base.oid
      LEFT JOIN pg_catalog.pg_type element ON element.oid = t.typelem AND t.typcategory = 'A'
      LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
      LEFT JOIN pg_catalog.pg_collation l ON l.oid = a.attcollation
      WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
      """, [.text(oid)])
    var columns = rows.texts.map { row in
      CatalogueColumn(
        name: row[0] ?? "", isNotNull: row[1] == "t", isGenerated: row[2] == "t",
        isAlwaysIdentity: row[3] == "a", isIdentity: row[3] == "d", defaultValue: row[4],
        typeName: row[5] ?? "", castName: row[6] ?? "", declaredType: row[7] ?? "",
        typeKind: row[8] ?? "", elementType: row[9], modifier: row[10].flatMap { Int($0) } ?? -1,
        isDeterministic: row[11] == "t", comment: row[12])
    }
    for place in columns.indices where columns[place].typeKind == "e" {
      columns[place].labels = try labels(columns[place].castName)
    }
    return columns
  }

  private func labels(_ type: String) throws(PostgreSQLError) -> [String] {
    let rows = try connection.rows(
      """
      SELECT e.enumlabel FROM pg_catalog.pg_enum e
      WHERE e.enumtypid = $1::pg_catalog.regtype ORDER BY e.enumsortorder
      """, [.text(type)])
    return rows.texts.compactMap { $0[0] }
  }

  private func keys(
    _ oid: String
  ) throws(PostgreSQLError) -> (unique: [String: [String]], primary: [String]) {
    let rows = try connection.rows(
      """
      SELECT c.relname, i.indisprimary, a.attname FROM pg_catalog.pg_index i
      JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
      CROSS JOIN LATERAL pg_catalog.unnest(i.indkey::pg_catalog.int2[])
        WITH ORDINALITY AS k (number, place)
      JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number
      WHERE i.indrelid = $1 AND i.indisunique AND i.indisvalid AND i.indpred IS NULL
        AND i.indexprs IS NULL AND k.place <= i.indnkeyatts
      ORDER BY c.relname COLLATE "C", k.place
      """, [.text(oid)])
    var unique: [String: [String]] = [:]
    var primary: [String] = []
    for row in rows.texts {
      guard let index = row[0], let column = row[2] else { continue }
      unique[index, default: []].append(column)
      if row[1] == "t" { primary.append(column) }
    }
    return (unique, primary)
  }

  private func constraints(
    _ oid: String
  ) throws(PostgreSQLError) -> (foreign: [CatalogueForeignKey], checks: [String: String]) {
    let rows = try connection.rows(
      """
      SELECT con.oid, con.conname, con.contype, pg_catalog.pg_get_constraintdef(con.oid),
        cn.nspname, c.relname, pn.nspname, p.relname, ca.attname, pa.attname
      FROM pg_catalog.pg_constraint con
      JOIN pg_catalog.pg_class c ON c.oid = con.conrelid
      JOIN pg_catalog.pg_namespace cn ON cn.oid = c.relnamespace
      LEFT JOIN pg_catalog.pg_class p ON p.oid = con.confrelid
      LEFT JOIN pg_catalog.pg_namespace pn ON pn.oid = p.relnamespace
      LEFT JOIN LATERAL ROWS FROM (
        pg_catalog.unnest(con.conkey), pg_catalog.unnest(con.confkey)
      ) WITH ORDINALITY AS k (child, parent, place) ON true
      LEFT JOIN pg_catalog.pg_attribute ca ON ca.attrelid = con.conrelid AND ca.attnum = k.child
      LEFT JOIN pg_catalog.pg_attribute pa ON pa.attrelid = con.confrelid AND pa.attnum = k.parent
      WHERE con.conparentid = 0 AND (con.contype = 'f' AND (con.conrelid = $1 OR con.confrelid = $1)
        OR con.contype = 'c' AND con.conrelid = $1)
      ORDER BY con.conname COLLATE "C", con.oid, k.place
      """, [.text(oid)])
    var foreign: [CatalogueForeignKey] = []
    var checks: [String: String] = [:]
    var last: String?
    for row in rows.texts {
      let name = row[1] ?? ""
      guard row[2] == "f" else {
        checks[name] = row[3] ?? ""
        continue
      }
      var children: [String] = []
      var parents: [String] = []
      if row[0] == last, let previous = foreign.popLast() {
        (children, parents) = (previous.childColumns, previous.parentColumns)
      }
      last = row[0]
      foreign.append(
        CatalogueForeignKey(
          name: name, child: TableName(schema: row[4] ?? "", name: row[5] ?? ""),
          childColumns: children + [row[8] ?? ""],
          parent: TableName(schema: row[6] ?? "", name: row[7] ?? ""),
          parentColumns: parents + [row[9] ?? ""]))
    }
    return (foreign, checks)
  }

  private func triggers(_ oid: String) throws(PostgreSQLError) -> [String] {
    let rows = try connection.rows(
      """
      SELECT g.tgname FROM pg_catalog.pg_trigger g
      WHERE g.tgrelid = $1 AND NOT g.tgisinternal AND g.tgname !~ '^ferry_' ORDER BY 1
      """, [.text(oid)])
    return rows.texts.compactMap { $0[0] }
  }
}
