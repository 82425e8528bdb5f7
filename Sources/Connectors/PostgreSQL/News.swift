import FerryConnector
import FerryModel
import FerryPostgreSQL

/// A place in the entries that triggers write: everything that this snapshot saw is behind it. It is
/// of use only while table and triggers are the ones it was made with.
struct EntryCursor: Equatable {
  let fingerprint: String
  let snapshot: String

  init(fingerprint: String, snapshot: String) {
    self.fingerprint = fingerprint
    self.snapshot = snapshot
  }

  init?(_ text: String?) {
    let parts = text?.split(separator: "|").map(String.init) ?? []
    guard parts.count == 2 else { return nil }
    (fingerprint, snapshot) = (parts[0], parts[1])
  }

  var text: String { "\(fingerprint)|\(snapshot)" }

  /// Of `xmin:xmax:…`: the oldest transaction that had not ended, and the first that had not begun.
  var limits: (oldest: UInt64, next: UInt64) {
    let parts = snapshot.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3 else { return (0, 0) }
    return (UInt64(parts[0]) ?? 0, UInt64(parts[1]) ?? 0)
  }
}

extension Writer {
  /// More entries than this become hints at whole entities: memory is bounded.
  static let mostEntries: Int = 20_000
  static let daysOfEntries: Int = 7

  /// What others changed since the cursor. Entries are read and never changed.
  func changes(since text: String?) throws(PostgreSQLError) -> BusinessChanges {
    let (fingerprint, isWhole) = try state()
    guard isWhole else { return BusinessChanges(cursor: nil, hints: [.anything]) }
    guard let cursor = EntryCursor(text), cursor.fingerprint == fingerprint else {
      return try anew(fingerprint)
    }
    let rows = try connection.rows(
      """
      SELECT pg_catalog.pg_current_snapshot(), (SELECT f.xid FROM ferry.floor AS f), e.xid,
        e.relation, pg_catalog.array_to_json(e.old_key), pg_catalog.array_to_json(e.new_key)
      FROM (SELECT 1) AS one LEFT JOIN LATERAL (
        SELECT c.xid, c.relation, c.old_key, c.new_key FROM ferry.change AS c
        WHERE c.xid >= pg_catalog.pg_snapshot_xmax($1::pg_catalog.pg_snapshot)
          OR c.xid = ANY (ARRAY(SELECT pg_catalog.pg_snapshot_xip($1::pg_catalog.pg_snapshot)))
        LIMIT \(Writer.mostEntries + 1)
      ) AS e ON true
      """, [.text(cursor.snapshot)])
    let now = EntryCursor(fingerprint: fingerprint, snapshot: rows.text(0, 0) ?? "")
    let floor = rows.text(0, 1).flatMap { UInt64($0) } ?? .max
    // Entries that were removed may not have been seen; or one of the two was set back.
    guard floor < cursor.limits.oldest, now.limits.next >= cursor.limits.next else {
      return BusinessChanges(cursor: now.text, hints: [.anything])
    }
    keepOwn(from: cursor.limits.oldest)
    guard rows.count <= Writer.mostEntries else {
      return BusinessChanges(cursor: now.text, hints: [.anything])
    }
    return BusinessChanges(cursor: now.text, hints: hints(rows))
  }

  /// The beginning: from here on entries count, and all that was before is to be compared.
  private func anew(_ fingerprint: String) throws(PostgreSQLError) -> BusinessChanges {
    let snapshot = try connection.value("SELECT pg_catalog.pg_current_snapshot()") ?? ""
    let cursor = EntryCursor(fingerprint: fingerprint, snapshot: snapshot)
    return BusinessChanges(cursor: cursor.text, hints: [.anything])
  }

  private func hints(_ rows: PostgreSQLRows) -> [ChangeHint] {
    var keys: [String: [Key]] = [:]
    var seen: [String: Set<Key>] = [:]
    var whole: Set<String> = []
    for row in 0..<rows.count {
      guard let transaction = rows.text(row, 2), !isOwn([transaction]) else { continue }
      for table in tables.byOID[rows.text(row, 3) ?? ""] ?? [] {
        let name = table.entity.name
        let texts = [4, 5].compactMap { rows.text(row, $0) }
        let found = texts.compactMap { table.key(ofEntry: $0) }
        if texts.isEmpty || found.count < texts.count { whole.insert(name) }
        for key in found where seen[name, default: []].insert(key).inserted {
          keys[name, default: []].append(key)
        }
      }
    }
    return whole.sorted().map { ChangeHint.entity($0) }
      + keys.sorted { $0.key < $1.key }.filter { !whole.contains($0.key) }
      .map { ChangeHint.objects(entity: $0.key, keys: $0.value) }
  }

  /// Table of entries, tables, partitions and triggers as they are; and whether nothing is missing.
  private func state() throws(PostgreSQLError) -> (fingerprint: String, isWhole: Bool) {
    let now = ContinuousClock.now
    if let known = knownState, now < known.until { return (known.fingerprint, known.isWhole) }
    let oids = "{\(tables.byOID.keys.sorted().joined(separator: ","))}"
    let rows = try connection.rows(
      """
      WITH part AS (
        SELECT DISTINCT p.oid FROM pg_catalog.unnest($1::pg_catalog.oid[]) AS root (oid)
        CROSS JOIN LATERAL (
          SELECT root.oid UNION
          SELECT t.relid::pg_catalog.oid FROM pg_catalog.pg_partition_tree(root.oid) AS t
        ) AS p (oid)),
      state AS (
        SELECT part.oid, (SELECT count(*) FROM pg_catalog.pg_trigger AS g
          WHERE g.tgrelid = part.oid AND g.tgenabled = 'A'
            AND g.tgname IN ('ferry_row', 'ferry_truncate')) AS triggers FROM part)
      SELECT pg_catalog.md5(pg_catalog.to_regclass('ferry.change')::pg_catalog.oid || ' '
          || pg_catalog.string_agg(oid || ':' || triggers, ',' ORDER BY oid)),
        pg_catalog.bool_and(triggers = 2) FROM state
      """, [.text(oids)])
    let state = (rows.text(0, 0) ?? "", rows.text(0, 0) != nil && rows.text(0, 1) == "t")
    knownState = (state.0, state.1, now + .seconds(1))
    return state
  }

  /// Entries end by their age only, some at a time.
  func removeOld() throws(PostgreSQLError) {
    try connection.execute(
      """
      WITH gone AS (
        DELETE FROM ferry.change WHERE id IN (
          SELECT id FROM ferry.change
          WHERE at < pg_catalog.now() - interval '\(Writer.daysOfEntries) days' LIMIT 100000)
        RETURNING xid)
      UPDATE ferry.floor SET xid = greatest(xid, (SELECT gone.xid FROM gone ORDER BY 1 DESC LIMIT 1))
      WHERE EXISTS (SELECT FROM gone)
      """)
  }
}
