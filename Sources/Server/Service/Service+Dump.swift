import FerryModel
import FerrySQLite

/// The whole state as text, for tests, the simulator and people.
extension Service {
  /// Why an object is in the cache or not.
  public func why(_ entity: String, _ key: String) throws(ServerError) -> Explanation {
    try guarded { () throws(SQLiteError) in
      try Explanation.explain(store.writer, store.packageNumber, package.id, entity, key)
    }
  }

  /// Rows, partitions and operations, each one line, in a fixed order.
  public func dump() throws(ServerError) -> String {
    try guarded { () throws(SQLiteError) in
      var lines = ["clock \(try store.clock())"]
      let partitions = try store.writer.rows(
        """
        SELECT id, group_name, rule, place, version, floor, count, left_count, loaded FROM partition
        WHERE package = ? ORDER BY id
        """, .integer(store.packageNumber))
      for row in partitions { lines.append("partition " + text(row)) }
      let rows = try store.writer.rows(
        """
        SELECT e.name, r.key, r.version, r.deleted, r.partition, r.body
        FROM row AS r JOIN entity AS e ON e.id = r.entity WHERE e.package = ? ORDER BY e.name, r.key
        """, .integer(store.packageNumber))
      for row in rows { lines.append("row " + text(row)) }
      let members = try store.writer.rows(
        """
        SELECT m.partition, m.version, e.name, r.key, m.left FROM member AS m
        JOIN row AS r ON r.id = m.row JOIN entity AS e ON e.id = r.entity WHERE e.package = ?
        ORDER BY m.partition, m.version, m.row
        """, .integer(store.packageNumber))
      for row in members { lines.append("member " + text(row)) }
      let operations = try store.writer.rows(
        """
        SELECT id, device, user, entity, kind, object_key, state, outcome, answer_version, new_key
        FROM operation WHERE package = ? ORDER BY sequence
        """, .integer(store.packageNumber))
      for row in operations { lines.append("operation " + text(row)) }
      return lines.joined(separator: "\n")
    }
  }

  /// Every row of the cache that is not deleted, in the order of names: what a checker compares
  /// with the business system. The partition is the place's text; nil: nobody's.
  public func cachedRows() throws(ServerError) -> [(
    image: ObjectName, values: [Value], place: String?
  )] {
    try guarded { () throws(SQLiteError) in
      var found: [(image: ObjectName, values: [Value], place: String?)] = []
      let rows = try store.writer.rows(
        """
        SELECT r.entity, r.key, r.body, p.group_name || ' ' || p.rule || ' ' || p.place
        FROM row AS r JOIN entity AS e ON e.id = r.entity
        LEFT JOIN partition AS p ON p.id = r.partition
        WHERE e.package = ? AND r.deleted = 0 ORDER BY e.name, r.key
        """, .integer(store.packageNumber))
      for row in rows {
        guard let number = row[0].integer, let position = store.entityPositions[number],
          let key = row[1].text, let body = row[2].blob,
          let values = try? RowCoder.decode(
            body, types: package.entities[position].attributes.map(\.type))
        else { throw SQLiteError.damaged("a row of the cache cannot be read") }
        let name = ObjectName(entity: package.entities[position].name, key: Key(text: key))
        found.append((name, values, row[3].text))
      }
      return found
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
}
