import FerrySQLite
import FerryServer

extension SQLiteStore {
  private static let connectionColumns = """
    device, user, application, registered, changes, properties, template, proof, state, reason
    """

  package func connection(_ id: String) throws(StoreError) -> StoredConnection? {
    try sql { () throws(SQLiteError) in
      try writer.row(
        """
        SELECT \(SQLiteStore.connectionColumns) FROM registered_device
        WHERE device = ? AND application IS NOT NULL
        """, .text(id))
    }.flatMap(SQLiteStore.connection)
  }

  package func connections(
    of application: String, user: String?
  ) throws(StoreError) -> [StoredConnection] {
    try sql { () throws(SQLiteError) in
      try writer.rows(
        """
        SELECT \(SQLiteStore.connectionColumns) FROM registered_device
        WHERE application = ?1 AND (?2 IS NULL OR user = ?2) ORDER BY device
        """, .text(application), .optional(user))
    }.compactMap(SQLiteStore.connection)
  }

  package func add(_ connection: StoredConnection) throws(StoreError) -> Bool {
    try transaction { () throws(StoreError) in
      guard try self.connection(connection.id) == nil else { return false }
      try sql { () throws(SQLiteError) in
        try writer.run(
          """
          INSERT INTO registered_device (
            user, device, incarnation, model, hardware, system, library, first_seen, last_seen,
            cursors, state, reason, with_pending, application, registered, changes, properties,
            template, proof)
          VALUES (?1, ?2, '', '', '', '', '', ?3, ?3, '[]', ?4, '', 0, ?5, ?3, ?6, ?7, ?8, ?9)
          ON CONFLICT (user, device) DO UPDATE SET application = excluded.application,
            registered = excluded.registered, changes = excluded.changes,
            properties = excluded.properties, proof = excluded.proof,
            template = coalesce(template, excluded.template)
          """, .text(connection.user), .text(connection.id), .integer(connection.registered),
          .text(RegisteredDevice.State.active.rawValue), .text(connection.application),
          .integer(connection.changes), .text(connection.properties),
          .optional(connection.template), .optional(connection.proof))
      }
      return true
    }
  }

  package func update(
    _ connection: StoredConnection, from changes: Int64
  ) throws(StoreError) -> Bool {
    try sql { () throws(SQLiteError) in
      try writer.run(
        """
        UPDATE registered_device SET properties = ?, changes = changes + 1
        WHERE user = ? AND device = ? AND application IS NOT NULL AND changes = ?
        """, .text(connection.properties), .text(connection.user), .text(connection.id),
        .integer(changes))
      return writer.changes == 1
    }
  }

  private static func connection(_ row: [SQLiteValue]) -> StoredConnection? {
    guard let id = row[0].text, let user = row[1].text, let application = row[2].text else {
      return nil
    }
    var connection = StoredConnection(
      id: id, user: user, application: application, registered: row[3].integer ?? 0)
    connection.changes = row[4].integer ?? 0
    connection.properties = row[5].text ?? "{}"
    connection.template = row[6].text
    connection.proof = row[7].text
    connection.state = row[8].text.flatMap(RegisteredDevice.State.init) ?? .active
    connection.reason = row[9].text ?? ""
    return connection
  }

  // Payloads.

  package func add(
    _ payload: StoredPayload, to owner: Owner, limit: Int
  ) throws(StoreError) -> Int64? {
    try transaction { () throws(StoreError) in
      guard try connection(owner.device.text)?.user.hasBytes(of: owner.user.text) == true,
        try payloadCount(of: owner) < limit
      else { return nil }
      return try sql { () throws(SQLiteError) in
        try writer.value(
          """
          INSERT INTO payload (user, device, moment, content) VALUES (?, ?, ?, ?) RETURNING number
          """, .text(owner.user.text), .text(owner.device.text), .integer(payload.moment),
          .text(payload.content))?.integer
      }
    }
  }

  package func payloads(
    of owner: Owner, after number: Int64, count: Int
  ) throws(StoreError) -> [StoredPayload] {
    try sql { () throws(SQLiteError) in
      try writer.rows(
        """
        SELECT number, moment, content FROM payload
        WHERE user = ? AND device = ? AND number > ? ORDER BY number LIMIT ?
        """, .text(owner.user.text), .text(owner.device.text), .integer(number),
        .integer(Int64(count)))
    }.compactMap { row in
      guard let number = row[0].integer, let moment = row[1].integer, let content = row[2].text
      else { return nil }
      return StoredPayload(number: number, moment: moment, content: content)
    }
  }

  package func payloadCount(of owner: Owner) throws(StoreError) -> Int {
    let count = try sql { () throws(SQLiteError) in
      try writer.value(
        "SELECT count(*) FROM payload WHERE user = ? AND device = ?", .text(owner.user.text),
        .text(owner.device.text))?.integer
    }
    return Int(count ?? 0)
  }

  package func forgetPayloads(of owner: Owner, upTo number: Int64) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      try writer.run(
        "DELETE FROM payload WHERE user = ? AND device = ? AND number <= ?",
        .text(owner.user.text), .text(owner.device.text), .integer(number))
    }
  }
}
