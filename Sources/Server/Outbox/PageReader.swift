import FerryModel
import FerrySQLite
import FerryWire

/// A partition as one snapshot shows it.
struct PartitionState {
  let number: Int64
  let version: Int64
  let floor: Int64
  let sum: UInt64
  let count: Int64
  let isLoaded: Bool
}

/// Reads stretches of partitions from a snapshot.
struct PageReader {
  let store: Store
  let limits: ServiceLimits

  func state(_ partition: Int64, _ connection: Connection) throws(SQLiteError) -> PartitionState? {
    let row = try connection.row(
      "SELECT version, floor, sum, count, loaded FROM partition WHERE id = ?", .integer(partition))
    guard let row, let version = row[0].integer, let floor = row[1].integer,
      let sum = row[2].integer, let count = row[3].integer
    else { return nil }
    return PartitionState(
      number: partition, version: version, floor: floor, sum: UInt64(bitPattern: sum), count: count,
      isLoaded: row[4].integer == 1)
  }

  /// The next page after `from`: one range scan.
  func page(
    _ partition: Int64, from: Cursor, _ connection: Connection, clock: Int64, upTo: Int64 = .max
  )
    throws(SQLiteError) -> FrameCache.Page
  {
    let statement = try connection.statement(
      """
      SELECT m.version, m.row, m.left, r.entity, r.key, r.body
      FROM member AS m JOIN row AS r ON r.id = m.row
      WHERE m.partition = ? AND (m.version, m.row) > (?, ?) AND m.version <= ?
      ORDER BY m.version, m.row
      """)
    defer { statement.reset() }
    try statement.bind([
      .integer(partition), .integer(from.version), .integer(from.row), .integer(upTo),
    ])
    var writer = RowsPageWriter()
    var to = Cursor.end(of: clock)
    var last = from
    while try statement.step() {
      guard writer.rowCount < limits.pageRows, writer.byteCount < limits.pageBytes else {
        to = last
        break
      }
      guard let position = store.entityPositions[statement.integer(at: 3)] else {
        throw SQLiteError.damaged("a row of another package is in partition \(partition)")
      }
      let entity = store.package.entities[position]
      last = Cursor(version: statement.integer(at: 0), row: statement.integer(at: 1))
      if statement.integer(at: 2) == 0 {
        statement.withBytes(at: 5, isText: false) { writer.row(entity, body: $0) }
      } else if from != .start {
        writer.left(entity, key: Key(text: statement.text(at: 4)))
      }
    }
    let json = writer.json(partition: partition, from: from, to: to, at: clock)
    return FrameCache.Page(
      to: to, at: clock, bytes: Frame(.rows, json).encoded(), rows: writer.rowCount)
  }

  /// Answers up to the snapshot's clock that the device has not confirmed, in the order of their
  /// numbers.
  func answers(
    group: String, device: String, user: String, open: [OperationID], _ connection: Connection,
    clock: Int64
  ) throws(SQLiteError) -> [Answer] {
    let clock = store.world.has(.answerAfterCheckpoint) ? clock - 1 : clock
    var rows = try connection.rows(
      """
      SELECT answer_version, sequence, answer, id FROM operation
      WHERE device = ? AND user = ? AND state = 'answered' AND package = ? AND group_name = ?
        AND answer_version <= ?
      """, .text(device), .text(user), .integer(store.packageNumber), .text(group), .integer(clock))
    let known = Set(rows.compactMap { $0[3].text })
    for id in open where !known.contains(id.text) {
      rows += try connection.rows(
        """
        SELECT answer_version, sequence, answer, id FROM operation
        WHERE id = ? AND user = ? AND state = 'answered' AND package = ? AND group_name = ?
          AND answer_version <= ?
        """, .text(id.text), .text(user), .integer(store.packageNumber), .text(group),
        .integer(clock))
    }
    rows.sort {
      ($0[0].integer ?? 0, $0[1].integer ?? 0) < ($1[0].integer ?? 0, $1[1].integer ?? 0)
    }
    var answers: [Answer] = []
    for row in rows {
      guard let json = row[2].blob, let answer = try? Answer(json: json) else {
        throw SQLiteError.damaged("the answer of \(row[3].text ?? "an operation") cannot be read")
      }
      answers.append(answer)
    }
    return answers
  }
}
