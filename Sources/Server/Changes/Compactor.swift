import FerrySQLite

/// Purges leaves that every device has had time to see; whoever comes later starts the partition
/// again.
struct Compactor {
  let store: Store
  let limits: ServiceLimits

  struct Summary {
    var leaves: Int64 = 0
    var rows: Int64 = 0
    var operations: Int64 = 0
    var partitions: Int64 = 0
  }

  /// Counts a day of running: at most one per day that the clock shows, so that a clock that jumps
  /// a year purges one day.
  func countDay() throws(SQLiteError) {
    let today = store.world.clock.now.day
    try store.writer.run(
      """
      UPDATE server SET days = days + (last_day < ?), last_day = ? WHERE last_day <> ?
      """, .integer(today), .integer(today), .integer(today))
    try store.writer.run(
      """
      INSERT INTO seen_day (package, day, version)
      SELECT p.id, s.days, p.version FROM package AS p, server AS s WHERE p.id = ?
      ON CONFLICT DO NOTHING
      """, .integer(store.packageNumber))
  }

  /// `safeVersion`: no reader of the business system that is busy has an earlier mark. `inUse`:
  /// partitions of exchanges that are open.
  func compact(
    _ transaction: NumberedTransaction, _ directory: PartitionDirectory, safeVersion: Int64,
    inUse: Set<Int64>
  ) throws(SQLiteError) -> Summary {
    let days = try store.writer.value("SELECT days FROM server")?.integer ?? 0
    // All that is numbered up to here happened before the day ended, so long ago.
    let old =
      try store.writer.value(
        "SELECT max(version) FROM seen_day WHERE package = ? AND day <= ?",
        .integer(store.packageNumber), .integer(days - limits.tombstoneDays))?.integer ?? 0
    var summary = Summary()
    let partitions = try store.writer.rows(
      """
      SELECT id, count, left_count FROM partition WHERE package = ? AND left_count > 0 ORDER BY id
      """, .integer(store.packageNumber))
    for row in partitions {
      guard let partition = row[0].integer, let count = row[1].integer, let left = row[2].integer
      else { continue }
      var upTo = old
      let kept = max(limits.tombstonesKept, count)
      if left > kept {
        let crowded = try store.writer.value(
          """
          SELECT version FROM member WHERE partition = ? AND left = 1 ORDER BY version
          LIMIT 1 OFFSET ?
          """, .integer(partition), .integer(left - kept - 1))?.integer
        upTo = max(upTo, crowded ?? 0)
      }
      summary.leaves += try purge(partition, upTo: upTo, transaction)
    }
    let unasked = try directory.empty(unaskedSince: days - limits.unaskedPartitionDays)
      .filter { !inUse.contains($0) }
    for partition in unasked { summary.leaves += try purge(partition, upTo: .max, transaction) }
    try directory.remove(unasked, transaction)
    summary.partitions = Int64(unasked.count)
    try store.writer.run(
      """
      DELETE FROM row WHERE deleted = 1 AND version <= ?
        AND entity IN (SELECT id FROM entity WHERE package = ?)
        AND NOT EXISTS (SELECT 1 FROM member WHERE member.row = row.id)
      """, .integer(safeVersion), .integer(store.packageNumber))
    summary.rows = Int64(store.writer.changes)
    try store.writer.run(
      "DELETE FROM operation WHERE state = 'confirmed' AND outcome <> 'unknown' AND day < ?",
      .integer(days - limits.operationMemoryDays))
    summary.operations = Int64(store.writer.changes)
    try store.writer.run(
      "DELETE FROM report WHERE day < ?", .integer(days - limits.reportDays))
    return summary
  }

  private func purge(
    _ partition: Int64, upTo: Int64, _ transaction: NumberedTransaction
  )
    throws(SQLiteError) -> Int64
  {
    let row = try store.writer.row(
      "SELECT count(*), max(version) FROM member WHERE partition = ? AND left = 1 AND version <= ?",
      .integer(partition), .integer(upTo))
    guard let row, let count = row[0].integer, count > 0, let floor = row[1].integer else {
      return 0
    }
    transaction.hasWritten = true
    try store.writer.run(
      "DELETE FROM member WHERE partition = ? AND left = 1 AND version <= ?", .integer(partition),
      .integer(upTo))
    try store.writer.run(
      "UPDATE partition SET floor = max(floor, ?), left_count = left_count - ? WHERE id = ?",
      .integer(floor), .integer(count), .integer(partition))
    return count
  }
}
