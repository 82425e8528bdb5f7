import FerryModel
import FerryPostgreSQL
import FerryServer
import FerryWire

/// What is needed to read the rows of a package: its number in the store, and its entities by theirs.
struct PackageNumbers: Sendable {
  let package: Package
  let number: Int64
  let positions: [Int64: Int]

  var value: PostgreSQLValue { .integer(number) }
}

/// One state of the store, as the reader's transaction sees it.
struct PostgreSQLSnapshot: StoreSnapshot {
  let clock: Int64
  private let isLoaded: Bool
  private let eraList: EraList
  private let numbers: PackageNumbers
  private let line: Line

  /// Begins the transaction; whoever makes one ends it.
  init(_ numbers: PackageNumbers, _ line: Line) throws(StoreError) {
    self.numbers = numbers
    self.line = line
    let answers = try line.begin(
      "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
      [
        PostgreSQLConnection.Request(PostgreSQLStore.clock, [numbers.value]),
        PostgreSQLConnection.Request(
          "SELECT loaded FROM ferry_store.package WHERE id = $1", [numbers.value]),
        PostgreSQLConnection.Request(PostgreSQLSnapshot.eras, [numbers.value]),
      ])
    clock = answers[0].integer(0, 0) ?? 0
    isLoaded = answers[1].first?.flag(0, 0) ?? false
    eraList = PostgreSQLSnapshot.eras(answers[2])
  }

  static let eras: String =
    "SELECT id, first_version FROM ferry_store.era WHERE package = $1 ORDER BY number"

  static func eras(_ rows: PostgreSQLRows) -> EraList {
    EraList(
      eras: (0..<rows.count).compactMap { row in
        guard let id = rows.text(row, 0), let first = rows.integer(row, 1) else { return nil }
        return EraList.Era(id: id, firstVersion: first)
      })
  }

  func eras() -> EraList { eraList }

  func partition(_ number: Int64) throws(StoreError) -> PartitionState? {
    let rows = try line.rows(
      """
      SELECT id, version, floor, sum, count FROM ferry_store.partition
      WHERE id = $1 AND package = $2
      """, [.integer(number), numbers.value])
    return PostgreSQLSnapshot.states(rows, isLoaded: isLoaded).first
  }

  /// Of rows with number, version, floor, sum and count.
  static func states(_ rows: PostgreSQLRows, isLoaded: Bool) -> [PartitionState] {
    (0..<rows.count).compactMap { row in
      guard let number = rows.integer(row, 0), let version = rows.integer(row, 1),
        let floor = rows.integer(row, 2), let sum = rows.integer(row, 3),
        let count = rows.integer(row, 4)
      else { return nil }
      return PartitionState(
        number: number, version: version, floor: floor, sum: UInt64(bitPattern: sum),
        count: count, isLoaded: isLoaded)
    }
  }

  /// One range scan.
  func page(
    _ partition: Int64, from: Cursor, upTo: Int64, _ limits: ServiceLimits
  ) throws(StoreError) -> Page {
    var writer = RowsPageWriter()
    var to = Cursor.end(of: clock)
    var last = from
    let rows = try line.rows(
      """
      SELECT m.version, m.row, m.has_left, r.entity, r.key, CASE WHEN NOT m.has_left THEN r.body END
      FROM ferry_store.member AS m JOIN ferry_store.row AS r ON r.id = m.row
      WHERE m.partition = $1 AND (m.version, m.row) > ($2, $3) AND m.version <= $4
      ORDER BY m.version, m.row LIMIT $5
      """,
      [
        .integer(partition), .integer(from.version), .integer(from.row), .integer(upTo),
        .integer(Int64(limits.pageRows) + 1),
      ])
    for row in 0..<rows.count {
      guard writer.rowCount < limits.pageRows, writer.byteCount < limits.pageBytes else {
        to = last
        break
      }
      guard let number = rows.integer(row, 3), let position = numbers.positions[number],
        let version = rows.integer(row, 0), let id = rows.integer(row, 1),
        let key = rows.text(row, 4)
      else { throw StoreError.damaged("a row of another package is in partition \(partition)") }
      let entity = numbers.package.entities[position]
      last = Cursor(version: version, row: id)
      if !rows.flag(row, 2) {
        _ = rows.bytes(row, 5) { writer.row(entity, body: $0) }
      } else if from != .start {
        writer.left(entity, key: ObjectKey(text: KeptText.decode(key)))
      }
    }
    // Leaves that a start leaves out count for nothing in the page, and may fill it.
    if rows.count > limits.pageRows, to == .end(of: clock) { to = last }
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
    let rows = try line.rows(
      """
      SELECT \(PostgreSQLStore.rowColumns) FROM ferry_store.row AS r
      WHERE r.entity = $1 AND r.partition = $2 AND NOT r.deleted AND r.key > $3
      ORDER BY r.key LIMIT $4
      """,
      [
        .integer(number), .integer(partition), .exact(key?.text ?? ""), .integer(Int64(count)),
      ])
    return try PostgreSQLStore.cached(rows, entity)
  }

  func answers(
    group: String, _ owner: Owner, open: [OperationID], upTo: Int64
  ) throws(StoreError) -> [Answer] {
    let rows = try line.rows(
      """
      SELECT answer, id FROM ferry_store.operation
      WHERE user_name = $1 AND state = 'answered' AND package = $3 AND group_name = $4
        AND answer_version <= $5 AND (device = $2 OR id = ANY($6::text[]))
      ORDER BY answer_version, sequence
      """,
      [
        .exact(owner.user), .exact(owner.device), numbers.value, .exact(group), .integer(upTo),
        .texts(open.map(\.text)),
      ])
    var answers: [Answer] = []
    for row in 0..<rows.count {
      guard let json = rows.blob(row, 0), let answer = try? Answer(json: json) else {
        throw StoreError.damaged(
          "the answer of \(rows.text(row, 1) ?? "an operation") cannot be read")
      }
      answers.append(answer)
    }
    return answers
  }
}
