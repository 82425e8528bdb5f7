import FerryModel
import FerrySQLite
import FerryServer
import FerryWire

extension SQLiteStore {
  package func session(_ id: String) throws(StoreError) -> StoredSession? {
    let row = try sql { () throws(SQLiteError) in
      try writer.row(
        "SELECT user, device, used, begun, renewed, stamp, ended FROM session WHERE id = ?",
        .text(id))
    }
    guard let row, let user = row[0].text, let device = row[1].text, let used = row[2].integer,
      let begun = row[3].integer, let renewed = row[4].integer
    else { return nil }
    return StoredSession(
      id: id, user: user, device: device, used: used, begun: begun, renewed: renewed,
      stamp: row[5].text ?? "", ended: row[6].text)
  }

  package func hasSession(user: String, device: String) throws(StoreError) -> Bool {
    try sql { () throws(SQLiteError) in
      try writer.value(
        "SELECT 1 FROM session WHERE user = ? AND device = ? AND ended IS NULL LIMIT 1",
        .text(user), .text(device)) != nil
    }
  }

  package func keep(_ session: StoredSession) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      try writer.run(
        """
        INSERT INTO session (id, user, device, used, begun, renewed, stamp, ended)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET used = max(used, excluded.used),
          renewed = max(renewed, excluded.renewed), stamp = excluded.stamp,
          ended = coalesce(ended, excluded.ended)
        """, .text(session.id), .text(session.user), .text(session.device),
        .integer(session.used), .integer(session.begun), .integer(session.renewed),
        .text(session.stamp), .optional(session.ended))
    }
  }

  package func endSessions(
    user: String, device: String?, reason: String
  ) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      try writer.run(
        """
        UPDATE session SET ended = ?3
        WHERE user = ?1 AND (?2 IS NULL OR device = ?2) AND ended IS NULL
        """, .text(user), .optional(device), .text(reason))
    }
  }

  package func reopenSessions(
    user: String, device: String, reason: String
  ) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      try writer.run(
        "UPDATE session SET ended = NULL WHERE user = ? AND device = ? AND ended = ?",
        .text(user), .text(device), .text(reason))
    }
  }

  package func forgetSessions(begunBefore milliseconds: Int64) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      try writer.run("DELETE FROM session WHERE begun < ?", .integer(milliseconds))
    }
  }

  package func boundSessions(
    user: String, device: String, perDevice: Int, devices: Int
  ) throws(StoreError) -> [String] {
    try sql { () throws(SQLiteError) in
      try writer.run(
        """
        UPDATE session SET ended = 'replaced' WHERE id IN (
          SELECT id FROM session WHERE user = ? AND device = ? AND ended IS NULL
          ORDER BY renewed DESC LIMIT -1 OFFSET ?)
        """, .text(user), .text(device), .integer(Int64(perDevice)))
      let evicted = try writer.rows(
        """
        SELECT device FROM session WHERE user = ?1 AND ended IS NULL GROUP BY device
        ORDER BY device = ?2 DESC, max(renewed) DESC LIMIT -1 OFFSET ?3
        """, .text(user), .text(device), .integer(Int64(devices))
      ).compactMap { $0[0].text }
      for device in evicted {
        try writer.run(
          "UPDATE session SET ended = 'evicted' WHERE user = ? AND device = ? AND ended IS NULL",
          .text(user), .text(device))
      }
      // Only so many that have ended are remembered, however often somebody logs in.
      try writer.run(
        """
        DELETE FROM session WHERE id IN (
          SELECT id FROM session WHERE user = ? AND ended IS NOT NULL
          ORDER BY renewed DESC LIMIT -1 OFFSET ?)
        """, .text(user), .integer(Int64(4 * devices)))
      return evicted
    }
  }

  package func tokenUsers() throws(StoreError) -> [StoredTokenUser] {
    try sql { () throws(SQLiteError) in
      try writer.rows("SELECT user, roles, claims, issued, packages FROM token_user")
    }.map { row in
      StoredTokenUser(
        user: row[0].text ?? "", roles: ClaimText.decodeRoles(row[1].text ?? ""),
        claims: ClaimText.decode(row[2].text ?? ""), issued: row[3].integer ?? 0,
        packages: ClaimText.decodePackages(row[4].text))
    }
  }

  package func keep(_ user: StoredTokenUser) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      try writer.run(
        """
        INSERT OR REPLACE INTO token_user (user, roles, claims, issued, packages)
        VALUES (?, ?, ?, ?, ?)
        """,
        .text(user.user), .text(ClaimText.encode(roles: user.roles)),
        .text(ClaimText.encode(user.claims)), .integer(user.issued),
        .optional(ClaimText.encode(packages: user.packages)))
    }
  }

  package func forgetTokenUsers(issuedBefore milliseconds: Int64) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      try writer.run("DELETE FROM token_user WHERE issued < ?", .integer(milliseconds))
    }
  }

  package func personalKeys(of user: String) throws(StoreError) -> [String: String] {
    var keys: [String: String] = [:]
    let rows = try sql { () throws(SQLiteError) in
      try writer.rows(
        "SELECT name, value FROM personalization WHERE package = ? AND user = ?", number,
        .text(user))
    }
    for row in rows {
      if let name = row[0].text, let value = row[1].text { keys[name] = value }
    }
    return keys
  }

  package func keep(
    _ keys: [(name: String, value: String?)], of user: String
  ) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      for (name, value) in keys {
        if let value {
          try writer.run(
            """
            INSERT OR REPLACE INTO personalization (package, user, name, value) VALUES (?, ?, ?, ?)
            """, number, .text(user), .text(name), .text(value))
        } else {
          try writer.run(
            "DELETE FROM personalization WHERE package = ? AND user = ? AND name = ?", number,
            .text(user), .text(name))
        }
      }
    }
  }

  package func keep(
    _ reports: [StoredReport], from owner: Owner, perDevice: Int, perUser: Int
  ) throws(StoreError) {
    let (device, user) = (SQLiteValue.text(owner.device.text), SQLiteValue.text(owner.user.text))
    try sql { () throws(SQLiteError) in
      try writer.transaction { () throws(SQLiteError) in
        for report in reports {
          try writer.run(
            """
            INSERT INTO report (id, package, device, user, level, record, day)
            SELECT ?, ?, ?, ?, ?, ?, days FROM server WHERE true ON CONFLICT DO NOTHING
            """, .text(report.id.text), number, device, user, .text(report.level.rawValue),
            .text(report.json))
        }
        try writer.run(
          """
          DELETE FROM report WHERE device = ?1 AND user = ?2 AND number <= (
            SELECT number FROM report WHERE device = ?1 AND user = ?2
            ORDER BY number DESC LIMIT 1 OFFSET ?3)
          """, device, user, .integer(Int64(perDevice)))
        try writer.run(
          """
          DELETE FROM report WHERE user = ?1 AND number <= (
            SELECT number FROM report WHERE user = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)
          """, user, .integer(Int64(perUser)))
      }
    }
  }

  package func cutReports(of user: ExactText, toBytes limit: Int) throws(StoreError) -> Int {
    let user = SQLiteValue.text(user.text)
    return try sql { () throws(SQLiteError) in
      try writer.transaction { () throws(SQLiteError) in
        try writer.run(
          """
          DELETE FROM report WHERE user = ?1 AND number <= (
            SELECT max(number) FROM (
              SELECT number, sum(length(CAST(record AS BLOB))) OVER (ORDER BY number DESC) AS bytes
              FROM report WHERE user = ?1) WHERE bytes > ?2)
          """, user, .integer(Int64(limit)))
        let bytes = try writer.value(
          "SELECT sum(length(CAST(record AS BLOB))) FROM report WHERE user = ?", user)
        return Int(bytes?.integer ?? 0)
      }
    }
  }

  package func device(_ owner: Owner) throws(StoreError) -> StoredDevice? {
    let row = try sql { () throws(SQLiteError) in
      try writer.row(
        """
        SELECT incarnation, rights_version, last_day = (SELECT days FROM server) FROM device
        WHERE id = ? AND user = ? AND package = ?
        """, .text(owner.device.text), .text(owner.user.text), number)
    }
    guard let row, let incarnation = row[0].text, let rights = row[1].text else { return nil }
    return StoredDevice(
      incarnation: incarnation, rightsVersion: rights, isOfToday: row[2].integer == 1)
  }

  package func keep(
    _ devices: [(owner: Owner, device: StoredDevice)]
  ) throws(StoreError) {
    try transaction { () throws(StoreError) in
      try sql { () throws(SQLiteError) in
        for (owner, device) in devices {
          try writer.run(
            """
            INSERT OR REPLACE INTO device (id, user, package, incarnation, rights_version, last_day)
            SELECT ?, ?, ?, ?, ?, days FROM server
            """, .text(owner.device.text), .text(owner.user.text), number,
            .text(device.incarnation), .text(device.rightsVersion))
        }
      }
    }
  }

  package func forgetDevices(of owner: Owner, beyond count: Int) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      try writer.run(
        """
        DELETE FROM device WHERE user = ?1 AND package = ?2 AND id IN (
          SELECT id FROM device WHERE user = ?1 AND package = ?2
          ORDER BY id = ?3 DESC, last_day DESC, id LIMIT -1 OFFSET ?4)
        """, .text(owner.user.text), number, .text(owner.device.text), .integer(Int64(count)))
    }
  }

  package func forgetDevices(unseenForDays days: Int64) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      try writer.run(
        "DELETE FROM device WHERE package = ? AND last_day < (SELECT days FROM server) - ?",
        number, .integer(days))
    }
  }
}
