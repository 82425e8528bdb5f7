import FerryConnector
import FerryModel
import FerryPostgreSQL
import FerryWorld

/// Reads what triggers wrote. Entries are read and never changed; they end by their age.
final class News {
  /// More entries than this become hints at whole entities: memory is bounded.
  static let mostEntries: Int = 20_000
  static let daysOfEntries: Int = 7
  /// Where there are more of them the oldest end sooner: some 3 GB with their index.
  static let mostKept: Int64 = 20_000_000
  /// How long the catalogue is believed.
  static let stateInterval: Duration = .seconds(1)
  static let cleanUpInterval: Duration = .seconds(60)
  /// How long a cursor may be behind where nothing was found.
  static let raiseInterval: Duration = .seconds(3_600)
  /// Under change others are asked for often, and a while longer.
  static let busyTime: Duration = .seconds(2)

  private let comparisonInterval: Duration
  private let clock: any WorldClock
  private var state: CaptureState?
  private var stateEnds: Duration
  private var nextCleanUp: Duration
  private var nextRaise: Duration
  private var nextComparison: Duration
  private var busyUntil: Duration

  init(comparisonInterval: Duration, clock: any WorldClock) {
    self.comparisonInterval = comparisonInterval
    self.clock = clock
    let now = clock.uptime
    (stateEnds, nextCleanUp, nextComparison, busyUntil) = (now, now, now, now)
    nextRaise = now + News.raiseInterval
  }

  /// Whether others changed something a moment ago.
  var isBusy: Bool { clock.uptime < busyUntil }

  /// The next question looks at everything again.
  func forget() { state = nil }

  /// What others changed since the cursor.
  func changes(since text: String?, _ writer: Writer) throws(PostgreSQLError) -> BusinessChanges {
    let now = clock.uptime
    let state = try currentState(writer, now)
    guard let identity = state.identity else { return compared(now, News.unprepared) }
    var wanted: Set<String> = []
    let troubled = state.tables.filter { $0.value.trouble != nil }.keys
    if !troubled.isEmpty, now >= nextComparison {
      nextComparison = now + comparisonInterval
      wanted.formUnion(troubled)
    }
    let digests = state.tables.mapValues(\.digest)
    let shortfall = shortfall(state, writer)
    guard var cursor = EntryCursor(text), cursor.identity == identity,
      let taken = try take(cursor, writer)
    else {
      let cursor = try begin(identity, EntryCursor(text)?.consumer, digests, writer)
      return BusinessChanges(cursor: cursor.text, hints: [.anything], shortfall: shortfall)
    }
    wanted.formUnion(digests.filter { cursor.tables[$0.key] != $0.value }.keys)
    writer.keepOwn(notSeenBy: cursor.snapshot)
    let hints = try hints(taken.rows, wanted, cursor.snapshot, writer)
    if !hints.isEmpty { busyUntil = now + News.busyTime }
    (cursor.snapshot, cursor.number, cursor.tables) = (taken.snapshot, taken.number, digests)
    if now >= nextCleanUp {
      let isMore = try removeOld(writer.connection)
      nextCleanUp = now + (isMore ? .seconds(1) : News.cleanUpInterval)
    }
    return BusinessChanges(cursor: cursor.text, hints: hints, shortfall: shortfall)
  }

  private static let unprepared: String =
    "the business database has no triggers of Ferry, so all its rows are compared again and again; "
    + "run `ferry prepare` to have them"

  /// Nobody tells: everything is compared, once in a while.
  private func compared(_ now: Duration, _ shortfall: String) -> BusinessChanges {
    guard now >= nextComparison else {
      return BusinessChanges(cursor: nil, hints: [], shortfall: shortfall)
    }
    nextComparison = now + comparisonInterval
    return BusinessChanges(cursor: nil, hints: [.anything], shortfall: shortfall)
  }

