import FerryPostgreSQL

extension Writer {
  /// What others changed since a snapshot: all that was committed before it is behind it.
  func news(
    since snapshot: String?
  ) throws(PostgreSQLError) -> (snapshot: String, isChanged: Bool) {
    try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    let now = try connection.value("SELECT pg_catalog.pg_current_snapshot()") ?? ""
    var isChanged = snapshot == nil
    if let snapshot {
      let entries = try connection.rows(
        """
        SELECT DISTINCT xid FROM ferry.change
        WHERE xid >= pg_catalog.pg_snapshot_xmax($1::pg_catalog.pg_snapshot)
          OR xid = ANY (ARRAY(SELECT pg_catalog.pg_snapshot_xip($1::pg_catalog.pg_snapshot)))
        """, [.text(snapshot)])
      isChanged = !isOwn(entries.texts.compactMap { $0[0] })
    }
    try connection.execute("COMMIT")
    return (now, isChanged)
  }
}
