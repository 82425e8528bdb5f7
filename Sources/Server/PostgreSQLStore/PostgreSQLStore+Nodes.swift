import FerryModel
import FerryPostgreSQL
import FerryServer
import FerryWire

extension PostgreSQLStore {
  /// What a node that follows knew at its last look.
  struct Seen {
    var clock: Int64
    var era: String
    var removals: Int64
    var day: Int64
    var isLoaded: Bool
  }

  private static let state: String = """
    SELECT coalesce((SELECT max(version) FROM ferry_store.number WHERE package = $1), 0),
      coalesce((SELECT id FROM ferry_store.era WHERE package = $1 ORDER BY number DESC LIMIT 1), ''),
      p.removals, s.days, p.loaded
    FROM ferry_store.package AS p, ferry_store.server AS s WHERE p.id = $1
    """

  /// All in one snapshot, and one trip.
  package func news() throws(StoreError) -> StoreNews? {
    guard term == nil else { return nil }
    let last = seen?.clock ?? .max
    let answers: [PostgreSQLRows]
    do throws(StoreError) {
      answers = try reader.begin(
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        [
          PostgreSQLConnection.Request(PostgreSQLStore.state, [number]),
          PostgreSQLConnection.Request(
            "SELECT id FROM ferry_store.partition WHERE package = $1 AND version > $2",
            [number, .integer(last)]),
          PostgreSQLConnection.Request(
            """
            SELECT device, user_name, group_name, chain, position = count - 1
            FROM ferry_store.operation WHERE package = $1 AND answer_version > $2
            ORDER BY answer_version, sequence
            """, [number, .integer(last)]),
          PostgreSQLConnection.Request("COMMIT"),
        ])
    } catch {
      reader.rollBack()
      throw error
    }
    reader.rollBack()
    guard answers[0].count == 1, let clock = answers[0].integer(0, 0),
      let era = answers[0].text(0, 1), let removals = answers[0].integer(0, 2),
      let day = answers[0].integer(0, 3)
    else { throw StoreError.damaged("the package has no row") }
    let now = Seen(
      clock: clock, era: era, removals: removals, day: day, isLoaded: answers[0].flag(0, 4))
    var news = StoreNews(clock: clock)
    news.partitions = Set(answers[1].integers)
    news.answered = answered(answers[2])
    if let seen {
      news.isNewEra = now.era != seen.era || now.clock < seen.clock
      news.haveBeenRemoved = now.removals != seen.removals
      news.isNewDay = now.day != seen.day || now.isLoaded != seen.isLoaded
    }
    seen = now
    self.era = era
    note(clock: clock)
    return news
  }

  private func answered(_ rows: PostgreSQLRows) -> [AnsweredOperation] {
    (0..<rows.count).compactMap { row in
      guard let device = rows.exact(row, 0), let user = rows.exact(row, 1),
        let group = rows.exact(row, 2), let chain = rows.text(row, 3).flatMap({ OperationID($0) })
      else { return nil }
      return AnsweredOperation(
        owner: Owner(device: device, user: user), group: group, chain: chain,
        isLastOfChain: rows.flag(row, 4))
    }
  }

  /// The cursor is a snapshot: what it does not show comes, whenever it was begun.
  package func arrivals() throws(StoreError) -> [ReceivedOperation] {
    guard term != nil, let cursor = arrivalCursor else { return [] }
    let rows = try leadRows([
      PostgreSQLConnection.Request(
        """
        SELECT \(PostgreSQLStore.received), s.cursor
        FROM (SELECT pg_catalog.pg_current_snapshot()::text AS cursor) AS s
        LEFT JOIN ferry_store.operation AS o ON o.package = $1 AND o.state = 'stored'
          AND o.touched >= pg_catalog.pg_snapshot_xmin($2::pg_snapshot)
          AND NOT pg_catalog.pg_visible_in_snapshot(o.touched, $2::pg_snapshot)
        ORDER BY o.sequence
        """, [number, .text(cursor)])
    ])[0]
    var arrived: [ReceivedOperation] = []
    for row in 0..<rows.count where !rows.isNull(row, 0) {
      arrived.append(try received(rows, row))
    }
    arrivalCursor = rows.text(0, 8) ?? cursor
    return arrived
  }

  package func waiting(of owner: Owner) throws(StoreError) -> WaitingOperations? {
    // The leader's queue knows what it was given, and groups by what they will be.
    guard term == nil else { return nil }
    let rows = try rows(
      """
      SELECT count(*) FILTER (WHERE device = $2), count(*),
        coalesce(sum(octet_length(payload)), 0)::int8
      FROM ferry_store.operation
      WHERE user_name = $1 AND package = $3 AND state IN ('stored', 'claimed')
      """, [.exact(owner.user), .exact(owner.device), number])
    return WaitingOperations(
      ofDevice: Int(rows.integer(0, 0) ?? 0), ofUser: Int(rows.integer(0, 1) ?? 0),
      bytesOfUser: Int(rows.integer(0, 2) ?? 0))
  }

  package func waitingOperations() throws(StoreError) -> Int? {
    let rows = try rows(
      """
      SELECT count(*) FROM ferry_store.operation
      WHERE package = $1 AND state IN ('stored', 'claimed')
      """, [number])
    return Int(rows.integer(0, 0) ?? 0)
  }

  package func tell(
    _ open: [OperationID], of owner: Owner, hasNews: Bool
  ) throws(StoreError) {
    guard term == nil, !open.isEmpty else { return }
    try write(
      """
      UPDATE ferry_store.operation SET named_in = $1, touched = pg_catalog.pg_current_xact_id()
      WHERE id = ANY($2::text[]) AND user_name = $3 AND device = $4 AND state = 'stored'
        AND ($5 OR named_in IS DISTINCT FROM $1)
      """,
      [
        .text(era), .texts(open.map(\.text)), .exact(owner.user), .exact(owner.device),
        .flag(hasNews),
      ])
  }
}