  private func currentState(
    _ writer: Writer, _ now: Duration
  ) throws(PostgreSQLError) -> CaptureState {
    if let state, now < stateEnds { return state }
    let oids = writer.tables.byOID.keys.sorted()
    let found = try CaptureState(oids, writer.connection)
    stateEnds = now + News.stateInterval
    writer.isPrepared = found.identity != nil
    if let state, state.tables.mapValues(\.shape) != found.tables.mapValues(\.shape) {
      try writer.readTables()
    }
    state = found
    return found
  }

  private func shortfall(_ state: CaptureState, _ writer: Writer) -> String? {
    let troubles = state.tables.compactMap { oid, table in
      let name = writer.tables.byOID[oid]?.first?.schema.name.description ?? oid
      return table.trouble.map { "\(name) \($0)" }
    }
    guard !troubles.isEmpty else { return nil }
    return troubles.sorted().joined(separator: "; ")
      + ". All its rows are compared again and again; run `ferry prepare` to repair it"
  }

  /// The beginning: from here on entries count, and all that was before is to be compared.
  private func begin(
    _ identity: String, _ consumer: String?, _ digests: [String: String], _ writer: Writer
  ) throws(PostgreSQLError) -> EntryCursor {
    let made = try writer.connection.rows(
      """
      INSERT INTO ferry.mark AS m (consumer, epoch, number)
      VALUES (coalesce($1, pg_catalog.gen_random_uuid()::pg_catalog.text),
        pg_catalog.gen_random_uuid()::pg_catalog.text, 1)
      ON CONFLICT (consumer) DO UPDATE SET epoch = excluded.epoch, number = 1, at = excluded.at
      RETURNING consumer, epoch, pg_catalog.pg_current_snapshot()
      """, [consumer.map { .text($0) } ?? .null])
    return EntryCursor(
      identity: identity, consumer: made.text(0, 0) ?? "", epoch: made.text(0, 1) ?? "", number: 1,
      snapshot: made.text(0, 2) ?? "", tables: digests)
  }

  private struct Taken {
    let snapshot: String
    let number: Int64
    /// Transaction, table, old and new key.
    let rows: PostgreSQLRows
  }

  /// Entries of transactions that the cursor did not see. An entry of a transaction that has not
  /// begun yet comes from another cluster, of which this one is a copy.
  private static let isNew: String = """
    (c.xid >= pg_catalog.pg_snapshot_xmax($1::pg_catalog.pg_snapshot)
      OR c.xid = ANY (ARRAY(SELECT pg_catalog.pg_snapshot_xip($1::pg_catalog.pg_snapshot))))
      AND c.xid < pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())
    """

  /// Nil where entries may be missing: they ended before they were read, or the database was set
  /// back. The mark is raised in the same statement, so whoever has it has all that was read.
  ///
  /// Where nothing was found the cursor stays. A server that was killed may give the numbers of
  /// transactions of its last moments again; a raised mark that is still there is behind all of them.
  private func take(_ cursor: EntryCursor, _ writer: Writer) throws(PostgreSQLError) -> Taken? {
    let isDue = clock.uptime >= nextRaise
    let rows = try writer.connection.rows(
      """
      WITH e AS MATERIALIZED (
        SELECT c.xid, c.relation, c.old_key, c.new_key FROM ferry.change AS c
        WHERE \(News.isNew) LIMIT \(News.mostEntries + 1)),
      raised AS (
        UPDATE ferry.mark AS m SET number = m.number + 1, at = pg_catalog.now()
        WHERE m.consumer = $2 AND m.epoch = $3 AND m.number >= $4::pg_catalog.int8
          AND ($5::pg_catalog.bool OR EXISTS (SELECT FROM e))
        RETURNING m.number)
      SELECT e.xid, e.relation, pg_catalog.array_to_json(e.old_key),
        pg_catalog.array_to_json(e.new_key), pg_catalog.pg_current_snapshot(),
        (SELECT f.xid FROM ferry.floor AS f),
        coalesce((SELECT raised.number FROM raised), (SELECT m.number FROM ferry.mark AS m
          WHERE m.consumer = $2 AND m.epoch = $3 AND m.number >= $4::pg_catalog.int8))
      FROM (SELECT 1) AS one LEFT JOIN e ON true
      """,
      [
        .text(cursor.snapshot), .text(cursor.consumer), .text(cursor.epoch),
        .text(String(cursor.number)), .text(isDue ? "t" : "f"),
      ])
    let snapshot = rows.text(0, 4) ?? ""
    let floor = rows.text(0, 5).flatMap { UInt64($0) } ?? .max
    let limits = EntryCursor.limits(cursor.snapshot)
    guard let number = rows.text(0, 6).flatMap({ Int64($0) }), floor < limits.oldest,
      EntryCursor.limits(snapshot).next >= limits.next
    else { return nil }
    guard isDue || rows.text(0, 0) != nil else {
      return Taken(snapshot: cursor.snapshot, number: number, rows: rows)
    }
    nextRaise = clock.uptime + News.raiseInterval
    return Taken(snapshot: snapshot, number: number, rows: rows)
  }

