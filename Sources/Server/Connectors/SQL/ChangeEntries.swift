import FerryConnector
import FerryModel
import FerrySQLite

/// Reads what triggers wrote. Writers take turns in SQLite, so the number of an entry is the place.
struct ChangeEntries {
  /// How far the entries were followed.
  struct Cursor: Equatable {
    /// Random, made with the tables of Ferry.
    var database: String
    /// Of `PRAGMA schema_version`: triggers may have been dropped and made anew meanwhile.
    var schema: Int64
    /// The row in `ferry_mark` that is raised behind each take, and its state then.
    var consumer: String
    var epoch: String
    var number: Int64
    var last: Int64

    init(
      database: String, schema: Int64, consumer: String, epoch: String, number: Int64, last: Int64
    ) {
      (self.database, self.schema, self.consumer) = (database, schema, consumer)
      (self.epoch, self.number, self.last) = (epoch, number, last)
    }

    init?(_ text: String?) {
      let parts = text?.split(separator: "|").map(String.init) ?? []
      guard parts.count == 7, parts[0] == "s1", let schema = Int64(parts[2]),
        let number = Int64(parts[5]), let last = Int64(parts[6])
      else { return nil }
      self.init(
        database: parts[1], schema: schema, consumer: parts[3], epoch: parts[4], number: number,
        last: last)
    }

    var text: String { "s1|\(database)|\(schema)|\(consumer)|\(epoch)|\(number)|\(last)" }
  }

  /// More entries than this become hints at whole entities.
  static let mostEntries: Int = 20_000
  static let daysOfEntries: Int = 7

  private let connection: Connection
  private let tables: EntityTables

  init(_ connection: Connection, _ tables: EntityTables) {
    self.connection = connection
    self.tables = tables
  }

