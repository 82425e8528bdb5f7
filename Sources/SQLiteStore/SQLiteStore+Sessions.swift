import FerryModel
import FerrySQLite
import FerryServer
import FerryWire

extension SQLiteStore {
  package func session(_ hash: [UInt8]) throws(StoreError) -> StoredSession? {
    let row = try sql { () throws(SQLiteError) in
      try writer.row(
        "SELECT user, device, expires, parent FROM refresh_token WHERE hash = ?", .blob(hash))
    }
    guard let row, let user = row[0].text, let device = row[1].text, let expires = row[2].integer
    else { return nil }
    return StoredSession(
      hash: hash, parent: row[3].blob, user: user, device: device, expires: expires)
  }

  package func hasSession(user: String, device: String) throws(StoreError) -> Bool {
    try sql { () throws(SQLiteError) in
      try writer.value(
        "SELECT 1 FROM refresh_token WHERE user = ? AND device = ? LIMIT 1", .text(user),
        .text(device)) != nil
    }
  }

  package func keep(_ session: StoredSession) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      try writer.run(
        "INSERT INTO refresh_token (hash, parent, user, device, expires) VALUES (?, ?, ?, ?, ?)",
        .blob(session.hash), session.parent.map(SQLiteValue.blob) ?? .null, .text(session.user),
        .text(session.device), .integer(session.expires))
    }
  }

  package func endSession(_ hash: [UInt8], besides successor: [UInt8]) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      try writer.run("DELETE FROM refresh_token WHERE hash = ?", .blob(hash))
      try writer.run(
        "DELETE FROM refresh_token WHERE parent = ? AND hash <> ?", .blob(hash), .blob(successor))
    }
  }

  package func endSessions(user: String, device: String?) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      try writer.run(
        "DELETE FROM refresh_token WHERE user = ? AND (? IS NULL OR device = ?)", .text(user),
        .optional(device), .optional(device))
    }
  }

  package func endSessions(expiredAt milliseconds: Int64) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      try writer.run("DELETE FROM refresh_token WHERE expires <= ?", .integer(milliseconds))
    }
  }

  package func boundSessions(
    user: String, device: String, perDevice: Int, devices: Int
  ) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      try writer.run(
        """
        DELETE FROM refresh_token WHERE hash IN (
          SELECT hash FROM refresh_token WHERE user = ? AND device = ?
          ORDER BY expires DESC LIMIT -1 OFFSET ?)
        """, .text(user), .text(device), .integer(Int64(perDevice)))
      try writer.run(
        """
        DELETE FROM refresh_token WHERE user = ?1 AND device IN (
          SELECT device FROM refresh_token WHERE user = ?1 GROUP BY device
          ORDER BY device = ?2 DESC, max(expires) DESC LIMIT -1 OFFSET ?3)
        """, .text(user), .text(device), .integer(Int64(devices)))
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

  package func keep(_ device: StoredDevice, of owner: Owner) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      try writer.run(
        """
        INSERT OR REPLACE INTO device (id, user, package, incarnation, rights_version, last_day)
        SELECT ?, ?, ?, ?, ?, days FROM server
        """, .text(owner.device.text), .text(owner.user.text), number, .text(device.incarnation),
        .text(device.rightsVersion))
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
