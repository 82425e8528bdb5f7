import FerryModel
import FerryPostgreSQL
import FerryServer
import FerryWire
import FerryWorld

extension PostgreSQLStore {
  /// By the clock of the database, so that nodes whose clocks differ count one day once.
  package func countDay() throws(StoreError) {
    let today: PostgreSQLValue = countsDaysOfWorld ? .integer(world.clock.now.day) : .null
    try lead([
      PostgreSQLConnection.Request(
        """
        UPDATE ferry_store.server AS s SET days = s.days + (s.last_day < t.day)::int,
          last_day = t.day
        FROM (SELECT coalesce($1, extract(epoch FROM clock_timestamp())::int8 / 86400) AS day) AS t
        WHERE s.last_day <> t.day
        """, [today]),
      PostgreSQLConnection.Request(
        """
        INSERT INTO ferry_store.seen_day (package, day, version)
        SELECT $1, s.days,
          coalesce((SELECT max(version) FROM ferry_store.number WHERE package = $1), 0)
        FROM ferry_store.server AS s ON CONFLICT DO NOTHING
        """, [number]),
      // The last ones are enough to refuse a number that is taken.
      PostgreSQLConnection.Request(
        """
        DELETE FROM ferry_store.number WHERE package = $1
          AND version < (SELECT max(version) FROM ferry_store.number WHERE package = $1) - 1000
        """, [number]),
    ])
  }

  package func version(daysAgo days: Int64) throws(StoreError) -> Int64 {
    // All that is numbered up to here happened before the day ended, so long ago.
    try rows(
      """
      SELECT coalesce(max(version), 0) FROM ferry_store.seen_day
      WHERE package = $1 AND day <= \(PostgreSQLStore.today) - $2
      """, [number, .integer(days)]
    ).integer(0, 0) ?? 0
  }

  package func leftPartitions() throws(StoreError) -> [(
    partition: Int64, rows: Int64, left: Int64
  )] {
    let rows = try rows(
      """
      SELECT id, count, left_count FROM ferry_store.partition
      WHERE package = $1 AND left_count > 0 ORDER BY id
      """, [number])
    return (0..<rows.count).compactMap { row in
      guard let id = rows.integer(row, 0), let count = rows.integer(row, 1),
        let left = rows.integer(row, 2)
      else { return nil }
      return (id, count, left)
    }
  }

  package func leave(of partition: Int64, after count: Int64) throws(StoreError) -> Int64? {
    try rows(
      """
      SELECT version FROM ferry_store.member WHERE partition = $1 AND has_left
      ORDER BY version LIMIT 1 OFFSET $2
      """, [.integer(partition), .integer(count)]
    ).first?.integer(0, 0)
  }

  package func purgeLeaves(
    of partition: Int64, upTo version: Int64, _ transaction: NumberedTransaction
  ) throws(StoreError) -> Int64 {
    let purged = purges.filter { $0.partition == partition }.map(\.upTo).max() ?? -1
    let count =
      try rows(
        """
        SELECT count(*) FROM ferry_store.member
        WHERE partition = $1 AND has_left AND version <= $2 AND version > $3
        """, [.integer(partition), .integer(version), .integer(purged)]
      ).integer(0, 0) ?? 0
    guard count > 0 else { return 0 }
    transaction.hasWritten = true
    willPurge(partition, upTo: version)
    try lead([
      PostgreSQLConnection.Request(
        """
        WITH gone AS (
          DELETE FROM ferry_store.member WHERE partition = $1 AND has_left AND version <= $2
          RETURNING version),
        total AS (SELECT count(*) AS count, max(version) AS floor FROM gone)
        UPDATE ferry_store.partition AS p SET floor = greatest(p.floor, t.floor),
          left_count = p.left_count - t.count
        FROM total AS t WHERE p.id = $1 AND t.count > 0
        """, [.integer(partition), .integer(version)]), forgetting,
    ])
    return count
  }

  /// Rows whose last leaves are purged by the same numbered transaction go with them.
  package func purgeRows(upTo version: Int64) throws(StoreError) -> Int64 {
    let condition = """
      r.deleted AND r.version <= $1 AND r.entity = ANY($2::int8[]) AND NOT EXISTS (
        SELECT 1 FROM ferry_store.member AS m WHERE m.row = r.id AND NOT (
          m.has_left AND EXISTS (
            SELECT 1 FROM unnest($3::int8[], $4::int8[]) AS p(partition, up_to)
            WHERE p.partition = m.partition AND m.version <= p.up_to)))
      """
    let parameters: [PostgreSQLValue] = [
      .integer(version), .integers(entityNumbers), .integers(purges.map(\.partition)),
      .integers(purges.map(\.upTo)),
    ]
    let count =
      try rows(
        "SELECT count(*) FROM ferry_store.row AS r WHERE \(condition)", parameters
      ).integer(0, 0) ?? 0
    if count > 0 {
      try lead("DELETE FROM ferry_store.row AS r WHERE \(condition)", parameters)
    }
    return count
  }