  static func exist(_ connection: Connection) throws(SQLiteError) -> Bool {
    try connection.value(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'ferry_database'") != nil
  }

  /// Entities of tables whose changes are not noted.
  static func tablesWithoutTriggers(
    _ connection: Connection, _ tables: EntityTables
  ) throws(SQLiteError) -> [String] {
    let found = try connection.rows(
      "SELECT lower(tbl_name) FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'ferry\\_%' "
        + "ESCAPE '\\' GROUP BY 1")
    let known = Set(found.compactMap { $0[0].text })
    return tables.byTable.filter { !known.contains($0.key) }.flatMap(\.value).map(\.entity.name)
      .sorted()
  }

  /// The number of the last entry, whether it is there still or not.
  static func last(_ connection: Connection) throws(SQLiteError) -> Int64 {
    try connection.value("SELECT seq FROM sqlite_sequence WHERE name = 'ferry_change'")?.integer
      ?? 0
  }

  /// `own`: numbers of entries that this connector's own operations made.
  func changes(
    since text: String?, own: [ClosedRange<Int64>]
  ) throws(SQLiteError) -> BusinessChanges {
    let found = try connection.transaction(.deferred) { () throws(SQLiteError) in
      try look(Cursor(text), own)
    }
    guard let found else { return try begin(Cursor(text)?.consumer) }
    guard found.hasEntries else { return BusinessChanges(cursor: found.cursor.text, hints: []) }
    var cursor = found.cursor
    // Behind what was read: whoever has the mark has all of it.
    do throws(SQLiteError) {
      cursor.number = try connection.transaction(.immediate) { () throws(SQLiteError) in
        try connection.value(
          """
          UPDATE ferry_mark SET number = number + 1, at = unixepoch()
          WHERE consumer = ? AND epoch = ? RETURNING number
          """, .text(cursor.consumer), .text(cursor.epoch))?.integer ?? cursor.number
      }
    } catch {
      // The next take raises it.
      guard error.isBusy else { throw error }
    }
    return BusinessChanges(cursor: cursor.text, hints: found.hints)
  }

  private struct Found {
    let cursor: Cursor
    let hasEntries: Bool
    let hints: [ChangeHint]
  }

  /// Nil where entries may be missing, or were never followed.
  private func look(
    _ given: Cursor?, _ own: [ClosedRange<Int64>]
  ) throws(SQLiteError) -> Found? {
    guard var cursor = given,
      let state = try connection.row("SELECT name, floor FROM ferry_database"),
      state[0].text == cursor.database, state[1].integer ?? .max <= cursor.last,
      try connection.value("PRAGMA schema_version")?.integer == cursor.schema,
      let number = try connection.value(
        "SELECT number FROM ferry_mark WHERE consumer = ? AND epoch = ?", .text(cursor.consumer),
        .text(cursor.epoch))?.integer, number >= cursor.number
    else { return nil }
    let last = try ChangeEntries.last(connection)
    guard last >= cursor.last else { return nil }
    guard last > cursor.last else { return Found(cursor: cursor, hasEntries: false, hints: []) }
    let hints =
      last - cursor.last > Int64(ChangeEntries.mostEntries)
      ? try wholeHints(since: cursor.last) : try hints(since: cursor.last, own)
    cursor.last = last
    return Found(cursor: cursor, hasEntries: true, hints: hints)
  }

  private func wholeHints(since last: Int64) throws(SQLiteError) -> [ChangeHint] {
    let found = try connection.rows(
      "SELECT DISTINCT \"table\" FROM ferry_change WHERE id > ?", .integer(last))
    let names = found.flatMap { tables.byTable[($0[0].text ?? "").lowercased()] ?? [] }
    return Set(names.map(\.entity.name)).sorted().map { ChangeHint.entity($0) }
  }

  private func hints(
    since last: Int64, _ own: [ClosedRange<Int64>]
  ) throws(SQLiteError) -> [ChangeHint] {
    var keys: [String: [ObjectKey]] = [:]
    var seen: [String: Set<ObjectKey>] = [:]
    var whole: Set<String> = []
    let columns = (0..<ChangeTriggers.keyColumns).map { "key\($0)" }.joined(separator: ", ")
    let rows = try connection.rows(
      "SELECT id, \"table\", \(columns) FROM ferry_change WHERE id > ? ORDER BY id",
      .integer(last))
    for row in rows {
      let id = row[0].integer ?? 0
      guard !own.contains(where: { $0.contains(id) }) else { continue }
      for (place, table) in (tables.byTable[(row[1].text ?? "").lowercased()] ?? []).enumerated() {
        // The entry has the key of the first entity of the table.
        let raw = Array(row[2..<(2 + min(table.entity.key.count, ChangeTriggers.keyColumns))])
        guard place == 0, let key = table.key(ofRaw: raw) else {
          whole.insert(table.entity.name)
          continue
        }
        if seen[table.entity.name, default: []].insert(key).inserted {
          keys[table.entity.name, default: []].append(key)
        }
      }
    }
    return whole.sorted().map { ChangeHint.entity($0) }
      + keys.sorted { $0.key < $1.key }.filter { !whole.contains($0.key) }
      .map { ChangeHint.objects(entity: $0.key, keys: $0.value) }
  }

  /// From here on entries count, and all that was before is to be compared.
  private func begin(_ consumer: String?) throws(SQLiteError) -> BusinessChanges {
    let cursor = try connection.transaction(.immediate) { () throws(SQLiteError) in
      let made = try connection.row(
        """
        INSERT INTO ferry_mark VALUES (
          coalesce(?, lower(hex(randomblob(16)))), lower(hex(randomblob(16))), 1, unixepoch())
        ON CONFLICT (consumer) DO UPDATE SET epoch = excluded.epoch, number = 1, at = excluded.at
        RETURNING consumer, epoch
        """, consumer.map { .text($0) } ?? .null)
      return Cursor(
        database: try connection.value("SELECT name FROM ferry_database")?.text ?? "",
        schema: try connection.value("PRAGMA schema_version")?.integer ?? 0,
        consumer: made?[0].text ?? "", epoch: made?[1].text ?? "", number: 1,
        last: try ChangeEntries.last(connection))
    }
    return BusinessChanges(cursor: cursor.text, hints: [.anything])
  }

  /// Entries end by their age only; marks of consumers that do not come any more too.
  func removeOld() throws(SQLiteError) {
    let old = try connection.value(
      """
      SELECT max(id) FROM (SELECT id, at FROM ferry_change ORDER BY id LIMIT 10000)
      WHERE at < unixepoch() - \(ChangeEntries.daysOfEntries) * 86400
      """)?.integer
    guard let old else { return }
    try connection.transaction(.immediate) { () throws(SQLiteError) in
      try connection.run("DELETE FROM ferry_change WHERE id <= ?", .integer(old))
      try connection.run("UPDATE ferry_database SET floor = ?", .integer(old))
      try connection.run("DELETE FROM ferry_mark WHERE at < unixepoch() - 30 * 86400")
    }
  }
}
