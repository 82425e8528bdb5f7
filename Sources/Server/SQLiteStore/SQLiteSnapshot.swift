import FerryModel
import FerrySQLite
import FerryServer
import FerryWire

/// One state of the store, as a connection that is in a transaction sees it.
struct SQLiteSnapshot: StoreSnapshot {
  let clock: Int64
  private let numbers: PackageNumbers
  private let connection: Connection

  init(_ numbers: PackageNumbers, _ connection: Connection) throws(StoreError) {
    self.numbers = numbers
    self.connection = connection
    clock = try sql { () throws(SQLiteError) in
      try connection.value("SELECT version FROM package WHERE id = ?", numbers.value)?.integer ?? 0
    }
  }

  func eras() throws(StoreError) -> EraList {
    let rows = try sql { () throws(SQLiteError) in
      try connection.rows(
        "SELECT id, first_version FROM era WHERE package = ? ORDER BY number", numbers.value)
    }
    return EraList(
      eras: rows.compactMap { row in
        guard let id = row[0].text, let first = row[1].integer else { return nil }
        return EraList.Era(id: id, firstVersion: first)
      })
  }

  func partition(_ number: Int64) throws(StoreError) -> PartitionState? {
    let row = try sql { () throws(SQLiteError) in
      try connection.row(
        "SELECT version, floor, sum, count, loaded FROM partition WHERE id = ?", .integer(number))
    }
    guard let row, let version = row[0].integer, let floor = row[1].integer,
      let sum = row[2].integer, let count = row[3].integer
    else { return nil }
    return PartitionState(
      number: number, version: version, floor: floor, sum: UInt64(bitPattern: sum), count: count,
      isLoaded: row[4].integer == 1)
  }

  /// One range scan.
  func page(
    _ partition: Int64, from: Cursor, upTo: Int64, _ limits: ServiceLimits
  ) throws(StoreError) -> Page {
    var writer = RowsPageWriter()
    var to = Cursor.end(of: clock)
    var last = from
    do {
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
      while try statement.step() {
        guard writer.rowCount < limits.pageRows, writer.byteCount < limits.pageBytes else {
          to = last
          break
        }
        guard let position = numbers.positions[statement.integer(at: 3)] else {
          throw StoreError.damaged("a row of another package is in partition \(partition)")
        }
        let entity = numbers.package.entities[position]
        last = Cursor(version: statement.integer(at: 0), row: statement.integer(at: 1))
        if statement.integer(at: 2) == 0 {
          statement.withBytes(at: 5, isText: false) { writer.row(entity, body: $0) }
        } else if from != .start {
          writer.left(entity, key: ObjectKey(text: statement.text(at: 4)))
        }
      }
    } catch let error as SQLiteError {
      throw StoreError(error)
    } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError(.other, "\(error)")
    }
    let json = writer.json(partition: partition, from: from, to: to, at: clock)
    return Page(
      to: to, at: clock, bytes: Frame(.rows, json).encoded(), rows: writer.rowCount)
  }

  func rows(
    of entity: Int, in partition: Int64, after key: ObjectKey?, count: Int
  ) throws(StoreError) -> [CachedRow] {
    guard let number = numbers.positions.first(where: { $0.value == entity })?.key else {
      return []
    }
    let rows = try sql { () throws(SQLiteError) in
      try connection.rows(
        """
        SELECT id, key, partition, body, hash, version, deleted FROM row
        WHERE entity = ? AND partition = ? AND deleted = 0 AND key > ? ORDER BY key LIMIT ?
        """, .integer(number), .integer(partition), .text(key?.text ?? ""), .integer(Int64(count)))
    }
    return try rows.map { row throws(StoreError) in try SQLiteStore.cached(row, entity) }
  }

  func answers(
    group: String, _ owner: Owner, open: [OperationID], upTo: Int64
  ) throws(StoreError) -> [Answer] {
    var rows = try sql { () throws(SQLiteError) in
      var rows = try connection.rows(
        """
        SELECT answer_version, sequence, answer, id FROM operation
        WHERE device = ? AND user = ? AND state = 'answered' AND package = ? AND group_name = ?
          AND answer_version <= ?
        """, .text(owner.device.text), .text(owner.user.text), numbers.value, .text(group),
        .integer(upTo))
      let known = Set(rows.compactMap { $0[3].text })
      for id in open where !known.contains(id.text) {
        rows += try connection.rows(
          """
          SELECT answer_version, sequence, answer, id FROM operation
          WHERE id = ? AND user = ? AND state = 'answered' AND package = ? AND group_name = ?
            AND answer_version <= ?
          """, .text(id.text), .text(owner.user.text), numbers.value, .text(group), .integer(upTo))
      }
      return rows
    }
    rows.sort {
      ($0[0].integer ?? 0, $0[1].integer ?? 0) < ($1[0].integer ?? 0, $1[1].integer ?? 0)
    }
    return try rows.map { row throws(StoreError) in
      guard let json = row[2].blob, let answer = try? Answer(json: json) else {
        throw StoreError.damaged("the answer of \(row[3].text ?? "an operation") cannot be read")
      }
      return answer
    }
  }
}
