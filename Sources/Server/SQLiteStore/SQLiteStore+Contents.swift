import FerryConnector
import FerryModel
import FerrySQLite
import FerryServer

extension SQLiteStore {
  package func content(
    _ user: String, _ reference: BigReference
  ) throws(StoreError) -> StoredContent? {
    let row = try sql { () throws(SQLiteError) in
      try writer.row(
        "SELECT id, stored, state FROM content WHERE package = ? AND user = ? AND reference = ?",
        number, .text(user), .text(reference.description))
    }
    guard let row, let id = row[0].integer, let stored = row[1].integer,
      let state = row[2].text.flatMap(StoredContent.State.init(rawValue:))
    else { return nil }
    return StoredContent(id: id, stored: stored, state: state)
  }

  package func beginContent(
    _ user: String, _ reference: BigReference
  ) throws(StoreError) -> StoredContent {
    try sql { () throws(SQLiteError) in
      try writer.run(
        """
        INSERT INTO content (package, user, reference, stored, state, day)
        SELECT ?, ?, ?, 0, 'arriving', days FROM server
        """, number, .text(user), .text(reference.description))
      return StoredContent(id: writer.lastInsertRowID, stored: 0, state: .arriving)
    }
  }

  package func appendContent(
    _ id: Int64, at start: Int64, _ bytes: [UInt8]
  ) throws(StoreError) {
    try transaction { () throws(StoreError) in
      try sql { () throws(SQLiteError) in
        try writer.run(
          "INSERT INTO content_piece (content, start, bytes) VALUES (?, ?, ?)", .integer(id),
          .integer(start), .blob(bytes))
        try writer.run(
          "UPDATE content SET stored = ?, day = (SELECT days FROM server) WHERE id = ?",
          .integer(start + Int64(bytes.count)), .integer(id))
      }
    }
  }

  package func setContent(_ id: Int64, _ state: StoredContent.State) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      try writer.run(
        "UPDATE content SET state = ? WHERE id = ?", .text(state.rawValue), .integer(id))
    }
  }

  package func contentPiece(_ id: Int64, at offset: Int64) throws(StoreError) -> [UInt8] {
    try sql { () throws(SQLiteError) in try SQLiteStore.piece(id, at: offset, writer) }
  }

  private static func piece(
    _ id: Int64, at offset: Int64, _ connection: Connection
  ) throws(SQLiteError) -> [UInt8] {
    let row = try connection.row(
      """
      SELECT start, bytes FROM content_piece WHERE content = ? AND start <= ?
      ORDER BY start DESC LIMIT 1
      """, .integer(id), .integer(offset))
    guard let row, let start = row[0].integer, let bytes = row[1].blob else { return [] }
    return Array(bytes.dropFirst(Int(clamping: offset - start)))
  }

  package func contentBytes(of user: String) throws(StoreError) -> Int64 {
    try sql { () throws(SQLiteError) in
      try writer.value(
        "SELECT sum(stored) FROM content WHERE package = ? AND user = ?", number, .text(user))?
        .integer ?? 0
    }
  }

  package func discardContents(_ ids: [Int64]) throws(StoreError) {
    try sql { () throws(SQLiteError) in
      try writer.transaction { () throws(SQLiteError) in
        for id in ids {
          try writer.run("DELETE FROM content WHERE id = ?", .integer(id))
          try writer.run("DELETE FROM content_piece WHERE content = ?", .integer(id))
        }
      }
    }
  }

  package func oldContents(
    days: Int64
  ) throws(StoreError) -> [(id: Int64, user: String, reference: BigReference?)] {
    let rows = try sql { () throws(SQLiteError) in
      try writer.rows(
        """
        SELECT id, user, reference FROM content
        WHERE package = ? AND day < (SELECT days FROM server) - ?
        """, number, .integer(days))
    }
    return rows.compactMap { row in
      row[0].integer.map { ($0, row[1].text ?? "", row[2].text.flatMap(BigReference.init)) }
    }
  }

  /// Each piece with a connection of its own, which costs little beside its bytes.
  package func contentReader(
    _ id: Int64
  ) -> @Sendable (Int64) throws(ConnectorError) -> [UInt8] {
    let (path, vfs) = (path, vfs)
    return { offset throws(ConnectorError) in
      do throws(SQLiteError) {
        let connection = try Connection(path: path, mode: .readOnly, vfs: vfs)
        return try SQLiteStore.piece(id, at: offset, connection)
      } catch {
        throw ConnectorError(
          "The server's store could not be read: \(error.message)",
          hint: "It is tried again; nothing was done.", isTransient: true)
      }
    }
  }
}