  package func forgetOperations(afterDays days: Int64) throws(StoreError) -> Int64 {
    let condition =
      "state = 'confirmed' AND outcome <> 'unknown' AND day < \(PostgreSQLStore.today) - $1"
    let count =
      try rows(
        "SELECT count(*) FROM ferry_store.operation WHERE \(condition)", [.integer(days)]
      ).integer(0, 0) ?? 0
    if count > 0 {
      try lead("DELETE FROM ferry_store.operation WHERE \(condition)", [.integer(days)])
    }
    try lead(
      """
      DELETE FROM ferry_store.unknown_outcome AS u WHERE NOT EXISTS (
        SELECT 1 FROM ferry_store.operation AS o WHERE o.id = u.operation AND o.outcome = 'unknown')
      """, [])
    return count
  }

  package func unconfirmedAnswers(
    ofDevices prefix: String, afterDays days: Int64, count: Int
  ) throws(StoreError) -> [OldAnswer] {
    let rows = try rows(
      """
      SELECT id, answer_version, user_name FROM ferry_store.operation
      WHERE package = $1 AND state = 'answered' AND outcome <> 'unknown'
        AND starts_with(device, $2) AND day < \(PostgreSQLStore.today) - $3
      ORDER BY sequence LIMIT $4
      """, [number, .exact(prefix), .integer(days), .integer(Int64(count))])
    return (0..<rows.count).compactMap { row in
      guard let id = rows.text(row, 0).flatMap({ OperationID($0) }),
        let version = rows.integer(row, 1), let user = rows.exact(row, 2)
      else { return nil }
      return OldAnswer(id: id, version: version, user: user)
    }
  }

  package func forgetReports(afterDays days: Int64) throws(StoreError) {
    try lead(
      "DELETE FROM ferry_store.report WHERE day < \(PostgreSQLStore.today) - $1", [.integer(days)])
  }

  package func dump() throws(StoreError) -> [String] {
    var lines = ["clock \(try rows(PostgreSQLStore.clock, [number]).integer(0, 0) ?? 0)"]
    let parts: [(String, String)] = [
      (
        "partition",
        """
        SELECT p.id, p.group_name, p.rule, p.place, p.version, p.floor, p.count, p.left_count,
          g.loaded::int
        FROM ferry_store.partition AS p JOIN ferry_store.package AS g ON g.id = p.package
        WHERE p.package = $1 ORDER BY p.id
        """
      ),
      (
        "row",
        """
        SELECT e.name, r.key, r.version, r.deleted::int, r.partition, r.body
        FROM ferry_store.row AS r JOIN ferry_store.entity AS e ON e.id = r.entity
        WHERE e.package = $1 ORDER BY e.name, r.key
        """
      ),
      (
        "member",
        """
        SELECT m.partition, m.version, e.name, r.key, m.has_left::int
        FROM ferry_store.member AS m JOIN ferry_store.row AS r ON r.id = m.row
        JOIN ferry_store.entity AS e ON e.id = r.entity
        WHERE e.package = $1 ORDER BY m.partition, m.version, m.row
        """
      ),
      (
        "operation",
        """
        SELECT id, device, user_name, entity, kind, object_key, state, outcome, answer_version,
          new_key
        FROM ferry_store.operation WHERE package = $1 ORDER BY sequence
        """
      ),
    ]
    for (name, sql) in parts {
      let rows = try rows(sql, [number])
      for row in 0..<rows.count {
        let values = (0..<rows.columnCount).map { column in
          rows.exact(row, column).map { $0.isEmpty ? "''" : $0 } ?? "-"
        }
        lines.append("\(name) \(values.joined(separator: " | "))")
      }
    }
    return lines
  }

  package func liveRows() throws(StoreError) -> [(
    name: RowName, body: [UInt8], place: String?
  )] {
    let rows = try rows(
      """
      SELECT r.entity, r.key, r.body, p.group_name || ' ' || p.rule || ' ' || p.place
      FROM ferry_store.row AS r JOIN ferry_store.entity AS e ON e.id = r.entity
      LEFT JOIN ferry_store.partition AS p ON p.id = r.partition
      WHERE e.package = $1 AND NOT r.deleted ORDER BY e.name, r.key
      """, [number])
    var live: [(name: RowName, body: [UInt8], place: String?)] = []
    for row in 0..<rows.count {
      guard let number = rows.integer(row, 0), let entity = entityPositions[number],
        let key = rows.exact(row, 1), let body = rows.body(row, 2)
      else { throw StoreError.damaged("a row of the cache cannot be read") }
      live.append((RowName(entity, ObjectKey(text: key)), body, rows.exact(row, 3)))
    }
    return live
  }
}
