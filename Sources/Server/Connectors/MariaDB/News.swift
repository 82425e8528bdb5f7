import FerryConnector
import FerryMariaDB
import FerryModel
import FerryWorld

/// Reads what triggers wrote.
///
/// MariaDB shows nobody which transactions are open, and entries are committed in another order than
/// they were numbered. So whoever reads gives a number to each entry that is committed and has none yet,
/// one reader at a time: behind a number there is nothing new. Entries end by their age only.
final class News {
  /// More entries than this become hints at whole entities: memory is bounded.
  static let mostEntries: Int = 20_000
  static let daysOfEntries: Int = 7
  /// How long the catalogue is believed.
  static let stateInterval: Duration = .seconds(1)
  static let cleanUpInterval: Duration = .seconds(60)
  /// Under change others are asked for often, and a while longer.
  static let busyTime: Duration = .seconds(2)

  private let comparisonInterval: Duration
  private let clock: any WorldClock
  private var state: [String: CaptureState]?
  private var (stateEnds, nextCleanUp, nextComparison, busyUntil):
    (
      Duration, Duration, Duration, Duration
    )

  init(comparisonInterval: Duration, clock: any WorldClock) {
    self.comparisonInterval = comparisonInterval
    self.clock = clock
    let now = clock.uptime
    (stateEnds, nextCleanUp, nextComparison, busyUntil) = (now, now, now, now)
  }

  /// Whether others changed something a moment ago.
  var isBusy: Bool { clock.uptime < busyUntil }

  /// The next question looks at everything again.
  func forget() { state = nil }

  /// A place in the entries; of use only in the database it was made in, while that was not set back.
  struct Cursor {
    var database: String
    /// The row in `ferry_mark` that is raised behind each take, and its state then.
    var consumer: String
    var epoch: String
    var number: Int64
    /// The number of the last take whose entries were read.
    var clock: Int64
    /// Digests of the tables, by name, as they were when everything before was known.
    var tables: [String: String]

    /// Names of tables may have any character.
    var text: String {
      let digests = tables.sorted { $0.key < $1.key }.map { "\($0.value):\($0.key)" }
      return (["m1", database, consumer, epoch, String(number), String(clock)] + digests)
        .joined(separator: "\u{1F}")
    }

    init(_ database: String, _ consumer: String, _ epoch: String, _ clock: Int64) {
      (self.database, self.consumer, self.epoch, self.clock) = (database, consumer, epoch, clock)
      (number, tables) = (1, [:])
    }

    init?(_ text: String?) {
      let parts = (text ?? "").split(separator: "\u{1F}", omittingEmptySubsequences: false)
        .map(String.init)
      guard parts.count >= 6, parts[0] == "m1", let number = Int64(parts[4]),
        let clock = Int64(parts[5])
      else { return nil }
      self.init(parts[1], parts[2], parts[3], clock)
      self.number = number
      for pair in parts.dropFirst(6) {
        guard let colon = pair.firstIndex(of: ":") else { return nil }
        tables[String(pair[pair.index(after: colon)...])] = String(pair[..<colon])
      }
    }
  }

