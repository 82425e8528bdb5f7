import FerryModel
import FerrySQLite
import FerryServer
import FerryWire
import FerryWorld

extension SQLiteStore {
  package func countDay() throws(StoreError) {
    let today = world.clock.now.day
    try sql { () throws(SQLiteError) in
      try writer.run(
        "UPDATE server SET days = days + (last_day < ?), last_day = ? WHERE last_day <> ?",
        .integer(today), .integer(today), .integer(today))
      try writer.run(
        """
        INSERT INTO seen_day (package, day, version)
        SELECT p.id, s.days, p.version FROM package AS p, server AS s WHERE p.id = ?
        ON CONFLICT DO NOTHING
        """, number)
    }
  }

  package func version(daysAgo days: Int64) throws(StoreError) -> Int64 {
    try sql { () throws(SQLiteError) in
      // All that is numbered up to here happened before the day ended, so long ago.
      try writer.value(
        """
        SELECT max(version) FROM seen_day
        WHERE package = ? AND day <= (SELECT days FROM server) - ?
        """, number, .integer(days))?.integer ?? 0
    }
  }

  package func leftPartitions() throws(StoreError) -> [(
    partition: Int64, rows: Int64, left: Int64
  )] {
    try sql { () throws(SQLiteError) in
      try writer.rows(
        """
        SELECT id, count, left_count FROM partition
        WHERE package = ? AND left_count > 0 ORDER BY id
        """, number
      ).compactMap { row in
        guard let id = row[0].integer, let count = row[1].integer, let left = row[2].integer
        else { return nil }
        return (id, count, left)
      }
    }
  }

  package func leave(of partition: Int64, after count: Int64) throws(StoreError) -> Int64? {
    try sql { () throws(SQLiteError) in
      try writer.value(
        """
        SELECT version FROM member WHERE partition = ? AND left = 1 ORDER BY version
        LIMIT 1 OFFSET ?
        """, .integer(partition), .integer(count))?.integer
    }
  }

  package func purgeLeaves(
    of partition: Int64, upTo version: Int64, _ transaction: NumberedTransaction
  ) throws(StoreError) -> Int64 {
    try sql { () throws(SQLiteError) in
      let row = try writer.row(
        """
        SELECT count(*), max(version) FROM member
        WHERE partition = ? AND left = 1 AND version <= ?
        """, .integer(partition), .integer(version))
      guard let row, let count = row[0].integer, count > 0, let floor = row[1].integer else {
        return 0
      }
      transaction.hasWritten = true
      try writer.run(
        "DELETE FROM member WHERE partition = ? AND left = 1 AND version <= ?",
        .integer(partition), .integer(version))
      try writer.run(
        "UPDATE partition SET floor = max(floor, ?), left_count = left_count - ? WHERE id = ?",
        .integer(floor), .integer(count), .integer(partition))
      return count
    }
  }

  package func purgeRows(upTo version: Int64) throws(StoreError) -> Int64 {
    try sql { () throws(SQLiteError) in
      try writer.run(
        """
        DELETE FROM row WHERE deleted = 1 AND version <= ?
          AND entity IN (SELECT id FROM entity WHERE package = ?)
          AND NOT EXISTS (SELECT 1 FROM member WHERE member.row = row.id)
        """, .integer(version), number)
      return Int64(writer.changes)
    }
  }

  package func forgetOperations(afterDays days: Int64) throws(StoreError) -> Int64 {
    try sql { () throws(SQLiteError) in
      try writer.run(
        """
        DELETE FROM operation WHERE state = 'confirmed' AND outcome <> 'unknown'
          AND day < (SELECT days FROM server) - ?
        """, .integer(days))
      let count = Int64(writer.changes)
      try writer.run(
        """
        DELETE FROM unknown_outcome
        WHERE operation NOT IN (SELECT id FROM operation WHERE outcome = 'unknown')
        """)
      return count
    }
  }