  private func hints(
    _ rows: PostgreSQLRows, _ wanted: Set<String>, _ snapshot: String, _ writer: Writer
  ) throws(PostgreSQLError) -> [ChangeHint] {
    var keys: [String: [ObjectKey]] = [:]
    var seen: [String: Set<ObjectKey>] = [:]
    var whole = Set(wanted.flatMap { writer.tables.byOID[$0] ?? [] }.map(\.entity.name))
    if rows.count > News.mostEntries {
      let relations = try writer.connection.rows(
        "SELECT DISTINCT c.relation FROM ferry.change AS c WHERE \(News.isNew)",
        [.text(snapshot)])
      for row in relations.texts {
        whole.formUnion((writer.tables.byOID[row[0] ?? ""] ?? []).map(\.entity.name))
      }
    } else {
      for row in 0..<rows.count {
        guard let transaction = rows.text(row, 0), !writer.isOwn(transaction) else { continue }
        for table in writer.tables.byOID[rows.text(row, 1) ?? ""] ?? [] {
          let name = table.entity.name
          let texts = [2, 3].compactMap { rows.text(row, $0) }
          let found = texts.compactMap { table.key(ofEntry: $0) }
          if texts.isEmpty || found.count < texts.count { whole.insert(name) }
          for key in found where seen[name, default: []].insert(key).inserted {
            keys[name, default: []].append(key)
          }
        }
      }
    }
    return whole.sorted().map { ChangeHint.entity($0) }
      + keys.sorted { $0.key < $1.key }.filter { !whole.contains($0.key) }
      .map { ChangeHint.objects(entity: $0.key, keys: $0.value) }
  }

  /// Entries end by their age, and sooner where there are too many; marks of consumers that are
  /// lost too. Gives whether there may be more.
  private func removeOld(_ connection: PostgreSQLConnection) throws(PostgreSQLError) -> Bool {
    let removed = try connection.rows(
      """
      WITH oldest AS MATERIALIZED (
        SELECT c.id, c.xid, c.at FROM ferry.change AS c ORDER BY c.xid LIMIT 10000),
      removed AS (
        DELETE FROM ferry.change AS c USING oldest AS o
        WHERE c.xid = o.xid AND c.id = o.id
          AND (o.at < pg_catalog.now() - interval '\(News.daysOfEntries) days'
            OR o.id < (SELECT n.id FROM ferry.change AS n ORDER BY n.xid DESC LIMIT 1)
              - \(News.mostKept))
        RETURNING c.xid),
      old AS (DELETE FROM ferry.mark WHERE at < pg_catalog.now() - interval '30 days'),
      floor AS (
        UPDATE ferry.floor SET
          xid = greatest(xid, (SELECT removed.xid FROM removed ORDER BY removed.xid DESC LIMIT 1))
        WHERE EXISTS (SELECT FROM removed))
      SELECT count(*) FROM removed
      """)
    return removed.text(0, 0) == "10000"
  }
}
