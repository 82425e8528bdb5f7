import FerryModel
import FerrySQLite
import FerryServer

extension SQLiteStore {
  package func partition(at place: Place) throws(StoreError) -> Int64? {
    try sql { () throws(SQLiteError) in
      try writer.value(
        "SELECT id FROM partition WHERE package = ? AND group_name = ? AND rule = ? AND place = ?",
        number, .text(place.group.text), .text(place.rule.text), .text(place.values.text))?.integer
    }
  }

  package func place(of partition: Int64) throws(StoreError) -> Place? {
    let row = try sql { () throws(SQLiteError) in
      try writer.row(
        "SELECT group_name, rule, place FROM partition WHERE id = ?", .integer(partition))
    }
    guard let row, let group = row[0].text, let rule = row[1].text, let values = row[2].text else {
      return nil
    }
    return Place(group: group, rule: rule, values: values)
  }

  package func places(group: String, rule: String) throws(StoreError) -> [Place] {
    try sql { () throws(SQLiteError) in
      try writer.rows(
        "SELECT place FROM partition WHERE package = ? AND group_name = ? AND rule = ? ORDER BY id",
        number, .text(group), .text(rule)
      ).compactMap { row in row[0].text.map { Place(group: group, rule: rule, values: $0) } }
    }
  }

  package func makePartition(
    _ place: Place, for user: String?, _ transaction: NumberedTransaction
  ) throws(StoreError) -> Int64 {
    transaction.hasWritten = true
    return try sql { () throws(SQLiteError) in
      try writer.run(
        """
        INSERT INTO partition
          (package, group_name, rule, place, version, floor, sum, count, left_count, loaded, asked_by,
           asked_day)
        SELECT p.id, ?, ?, ?, ?, 0, 0, 0, 0, p.loaded, ?, s.days FROM package AS p, server AS s
        WHERE p.id = ?
        """, .text(place.group.text), .text(place.rule.text), .text(place.values.text),
        .integer(transaction.version), .optional(user), number)
      return writer.lastInsertRowID
    }
  }

  package func asked(_ partitions: some Sequence<Int64>) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      for partition in partitions {
        try writer.run(
          """
          UPDATE partition SET asked_day = (SELECT days FROM server)
          WHERE id = ? AND asked_day < (SELECT days FROM server)
          """, .integer(partition))
      }
    }
  }

  package func emptyPartitions(askedBy user: String) throws(StoreError) -> [EmptyPartition] {
    try sql { () throws(SQLiteError) in
      try writer.rows(
        """
        SELECT id, length(CAST(place AS BLOB)) FROM partition
        WHERE package = ? AND asked_by = ? AND count = 0 AND left_count = 0 ORDER BY asked_day, id
        """, number, .text(user)
      ).compactMap { row in
        row[0].integer.map { EmptyPartition(number: $0, bytes: Int(row[1].integer ?? 0)) }
      }
    }
  }

  package func emptyPartitions(unaskedForDays days: Int64) throws(StoreError) -> [Int64] {
    try sql { () throws(SQLiteError) in
      try writer.rows(
        """
        SELECT id FROM partition
        WHERE package = ? AND count = 0 AND asked_day < (SELECT days FROM server) - ? ORDER BY id
        """, number, .integer(days)
      ).compactMap { $0[0].integer }
    }
  }

  package func removePartitions(
    _ partitions: [Int64], _ transaction: NumberedTransaction
  ) throws(StoreError) {
    for partition in partitions {
      transaction.hasWritten = true
      try sql { () throws(SQLiteError) in
        try writer.run("DELETE FROM partition WHERE id = ?", .integer(partition))
      }
    }
  }

  package func borders() throws(StoreError) -> [WindowBorder] {
    try sql { () throws(SQLiteError) in try SQLiteStore.borders(writer, number) }
  }

  static func borders(
    _ connection: Connection, _ package: SQLiteValue
  ) throws(SQLiteError) -> [WindowBorder] {
    try connection.rows(
      """
      SELECT entity, attribute, position, first_day, last_day FROM border
      WHERE package = ? ORDER BY entity
      """, package
    ).compactMap { row in
      WindowBorder(
        entity: row[0].text, attribute: row[1].text, position: row[2].integer,
        first: row[3].integer, last: row[4].integer)
    }
  }

  package func keep(
    _ borders: [WindowBorder], _ transaction: NumberedTransaction
  ) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      for border in borders {
        try writer.run(
          """
          INSERT INTO border (package, entity, attribute, position, first_day, last_day)
          VALUES (?, ?, ?, ?, ?, ?)
          ON CONFLICT DO UPDATE SET attribute = excluded.attribute, position = excluded.position,
            first_day = excluded.first_day, last_day = excluded.last_day
          """, number, .text(border.entity), .text(border.attribute), .integer(border.position),
          .integer(border.days.lowerBound), .integer(border.days.upperBound))
      }
    }
  }
}
