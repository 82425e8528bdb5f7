import FerryConnector
import FerryModel
import FerrySQLite
import FerryServer

extension SQLiteStore {
  package func isLoaded() throws(StoreError) -> Bool {
    try sql { () throws(SQLiteError) in
      try writer.value("SELECT loaded FROM package WHERE id = ?", number)?.integer == 1
    }
  }

  package func emptyStage() throws(StoreError) {
    try sql { () throws(SQLiteError) in
      try writer.transaction { () throws(SQLiteError) in
        try writer.run(
          "DELETE FROM staged WHERE entity IN (SELECT id FROM entity WHERE package = ?)", number)
        try writer.run("DELETE FROM staged_rejected WHERE package = ?", number)
      }
    }
  }

  package func stage(_ rows: [StagedRow]) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      for row in rows {
        try writer.run(
          """
          INSERT INTO staged (entity, key, body, moment) VALUES (?, ?, ?, ?)
          ON CONFLICT DO UPDATE SET body = excluded.body, moment = excluded.moment
          """, number(of: row.name.entity), .text(row.name.key.text), .blob(row.body),
          .integer(row.moment))
      }
    }
  }

  package func stage(rejected rows: [RejectedRow]) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      for row in rows {
        try writer.run(
          """
          INSERT INTO staged_rejected (package, entity, key, attribute, reason)
          VALUES (?, ?, ?, ?, ?)
          """, number, .text(row.entity), .text(row.key), .text(row.attribute), .text(row.reason))
      }
    }
  }

  package func nextStaged(limit: Int) throws(StoreError) -> [StagedRow] {
    let rows = try sql { () throws(SQLiteError) in
      try writer.rows(
        """
        SELECT entity, key, body, moment FROM staged
        WHERE entity IN (SELECT id FROM entity WHERE package = ?) ORDER BY entity, key LIMIT ?
        """, number, .integer(Int64(limit)))
    }
    return try rows.map { row throws(StoreError) in
      guard let number = row[0].integer, let entity = entityPositions[number],
        let key = row[1].text, let body = row[2].blob, let moment = row[3].integer
      else { throw StoreError.damaged("a staged row lacks a value") }
      return StagedRow(RowName(entity, ObjectKey(text: key)), body: body, moment: moment)
    }
  }

  package func dropStaged(_ names: [RowName]) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      for name in names {
        try writer.run(
          "DELETE FROM staged WHERE entity = ? AND key = ?", number(of: name.entity),
          .text(name.key.text))
      }
    }
  }

  package func note(
    rejected rows: [RejectedRow], fitting: [ObjectName]
  ) throws(StoreError) {
    // An entity's name has no blank. One pass over the table forgets all of them.
    let names =
      rows.map { "\($0.entity) \($0.key)" } + fitting.map { "\($0.entity) \($0.key.text)" }
    guard !names.isEmpty else { return }
    try sql { () throws(SQLiteError) in
      try writer.run(
        """
        DELETE FROM rejected WHERE package = ?
          AND entity || ' ' || key IN (SELECT value FROM json_each(?))
        """, number,
        .text(
          String(decoding: RowCoder.encode(names.map(AttributeValue.text)), as: UTF8.self)))
      for row in rows {
        try writer.run(
          "INSERT INTO rejected (package, entity, key, attribute, reason) VALUES (?, ?, ?, ?, ?)",
          number, .text(row.entity), .text(row.key), .text(row.attribute), .text(row.reason))
      }
    }
  }

  package func rejectedRows() throws(StoreError) -> RejectedRows {
    try sql { () throws(SQLiteError) in
      let count = try writer.value("SELECT count(*) FROM rejected WHERE package = ?", number)?
        .integer
      let row = try writer.row(
        """
        SELECT entity, key, attribute, reason FROM rejected WHERE package = ?
        ORDER BY rowid DESC LIMIT 1
        """, number)
      return RejectedRows(
        count: Int(count ?? 0),
        example: row.map {
          RejectedRow(
            entity: $0[0].text ?? "", key: $0[1].text ?? "", attribute: $0[2].text ?? "",
            reason: $0[3].text ?? "")
        })
    }
  }

  package func absentRows(
    of entities: [Int]?, isSeen: (Int64) -> Bool
  ) throws(StoreError) -> [(partition: Int64, rows: [Int64], live: Int64)] {
    var found: [Int64: [Int64]] = [:]
    var live: [Int64: Int64] = [:]
    try sql { () throws(SQLiteError) in
      for number in entities.map({ $0.map { entityNumbers[$0] } }) ?? entityNumbers {
        let statement = try writer.statement(
          "SELECT id, partition FROM row WHERE entity = ? AND deleted = 0 ORDER BY id")
        defer { statement.reset() }
        try statement.bind(number, at: 0)
        while try statement.step() {
          let row = statement.integer(at: 0)
          let partition = statement.isNull(at: 1) ? 0 : statement.integer(at: 1)
          live[partition, default: 0] += 1
          if !isSeen(row) { found[partition, default: []].append(row) }
        }
      }
    }
    return found.keys.sorted().map { ($0, found[$0] ?? [], live[$0] ?? 0) }
  }

  package func name(
    ofRow id: Int64
  ) throws(StoreError) -> (name: RowName, version: Int64)? {
    let row = try sql { () throws(SQLiteError) in
      try writer.row(
        "SELECT entity, key, version FROM row WHERE id = ? AND deleted = 0", .integer(id))
    }
    guard let row, let number = row[0].integer, let entity = entityPositions[number],
      let key = row[1].text, let version = row[2].integer
    else { return nil }
    return (RowName(entity, ObjectKey(text: key)), version)
  }

  package func closeLoad(
    _ transaction: NumberedTransaction, of entities: [String]?
  ) throws(StoreError) -> Set<Int64> {
    let isFirst = try !isLoaded()
    if isFirst { transaction.hasWritten = true }
    return try sql { () throws(SQLiteError) in
      let fresh = try writer.rows(
        "SELECT id FROM partition WHERE package = ? AND loaded = 0", number
      ).compactMap { $0[0].integer }
      if isFirst {
        try writer.run("UPDATE package SET loaded = 1 WHERE id = ?", number)
        try writer.run(
          "UPDATE partition SET loaded = 1, version = ? WHERE package = ? AND loaded = 0",
          .integer(transaction.version), number)
      }
      if let entities {
        for entity in entities {
          try writer.run(
            "DELETE FROM rejected WHERE package = ? AND entity = ?", number, .text(entity))
        }
      } else {
        try writer.run("DELETE FROM rejected WHERE package = ?", number)
      }
      try writer.run(
        """
        INSERT INTO rejected (package, entity, key, attribute, reason)
        SELECT package, entity, key, attribute, reason FROM staged_rejected WHERE package = ?
        """, number)
      try writer.run("DELETE FROM staged_rejected WHERE package = ?", number)
      return Set(fresh)
    }
  }

  package func sourceCursor() throws(StoreError) -> String? {
    try sql { () throws(SQLiteError) in
      try writer.value("SELECT text FROM source_cursor WHERE package = ?", number)?.text
    }
  }

  package func keep(sourceCursor: String) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      try writer.run(
        """
        INSERT INTO source_cursor (package, text) VALUES (?, ?)
        ON CONFLICT DO UPDATE SET text = excluded.text
        """, number, .text(sourceCursor))
    }
  }
}
