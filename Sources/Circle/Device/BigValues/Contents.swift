import FerryModel
import FerrySQLite

/// The contents on this device: their pieces go in and out, each in a transaction of its own, so
/// that memory and the writer's patience are those of one piece.
package struct Contents {
  let store: Store

  package init(_ store: Store) { self.store = store }

  package var pieceBytes: Int { store.contentSizes.piece }
  /// How long a content that nobody finished writing is kept: longer than anyone writes.
  private static let draftLife: Duration = .seconds(24 * 3_600)

  /// A content as far as it is here.
  package struct Entry: Sendable, Equatable {
    package let number: Int64
    package let sizeBytes: Int64
    package let storedBytes: Int64
    package var isWhole: Bool { storedBytes == sizeBytes }
  }

  package func entry(_ reference: BigReference) throws(FerryError) -> Entry? {
    try store.read { connection throws(SQLiteError) in
      try Contents.entry(reference, connection)
    }
  }

  static func entry(
    _ reference: BigReference, _ connection: Connection
  ) throws(SQLiteError) -> Entry? {
    let row = try connection.row(
      "SELECT number, size, stored FROM ferry_content WHERE reference = ?",
      .text(reference.description))
    guard let row, let number = row[0].integer, let size = row[1].integer,
      let stored = row[2].integer
    else { return nil }
    return Entry(number: number, sizeBytes: size, storedBytes: stored)
  }

  /// Begins a content that is written here; its reference is known when it is whole.
  func beginDraft() throws(FerryError) -> Int64 {
    try store.write { connection throws(SQLiteError) in
      try connection.run(
        "INSERT INTO ferry_content (made) VALUES (?)", .integer(now))
      return connection.lastInsertRowID
    }
  }

  /// Begins a content that is downloaded, or finds how far it is here.
  package func beginDownload(_ reference: BigReference) throws(FerryError) -> Entry {
    try store.write { connection throws(SQLiteError) in
      if let entry = try Contents.entry(reference, connection) { return entry }
      try connection.run(
        "INSERT INTO ferry_content (reference, size, made) VALUES (?, ?, ?)",
        .text(reference.description), .integer(reference.sizeBytes), .integer(now))
      return Entry(
        number: connection.lastInsertRowID, sizeBytes: reference.sizeBytes, storedBytes: 0)
    }
  }

  /// Keeps a piece where it follows what is here; false where somebody else was faster, or the
  /// content is no longer wanted.
  package func append(
    _ bytes: [UInt8], to number: Int64, at start: Int64
  ) throws(FerryError) -> Bool {
    try store.write { connection throws(SQLiteError) in
      try connection.run(
        "UPDATE ferry_content SET stored = stored + ?1 WHERE number = ?2 AND stored = ?3",
        .integer(Int64(bytes.count)), .integer(number), .integer(start))
      guard connection.changes == 1 else { return false }
      try connection.run(
        "INSERT INTO ferry_content_piece (content, start, bytes) VALUES (?, ?, ?)",
        .integer(number), .integer(start), .blob(bytes))
      return true
    }
  }

  /// The piece in which `offset` lies; nil behind the end.
  func piece(
    of number: Int64, at offset: Int64
  ) throws(FerryError) -> (start: Int64, bytes: [UInt8])? {
    try store.read { connection throws(SQLiteError) in
      let row = try connection.row(
        """
        SELECT start, bytes FROM ferry_content_piece WHERE content = ? AND start <= ?
        ORDER BY start DESC LIMIT 1
        """, .integer(number), .integer(offset))
      guard let row, let start = row[0].integer, let bytes = row[1].blob,
        offset < start + Int64(bytes.count)
      else { return nil }
      return (start, bytes)
    }
  }

  /// At most one piece of what is here, from `offset` on; empty behind the end.
  package func bytes(of number: Int64, from offset: Int64) throws(FerryError) -> [UInt8] {
    guard let piece = try piece(of: number, at: offset) else { return [] }
    return Array(piece.bytes.dropFirst(Int(offset - piece.start)))
  }

  package func discard(_ number: Int64) throws(FerryError) {
    try store.write { connection throws(SQLiteError) in
      try Contents.discard(number, connection)
    }
  }

  static func discard(_ number: Int64, _ connection: Connection) throws(SQLiteError) {
    try connection.run("DELETE FROM ferry_content WHERE number = ?", .integer(number))
    try connection.run("DELETE FROM ferry_content_piece WHERE content = ?", .integer(number))
  }

  /// Gives a draft its reference, inside the transaction that puts the reference into the row. The
  /// same content, whole already, is kept instead.
  static func finish(
    _ number: Int64, as reference: BigReference, _ connection: Connection
  ) throws(SQLiteError) {
    if let known = try entry(reference, connection) {
      guard !known.isWhole else { return try discard(number, connection) }
      try discard(known.number, connection)
    }
    try connection.run(
      "UPDATE ferry_content SET reference = ?, size = stored WHERE number = ?",
      .text(reference.description), .integer(number))
  }

  private var now: Int64 { store.world.clock.now.milliseconds }

  /// Throws away what was begun and left by a process that is no more.
  ///
  /// Also what was begun while the clock was wrong, and seems to lie ahead.
  package func discardOldDrafts() throws(FerryError) {
    let life = Contents.draftLife.components.seconds * 1_000
    let now = now
    try store.write { connection throws(SQLiteError) in
      let old = try connection.rows(
        """
        SELECT number FROM ferry_content
        WHERE reference IS NULL AND (made < ?1 - ?2 OR made > ?1 + ?2)
        """, .integer(now), .integer(life))
      for number in old.compactMap({ $0[0].integer }) {
        try Contents.discard(number, connection)
      }
    }
  }

  /// The same in a transaction of its own, whatever the model has now.
  package func sweep() throws(FerryError) {
    try store.write { connection throws(SQLiteError) in try sweep(connection, always: true) }
  }

  /// Throws away contents that no row and no pending change names any more: a change may wait behind
  /// one that hides its row or shows another content. Inside the transaction that may have let go of
  /// one; `always` also where the model has no big values, since an older one may have had some.
  func sweep(
    _ connection: Connection, always: Bool = false
  ) throws(SQLiteError) {
    guard always || !store.bigAttributes.isEmpty else { return }
    // A change that was taken back before it was sent may have another content by now, or none.
    try connection.run(
      """
      DELETE FROM ferry_upload WHERE NOT EXISTS (
        SELECT 1 FROM ferry_operation AS owner WHERE owner.id = ferry_upload.operation
        AND (owner.state NOT IN ('waiting', 'replayFailed')
          OR instr(owner.changed, ferry_upload.reference)))
      """)
    let rows = store.bigAttributes.flatMap { entity, attribute in
      [Schema.table(entity), Schema.original(entity)].map { table in
        "AND NOT EXISTS (SELECT 1 FROM \(table) AS place "
          + "WHERE place.\(quoted(attribute.name)) = ferry_content.reference)"
      }
    }
    let loose = try connection.rows(
      """
      SELECT number FROM ferry_content WHERE reference IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM ferry_kept WHERE instr(content, ferry_content.reference))
      AND NOT EXISTS (SELECT 1 FROM ferry_upload WHERE ferry_upload.reference =
        ferry_content.reference) \(rows.joined(separator: " "))
      AND NOT EXISTS (SELECT 1 FROM ferry_operation WHERE state <> 'withdrawn'
        AND instr(changed, ferry_content.reference))
      """)
    for number in loose.compactMap({ $0[0].integer }) {
      try Contents.discard(number, connection)
    }
  }
}