  package func unconfirmedAnswers(
    ofDevices prefix: String, afterDays days: Int64, count: Int
  ) throws(StoreError) -> [OldAnswer] {
    try sql { () throws(SQLiteError) in
      try writer.rows(
        """
        SELECT id, answer_version, user FROM operation
        WHERE package = ? AND state = 'answered' AND outcome <> 'unknown'
          AND substr(device, 1, ?) = ? AND day < (SELECT days FROM server) - ?
        ORDER BY sequence LIMIT ?
        """, number, .integer(Int64(prefix.unicodeScalars.count)), .text(prefix), .integer(days),
        .integer(Int64(count))
      ).compactMap { row in
        guard let id = row[0].text.flatMap({ OperationID($0) }), let version = row[1].integer,
          let user = row[2].text
        else { return nil }
        return OldAnswer(id: id, version: version, user: user)
      }
    }
  }

  package func forgetReports(afterDays days: Int64) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      try writer.run(
        "DELETE FROM report WHERE day < (SELECT days FROM server) - ?", .integer(days))
    }
  }

  package func explain(_ entity: String, _ key: String) throws(StoreError) -> Explanation {
    try sql { () throws(SQLiteError) in
      try Explanation.explain(writer, packageNumber, package.id, entity, key)
    }
  }

  package func dump() throws(StoreError) -> [String] {
    try sql { () throws(SQLiteError) in
      var lines = ["clock \(try clock(writer))"]
      let partitions = try writer.rows(
        """
        SELECT id, group_name, rule, place, version, floor, count, left_count, loaded FROM partition
        WHERE package = ? ORDER BY id
        """, number)
      for row in partitions { lines.append("partition " + text(row)) }
      let rows = try writer.rows(
        """
        SELECT e.name, r.key, r.version, r.deleted, r.partition, r.body
        FROM row AS r JOIN entity AS e ON e.id = r.entity WHERE e.package = ? ORDER BY e.name, r.key
        """, number)
      for row in rows { lines.append("row " + text(row)) }
      let members = try writer.rows(
        """
        SELECT m.partition, m.version, e.name, r.key, m.left FROM member AS m
        JOIN row AS r ON r.id = m.row JOIN entity AS e ON e.id = r.entity WHERE e.package = ?
        ORDER BY m.partition, m.version, m.row
        """, number)
      for row in members { lines.append("member " + text(row)) }
      let operations = try writer.rows(
        """
        SELECT id, device, user, entity, kind, object_key, state, outcome, answer_version, new_key
        FROM operation WHERE package = ? ORDER BY sequence
        """, number)
      for row in operations { lines.append("operation " + text(row)) }
      return lines
    }
  }

  private func text(_ row: [SQLiteValue]) -> String {
    row.map { value in
      switch value {
      case .null: "-"
      case .integer(let number): String(number)
      case .real(let number): number.description
      case .text(let text): text.isEmpty ? "''" : text
      case .blob(let bytes): String(decoding: bytes, as: UTF8.self)
      }
    }.joined(separator: " | ")
  }

  package func liveRows() throws(StoreError) -> [(
    name: RowName, body: [UInt8], place: String?
  )] {
    let rows = try sql { () throws(SQLiteError) in
      try writer.rows(
        """
        SELECT r.entity, r.key, r.body, p.group_name || ' ' || p.rule || ' ' || p.place
        FROM row AS r JOIN entity AS e ON e.id = r.entity
        LEFT JOIN partition AS p ON p.id = r.partition
        WHERE e.package = ? AND r.deleted = 0 ORDER BY e.name, r.key
        """, number)
    }
    return try rows.map { row throws(StoreError) in
      guard let number = row[0].integer, let entity = entityPositions[number],
        let key = row[1].text, let body = row[2].blob
      else { throw StoreError.damaged("a row of the cache cannot be read") }
      return (RowName(entity, ObjectKey(text: key)), body, row[3].text)
    }
  }
}
