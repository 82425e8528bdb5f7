import FerryPostgreSQL
import FerryServer

extension PostgreSQLStore {
  private static let connectionColumns = """
    device, user_name, application, registered, changes, properties, template, proof, state, reason
    """

  package func connection(_ id: String) throws(StoreError) -> StoredConnection? {
    let rows = try rows(
      """
      SELECT \(PostgreSQLStore.connectionColumns) FROM ferry_store.registered_device
      WHERE device = $1 AND application IS NOT NULL
      """, [.exact(id)])
    return rows.count == 1 ? PostgreSQLStore.connection(rows, 0) : nil
  }

  package func connections(
    of application: String, user: String?
  ) throws(StoreError) -> [StoredConnection] {
    let rows = try rows(
      """
      SELECT \(PostgreSQLStore.connectionColumns) FROM ferry_store.registered_device
      WHERE application = $1 AND ($2::text IS NULL OR user_name = $2) ORDER BY device
      """, [.exact(application), .exact(user)])
    return (0..<rows.count).compactMap { PostgreSQLStore.connection(rows, $0) }
  }

  package func add(_ connection: StoredConnection) throws(StoreError) -> Bool {
    // Whoever comes second with an id waits here, and then finds it.
    try transaction { () throws(StoreError) in
      _ = try rows(
        """
        SELECT pg_catalog.pg_advisory_xact_lock(
          pg_catalog.hashtextextended('ferry_store.connection ' || $1, 0))
        """, [.exact(connection.id)])
      guard try self.connection(connection.id) == nil else { return false }
      _ = try rows(
        """
        INSERT INTO ferry_store.registered_device AS d (
          user_name, device, incarnation, model, hardware, system, library, first_seen, last_seen,
          cursors, state, reason, with_pending, application, registered, changes, properties,
          template, proof)
        VALUES ($1, $2, '', '', '', '', '', $3, $3, '[]', $4, '', false, $5, $3, $6, $7, $8, $9)
        ON CONFLICT (user_name, device) DO UPDATE SET application = excluded.application,
          registered = excluded.registered, changes = excluded.changes,
          properties = excluded.properties, proof = excluded.proof,
          template = coalesce(d.template, excluded.template)
        """,
        [
          .exact(connection.user), .exact(connection.id), .integer(connection.registered),
          .exact(RegisteredDevice.State.active.rawValue), .exact(connection.application),
          .integer(connection.changes), .exact(connection.properties), .exact(connection.template),
          .exact(connection.proof),
        ])
      return true
    }
  }

  package func update(
    _ connection: StoredConnection, from changes: Int64
  ) throws(StoreError) -> Bool {
    try rows(
      """
      UPDATE ferry_store.registered_device SET properties = $3, changes = changes + 1
      WHERE user_name = $1 AND device = $2 AND application IS NOT NULL AND changes = $4
      RETURNING 1
      """,
      [
        .exact(connection.user), .exact(connection.id), .exact(connection.properties),
        .integer(changes),
      ]
    ).count == 1
  }

  private static func connection(_ rows: PostgreSQLRows, _ row: Int) -> StoredConnection? {
    guard let id = rows.exact(row, 0), let user = rows.exact(row, 1),
      let application = rows.exact(row, 2)
    else { return nil }
    var connection = StoredConnection(
      id: id, user: user, application: application, registered: rows.integer(row, 3) ?? 0)
    connection.changes = rows.integer(row, 4) ?? 0
    connection.properties = rows.exact(row, 5) ?? "{}"
    connection.template = rows.exact(row, 6)
    connection.proof = rows.exact(row, 7)
    connection.state = rows.exact(row, 8).flatMap(RegisteredDevice.State.init) ?? .active
    connection.reason = rows.exact(row, 9) ?? ""
    return connection
  }

  // Payloads.

  package func add(
    _ payload: StoredPayload, to owner: Owner, limit: Int
  ) throws(StoreError) -> Int64? {
    // The row of the connection is locked: what several nodes add is seen in the order of its numbers.
    try rows(
      """
      WITH registered AS MATERIALIZED (
        SELECT user_name, device FROM ferry_store.registered_device
        WHERE user_name = $1 AND device = $2 AND application IS NOT NULL FOR UPDATE)
      INSERT INTO ferry_store.payload (user_name, device, moment, content)
      SELECT user_name, device, $3, $4 FROM registered
      WHERE (SELECT count(*) FROM ferry_store.payload WHERE user_name = $1 AND device = $2) < $5
      RETURNING number
      """,
      [
        .exact(owner.user), .exact(owner.device), .integer(payload.moment),
        .exact(payload.content), .integer(Int64(limit)),
      ]
    ).first?.integer(0, 0)
  }

  package func payloads(
    of owner: Owner, after number: Int64, count: Int
  ) throws(StoreError) -> [StoredPayload] {
    let rows = try rows(
      """
      SELECT number, moment, content FROM ferry_store.payload
      WHERE user_name = $1 AND device = $2 AND number > $3 ORDER BY number LIMIT $4
      """,
      [.exact(owner.user), .exact(owner.device), .integer(number), .integer(Int64(count))])
    return (0..<rows.count).map { row in
      StoredPayload(
        number: rows.integer(row, 0) ?? 0, moment: rows.integer(row, 1) ?? 0,
        content: rows.exact(row, 2) ?? "")
    }
  }

  package func payloadCount(of owner: Owner) throws(StoreError) -> Int {
    let rows = try rows(
      "SELECT count(*) FROM ferry_store.payload WHERE user_name = $1 AND device = $2",
      [.exact(owner.user), .exact(owner.device)])
    return Int(rows.integer(0, 0) ?? 0)
  }

  package func forgetPayloads(of owner: Owner, upTo number: Int64) throws(StoreError) {
    try write(
      """
      DELETE FROM ferry_store.payload WHERE user_name = $1 AND device = $2 AND number <= $3
      """, [.exact(owner.user), .exact(owner.device), .integer(number)])
  }
}