  /// What others changed since the cursor.
  func changes(since text: String?, _ writer: Writer) throws(MariaDBError) -> BusinessChanges {
    let now = clock.uptime
    guard let state = try currentState(writer, now) else {
      guard now >= nextComparison else {
        return BusinessChanges(cursor: nil, hints: [], shortfall: News.unprepared)
      }
      nextComparison = now + comparisonInterval
      return BusinessChanges(cursor: nil, hints: [.anything], shortfall: News.unprepared)
    }
    let troubles = state.compactMap { name, table in table.trouble.map { "\(name) \($0)" } }
    let shortfall =
      troubles.isEmpty
      ? nil
      : troubles.sorted().joined(separator: "; ")
        + ". All its rows are compared again and again; run `ferry prepare` to repair it"
    var whole: Set<String> = []
    if !troubles.isEmpty, now >= nextComparison {
      nextComparison = now + comparisonInterval
      whole.formUnion(state.filter { $0.value.trouble != nil }.keys)
    }
    let digests = state.mapValues(\.digest)
    guard var cursor = Cursor(text), let taken = try take(&cursor, writer) else {
      var cursor = try begin(Cursor(text)?.consumer, writer.connection)
      cursor.tables = digests
      return BusinessChanges(cursor: cursor.text, hints: [.anything], shortfall: shortfall)
    }
    whole.formUnion(digests.filter { cursor.tables[$0.key] != $0.value }.keys)
    cursor.tables = digests
    let hints = hints(taken, whole, writer)
    if !hints.isEmpty { busyUntil = now + News.busyTime }
    if now >= nextCleanUp {
      nextCleanUp = now + News.cleanUpInterval
      try removeOld(writer.connection)
    }
    return BusinessChanges(cursor: cursor.text, hints: hints, shortfall: shortfall)
  }

  private static let unprepared: String =
    "the business database has no triggers of Ferry, so all its rows are compared again and again; "
    + "run `ferry prepare` to have them"

  /// By table; nil where there are no entries.
  private func currentState(
    _ writer: Writer, _ now: Duration
  ) throws(MariaDBError) -> [String: CaptureState]? {
    if now < stateEnds, let state { return state }
    writer.capture.isPrepared = try Capture.exists(writer.connection)
    guard writer.capture.isPrepared else { return nil }
    try writer.readTables()
    state = try CaptureState.read(Set(writer.tables.byName.keys), writer.connection)
    stateEnds = now + News.stateInterval
    return state
  }

  /// From here on entries count, and all that was before is to be compared.
  private func begin(
    _ consumer: String?, _ connection: MariaDBConnection
  ) throws(MariaDBError) -> Cursor {
    let found =
      try connection.rows(
        "SELECT name, clock, REPLACE(UUID(), '-', ''), REPLACE(UUID(), '-', '') FROM ferry_database"
      ).texts.first ?? []
    guard found.count == 4, let clock = found[1].flatMap({ Int64($0) }) else {
      throw MariaDBError(.server, number: 1_146, message: "ferry_database has no row")
    }
    let cursor = Cursor(found[0] ?? "", consumer ?? found[2] ?? "", found[3] ?? "", clock)
    try connection.execute(
      """
      INSERT INTO ferry_mark (consumer, epoch, number)
      VALUES (\(quotedText(cursor.consumer)), \(quotedText(cursor.epoch)), 1)
      ON DUPLICATE KEY UPDATE epoch = VALUES(epoch), number = 1, at = CURRENT_TIMESTAMP
      """)
    return cursor
  }

