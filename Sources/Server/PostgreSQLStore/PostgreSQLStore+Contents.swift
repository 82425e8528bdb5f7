import FerryConnector
import FerryModel
import FerryPostgreSQL
import FerryServer

extension PostgreSQLStore {
  package func content(
    _ user: String, _ reference: BigReference
  ) throws(StoreError) -> StoredContent? {
    let rows = try rows(
      """
      SELECT id, stored, state FROM ferry_store.content
      WHERE package = $1 AND user_name = $2 AND reference = $3
      """, [number, .exact(user), .exact(reference.description)])
    guard rows.count == 1, let id = rows.integer(0, 0), let stored = rows.integer(0, 1),
      let state = rows.text(0, 2).flatMap(StoredContent.State.init(rawValue:))
    else { return nil }
    return StoredContent(id: id, stored: stored, state: state)
  }

  package func beginContent(
    _ user: String, _ reference: BigReference
  ) throws(StoreError) -> StoredContent {
    let rows = try rows(
      """
      INSERT INTO ferry_store.content (package, user_name, reference, stored, state, day)
      SELECT $1, $2, $3, 0, 'arriving', days FROM ferry_store.server RETURNING id
      """, [number, .exact(user), .exact(reference.description)])
    guard rows.count == 1, let id = rows.integer(0, 0) else {
      throw StoreError.damaged("a content has no number")
    }
    return StoredContent(id: id, stored: 0, state: .arriving)
  }

  package func appendContent(
    _ id: Int64, at start: Int64, _ bytes: [UInt8]
  ) throws(StoreError) {
    try write([
      PostgreSQLConnection.Request(
        "INSERT INTO ferry_store.content_piece (content, start, bytes) VALUES ($1, $2, $3)",
        [.integer(id), .integer(start), .bytes(bytes)]),
      PostgreSQLConnection.Request(
        "UPDATE ferry_store.content SET stored = $1, day = \(PostgreSQLStore.today) WHERE id = $2",
        [.integer(start + Int64(bytes.count)), .integer(id)]),
    ])
  }

  package func setContent(_ id: Int64, _ state: StoredContent.State) throws(StoreError) {
    try write(
      "UPDATE ferry_store.content SET state = $1 WHERE id = $2",
      [.text(state.rawValue), .integer(id)])
  }

  private static let piece: String = """
    SELECT start, bytes FROM ferry_store.content_piece WHERE content = $1 AND start <= $2
    ORDER BY start DESC LIMIT 1
    """

  private static func piece(_ rows: PostgreSQLRows, at offset: Int64) -> [UInt8] {
    guard rows.count == 1, let start = rows.integer(0, 0), let bytes = rows.blob(0, 1) else {
      return []
    }
    return Array(bytes.dropFirst(Int(clamping: offset - start)))
  }

  package func contentPiece(_ id: Int64, at offset: Int64) throws(StoreError) -> [UInt8] {
    PostgreSQLStore.piece(
      try rows(PostgreSQLStore.piece, [.integer(id), .integer(offset)]), at: offset)
  }

  package func contentBytes(of user: String) throws(StoreError) -> Int64 {
    try rows(
      """
      SELECT coalesce(sum(stored), 0)::int8 FROM ferry_store.content
      WHERE package = $1 AND user_name = $2
      """, [number, .exact(user)]
    ).integer(0, 0) ?? 0
  }

  package func discardContents(_ ids: [Int64]) throws(StoreError) {
    guard !ids.isEmpty else { return }
    try write([
      PostgreSQLConnection.Request(
        "DELETE FROM ferry_store.content WHERE id = ANY($1::int8[])", [.integers(ids)]),
      PostgreSQLConnection.Request(
        "DELETE FROM ferry_store.content_piece WHERE content = ANY($1::int8[])", [.integers(ids)]),
    ])
  }

  package func oldContents(
    days: Int64
  ) throws(StoreError) -> [(id: Int64, user: String, reference: BigReference?)] {
    let rows = try rows(
      """
      SELECT id, user_name, reference FROM ferry_store.content
      WHERE package = $1 AND day < \(PostgreSQLStore.today) - $2
      """, [number, .integer(days)])
    return (0..<rows.count).compactMap { row in
      rows.integer(row, 0).map { id in
        (id, rows.exact(row, 1) ?? "", rows.exact(row, 2).flatMap(BigReference.init))
      }
    }
  }

  /// Each piece with a connection of its own, which costs little beside its bytes.
  package func contentReader(
    _ id: Int64
  ) -> @Sendable (Int64) throws(ConnectorError) -> [UInt8] {
    let address = address
    return { offset throws(ConnectorError) in
      do throws(PostgreSQLError) {
        let connection = try PostgreSQLConnection(
          address, deadlines: Line.deadlines, application: "ferryd contents")
        let rows = try connection.rows(PostgreSQLStore.piece, [.integer(id), .integer(offset)])
        return PostgreSQLStore.piece(rows, at: offset)
      } catch {
        throw ConnectorError(
          "The server's store could not be read: \(error.message)",
          hint: "It is tried again; nothing was done.", isTransient: true)
      }
    }
  }
}
