import FerryModel
import FerrySQLite
import FerryWire

/// A download that has reached a checkpoint: everything that the import needs is on the device.
package struct ImportBatch {
  package let checkpoint: Checkpoint
}

/// Keeps what comes until it is a whole, so that a long download is resumable at every page.
package struct Inbox {
  let store: Store

  package init(_ store: Store) { self.store = store }

  /// Takes the server's word on where each partition stands, which is for a device that stood at
  /// `place`. False, and nothing is changed, where the word is of another era than the device's and
  /// the device has moved since it asked: the numbers of one era say nothing in another.
  package func take(_ welcome: Welcome, to place: DevicePosition?) throws(FerryError) -> Bool {
    try store.write { connection throws(SQLiteError) in
      if try !self.isPresent(welcome.era, connection) {
        guard try self.positions(connection) == place else { return false }
      }
      try self.take(welcome, connection)
      return true
    }
  }

  private func isPresent(_ era: String, _ connection: Connection) throws(SQLiteError) -> Bool {
    for group in store.model.groups where try self.era(of: group.name, connection) != era {
      return false
    }
    return true
  }

  /// The era that a group's cursors are of: the last welcome's until an import, then the import's.
  private func era(of group: String?, _ connection: Connection) throws(SQLiteError) -> String? {
    try connection.value(
      "SELECT coalesce(staged_era, era) FROM ferry_checkpoint WHERE grp = ?", .optional(group))?
      .text
  }

  private func take(_ welcome: Welcome, _ connection: Connection) throws(SQLiteError) {
    for place in welcome.start {
      // Two requests that were on their way together both hear of a new partition; the second word
      // changes nothing. One that was dropped and comes back keeps its rows until the import.
      let known = try connection.value(
        "SELECT state FROM ferry_partition WHERE number = ?", .integer(place.partition))
      if known == nil {
        try connection.run(
          """
          INSERT INTO ferry_partition (number, grp, state, version, row, staged_version, staged_row)
          VALUES (?, ?, 'new', 0, 0, 0, 0)
          """, .integer(place.partition), .text(place.group))
      } else if known?.text == "drop" {
        try restart(place.partition, connection)
      }
    }
    for partition in welcome.reset {
      try restart(partition, connection)
    }
    for partition in welcome.drop {
      try connection.run(
        "UPDATE ferry_partition SET state = 'drop' WHERE number = ?", .integer(partition))
      try dropPages(partition, connection)
    }
    for group in Set(store.model.groups.map(\.name)).sorted() {
      try connection.run(
        """
        INSERT INTO ferry_checkpoint (grp, staged_era) VALUES (?, ?)
        ON CONFLICT (grp) DO UPDATE SET staged_at =
          CASE WHEN staged_era IS excluded.staged_era OR era IS excluded.staged_era
          THEN staged_at ELSE 0 END, staged_era = excluded.staged_era
        """, .text(group), .text(welcome.era))
    }
    try ProgressTable.restartIfEmpty(connection)
    if welcome.expectedRows > 0 {
      var progress = try ProgressTable.read(connection)
      progress.expectedRows = progress.receivedRows + Int(welcome.expectedRows)
      try ProgressTable.write(progress, connection)
    }
    try Settings.set(.server, welcome.server, connection)
    try Settings.set(.rightsVersion, welcome.rightsVersion, connection)
  }

  /// Downloads a partition from its start; what the app sees stays until the import.
  package func restart(_ partition: Int64, _ connection: Connection) throws(SQLiteError) {
    try connection.run(
      """
      UPDATE ferry_partition SET state = CASE state WHEN 'new' THEN 'new' ELSE 'reset' END,
        staged_version = 0, staged_row = 0 WHERE number = ?
      """, .integer(partition))
    try dropPages(partition, connection)
  }

  /// Downloads all partitions from their starts.
  package func restartAll() throws(FerryError) {
    try store.write { connection throws(SQLiteError) in
      for row in try connection.rows("SELECT number FROM ferry_partition WHERE state <> 'drop'") {
        if let partition = row[0].integer { try self.restart(partition, connection) }
      }
    }
  }

  /// The synchronization group of a partition that the device has.
  func group(of partition: Int64) throws(FerryError) -> String? {
    try store.read { connection throws(SQLiteError) in
      try connection.value(
        "SELECT grp FROM ferry_partition WHERE number = ?", .integer(partition))?
        .text
    }
  }

  /// Whether no partition is being downloaded from its start.
  package func isComplete() throws(FerryError) -> Bool {
    try store.read { connection throws(SQLiteError) in
      try connection.value(
        "SELECT 1 FROM ferry_partition WHERE state IN ('new', 'reset') LIMIT 1") == nil
    }
  }

  /// Throws away a page that cannot be imported and what follows it in its partition: they are asked
  /// for again from `cursor` on, where the page goes on from, and may come from a server that was
  /// mended meanwhile. Without a cursor the whole partition is.
  func discard(from page: Int64, to cursor: Cursor?) throws(FerryError) {
    try store.write { connection throws(SQLiteError) in
      let found = try connection.value(
        "SELECT partition FROM ferry_page WHERE number = ?", .integer(page))
      guard let partition = found?.integer else { return }
      guard let cursor else { return try self.restart(partition, connection) }
      let following = "FROM ferry_page WHERE partition = ? AND number >= ?"
      var progress = try ProgressTable.read(connection)
      for row in try connection.rows(
        "SELECT bytes \(following)", .integer(partition), .integer(page))
      {
        guard let bytes = row[0].blob else { continue }
        progress.receivedRows -= (try? RowsPage(kept: bytes).rowCount) ?? 0
        progress.receivedBytes -= bytes.count
      }
      try ProgressTable.write(progress, connection)
      try connection.run("DELETE \(following)", .integer(partition), .integer(page))
      try connection.run(
        "UPDATE ferry_partition SET staged_version = ?, staged_row = ? WHERE number = ?",
        .integer(cursor.version), .integer(cursor.row), .integer(partition))
      try ProgressTable.restartIfEmpty(connection)
    }
  }

  private func dropPages(_ partition: Int64, _ connection: Connection) throws(SQLiteError) {
    try connection.run("DELETE FROM ferry_page WHERE partition = ?", .integer(partition))
  }

  /// Keeps a page if it follows what is here, in the era of the welcome before it; a page that does
  /// not is thrown away, which makes repeated, reordered and parallel downloads harmless. Returns how
  /// far the download is with it; nil when it was thrown away.
  package func keep(
    _ page: RowsPage, bytes: [UInt8], of era: String?
  ) throws(FerryError) -> ImportProgress? {
    try store.write { connection throws(SQLiteError) in
      let row = try connection.row(
        "SELECT staged_version, staged_row, state, grp FROM ferry_partition WHERE number = ?",
        .integer(page.partition))
      guard let row, let version = row[0].integer, let position = row[1].integer,
        row[2].text != "drop", Cursor(version: version, row: position) == page.from,
        let era, try self.era(of: row[3].text, connection) == era
      else { return nil }
      try connection.run(
        "INSERT INTO ferry_page (partition, bytes) VALUES (?, ?)", .integer(page.partition),
        .blob(bytes))
      try connection.run(
        "UPDATE ferry_partition SET staged_version = ?, staged_row = ? WHERE number = ?",
        .integer(page.to.version), .integer(page.to.row), .integer(page.partition))
      try connection.run(
        "UPDATE ferry_checkpoint SET staged_at = max(staged_at, ?) WHERE grp = ?",
        .integer(page.at), row[3])
      var progress = try ProgressTable.read(connection)
      progress.receivedRows += page.rowCount
      progress.receivedBytes += bytes.count
      try ProgressTable.write(progress, connection)
      return progress
    }
  }

  /// The batch that a checkpoint closes, or nil when a page before it is missing here, or the word
  /// that a partition is no longer ours, or that the server is in another era; or when it is older
  /// than what is here. A group without partitions has nothing else that could tell.
  package func close(_ checkpoint: Checkpoint) throws(FerryError) -> ImportBatch? {
    let complete = try store.read { connection throws(SQLiteError) in
      guard try self.era(of: checkpoint.group, connection) == checkpoint.era else { return false }
      let shown = try connection.value(
        "SELECT version FROM ferry_checkpoint WHERE grp = ? AND era = ?",
        .text(checkpoint.group), .text(checkpoint.era))?.integer
      if let shown, checkpoint.version < shown { return false }
      for partition in checkpoint.partitions {
        let row = try connection.row(
          "SELECT staged_version, staged_row, state FROM ferry_partition WHERE number = ?",
          .integer(partition.partition))
        guard let row, row[2].text != "drop", row[0].integer == partition.cursor.version,
          row[1].integer == partition.cursor.row
        else { return false }
      }
      let ours = try connection.rows(
        "SELECT number FROM ferry_partition WHERE grp = ? AND state <> 'drop'",
        .text(checkpoint.group))
      return Set(ours.compactMap { $0[0].integer })
        .isSubset(of: checkpoint.partitions.map(\.partition))
    }
    return complete ? ImportBatch(checkpoint: checkpoint) : nil
  }

  /// What hello and pull tell of the device's place. A partition that is to be dropped is not the
  /// device's any more, though its rows are visible until the import: where it comes back before that,
  /// it begins from its start.
  package func positions(_ connection: Connection) throws(SQLiteError) -> DevicePosition {
    let partitions = try connection.rows(
      """
      SELECT number, grp, state, version, row, staged_version, staged_row FROM ferry_partition
      WHERE state <> 'drop' ORDER BY number
      """)
    var applied: [PartitionCursor] = []
    var staged: [String: [PartitionCursor]] = [:]
    for row in partitions {
      let numbers = row.map { $0.integer ?? 0 }
      let begins = row[2].text == "new" || row[2].text == "reset"
      applied.append(
        PartitionCursor(
          partition: numbers[0],
          cursor: begins ? .start : Cursor(version: numbers[3], row: numbers[4])))
      staged[row[1].text ?? "", default: []].append(
        PartitionCursor(
          partition: numbers[0], cursor: Cursor(version: numbers[5], row: numbers[6])))
    }
    var groups: [GroupPosition] = []
    var pulls: [Pull] = []
    for group in store.model.groups {
      let row = try connection.row(
        "SELECT era, version, staged_era, staged_at FROM ferry_checkpoint WHERE grp = ?",
        .text(group.name))
      let version = row?[1].integer ?? 0
      let at = max(version, row?[3].integer ?? 0)
      groups.append(
        GroupPosition(
          name: group.name, era: row?[2].text ?? row?[0].text,
          version: row?[2].isNull == false ? at : version))
      pulls.append(Pull(group: group.name, staged: staged[group.name] ?? [], at: at))
    }
    return DevicePosition(groups: groups, applied: applied, pulls: pulls)
  }
}

/// Where a device stands in every group and partition.
package struct DevicePosition: Equatable {
  package let groups: [GroupPosition]
  package let applied: [PartitionCursor]
  package let pulls: [Pull]
}