  /// Nil where entries may be missing: they ended before they were read, or the database was set back.
  private func take(
    _ cursor: inout Cursor, _ writer: Writer
  ) throws(MariaDBError) -> [[String?]]? {
    let connection = writer.connection
    let mark = "consumer = \(quotedText(cursor.consumer)) AND epoch = \(quotedText(cursor.epoch))"
    let state =
      try connection.rows(
        """
        SELECT d.name, d.clock, d.floor, m.number,
          EXISTS (SELECT 1 FROM ferry_change WHERE seen IS NULL)
        FROM ferry_database AS d JOIN ferry_mark AS m ON \(mark)
        """
      ).texts.first ?? []
    func number(_ place: Int) -> Int64 { state[place].flatMap { Int64($0) } ?? -1 }
    guard state.count == 5, state[0] == cursor.database, number(1) >= cursor.clock,
      number(2) <= cursor.clock, number(3) >= cursor.number
    else { return nil }
    guard state[4] == "1" || number(1) > cursor.clock else { return [] }
    try connection.execute("START TRANSACTION")
    do throws(MariaDBError) {
      // One reader at a time.
      let next =
        try connection.value(
          "SELECT clock + 1 FROM ferry_database WHERE one = 1 FOR UPDATE") ?? "0"
      let new = try connection.rows(
        "SELECT id FROM ferry_change WHERE seen IS NULL ORDER BY id LIMIT \(News.mostEntries)")
      let ids = new.texts.compactMap { $0[0] }
      if !ids.isEmpty {
        try connection.execute(
          "UPDATE ferry_change SET seen = \(next) WHERE id IN (\(ids.joined(separator: ", ")))")
        try connection.execute("UPDATE ferry_database SET clock = \(next) WHERE one = 1")
      }
      let entries = try connection.rows(
        """
        SELECT seen, relation, old_key, new_key, writer FROM ferry_change
        WHERE seen > \(cursor.clock) LIMIT \(News.mostEntries + 1)
        """)
      // Behind what was read: whoever has the mark has all of it.
      try connection.execute(
        "UPDATE ferry_mark SET number = number + 1, at = CURRENT_TIMESTAMP WHERE \(mark)")
      cursor.number =
        try connection.value("SELECT number FROM ferry_mark WHERE \(mark)").flatMap { Int64($0) }
        ?? cursor.number
      cursor.clock =
        try connection.value("SELECT clock FROM ferry_database").flatMap { Int64($0) }
        ?? cursor.clock
      try connection.execute("COMMIT")
      return entries.texts
    } catch {
      if connection.isOpen { try connection.execute("ROLLBACK") }
      throw error
    }
  }

  private func hints(
    _ rows: [[String?]], _ wholeTables: Set<String>, _ writer: Writer
  ) -> [ChangeHint] {
    let tables = writer.tables.byName
    guard rows.count <= News.mostEntries else { return [.anything] }
    var keys: [String: [ObjectKey]] = [:]
    var seen: Set<SQLTouchedRow> = []
    var whole = Set(wholeTables.flatMap { tables[$0] ?? [] }.map(\.entity.name))
    var own: Set<String> = []
    for row in rows {
      let texts = [row[2], row[3]].compactMap { $0 }
      // What the answer to an own operation did not tell: rows that a cascade changed.
      if let word = row[4], writer.capture.isOwn(word), !texts.isEmpty {
        own.insert(word)
        continue
      }
      for table in tables[row[1] ?? ""] ?? [] {
        let found = texts.compactMap { table.key(ofEntry: Capture.key($0)) }
        if texts.isEmpty || found.count < texts.count { whole.insert(table.entity.name) }
        for key in found
        where seen.insert(SQLTouchedRow(entity: table.entity.name, key: key)).inserted {
          keys[table.entity.name, default: []].append(key)
        }
      }
    }
    writer.capture.forget(own)
    return whole.sorted().map { ChangeHint.entity($0) }
      + keys.sorted { $0.key < $1.key }.filter { !whole.contains($0.key) }
      .map { ChangeHint.objects(entity: $0.key, keys: $0.value) }
  }

  /// Entries end by their age, and marks of consumers that are lost too.
  private func removeOld(_ connection: MariaDBConnection) throws(MariaDBError) {
    let last = try connection.value(
      """
      SELECT MAX(o.seen) FROM (SELECT seen, at FROM ferry_change ORDER BY id LIMIT 10000) AS o
      WHERE o.at < CURRENT_TIMESTAMP - INTERVAL \(News.daysOfEntries) DAY
      """)
    guard let last else { return }
    // The floor first: a reader that finds it does not look for what is being removed.
    try connection.execute(
      "UPDATE ferry_database SET floor = GREATEST(floor, \(last)) WHERE one = 1")
    try connection.execute("DELETE FROM ferry_change WHERE seen <= \(last) LIMIT 10000")
    try connection.execute(
      "DELETE FROM ferry_mark WHERE at < CURRENT_TIMESTAMP - INTERVAL 30 DAY")
  }
}
