import FerryModel
import FerrySQLite
import FerryWire

/// The pages of a download, row by row.
///
/// Nearly all rows of a first import are new, and nothing is pending: they go from the page's bytes
/// into the statement without becoming values.
extension ImportRun {
  func applyPages() throws(FerryError) {
    var pages = PagesAhead(store, connection, group: checkpoint.group)
    while let page = try pages.next() {
      try sql { () throws(SQLiteError) in
        for set in page.sets { try self.apply(set, of: page) }
        try self.store.rowWatch.letGoOfMany(self.connection)
      }
    }
  }

  private func apply(_ set: PageRows.Set, of page: PageRows) throws(SQLiteError) {
    try page.withRows(of: set) { rows throws(SQLiteError) in
      var new = try NewRows(set.entity, page.partition, rows, self)
      defer { new.end(self) }
      var index = 0
      while index < rows.count {
        let inserted = try new.insert(from: index, self)
        if inserted == 0 {
          try self.enter(set.entity, rows.decoded(index), rows.hashes[index], page.partition)
        }
        index += max(inserted, 1)
      }
    }
    for key in set.left { try leave(set.entity, key, page.partition) }
  }
}

/// Rows of one entity in one page that are new on the device.
///
/// Behind a row that is new there are mostly others: they are inserted many at a time, until one of
/// them is here already.
private struct NewRows {
  let entity: String
  private let partition: Int64
  private let rows: PageRows.Rows
  private let single: Statement
  /// Prepared for the first batch: most downloads are too small for one.
  private var batch: Statement?
  private let batchText: String
  private let batchRows: Int
  /// What is pending must be found first.
  private let isPossible: Bool
  private var isBatchLikely = false
  private var hasMetKnown: Bool
  private var sum: UInt64 = 0
  private var count: Int64 = 0

  init(
    _ entity: Entity, _ partition: Int64, _ rows: PageRows.Rows, _ run: ImportRun
  ) throws(SQLiteError) {
    let access = run.access(entity)
    self.entity = entity.name
    self.partition = partition
    self.rows = rows
    isPossible = !run.pendingEntities.contains(entity.name)
    batchRows = access.newBatchRows
    // Where each row's number is asked for, they go one by one.
    hasMetKnown = batchRows < 2 || run.notes(partition) || run.listsObjects
    single = try run.connection.statement(access.insertNew)
    batchText = access.insertNewBatch
  }

  /// How many rows from this one on were inserted; 0 when it is here already, or may be.
  mutating func insert(from index: Int, _ run: ImportRun) throws(SQLiteError) -> Int {
    guard isPossible else { return 0 }
    if isBatchLikely, !hasMetKnown, index + batchRows <= rows.count {
      if try insertBatch(from: index, run) {
        for row in index..<index + batchRows { take(row) }
        return batchRows
      }
      hasMetKnown = true
    }
    single.rewind()
    try bind(index, to: single, at: 0)
    _ = try single.step()
    isBatchLikely = run.connection.changes == 1
    guard isBatchLikely else { return 0 }
    take(index)
    run.noteNew(entity, run.connection.lastInsertRowID, partition)
    run.list(entity, run.connection.lastInsertRowID)
    return 1
  }

  /// All of a batch, or none of it.
  private mutating func insertBatch(from index: Int, _ run: ImportRun) throws(SQLiteError) -> Bool {
    let batch: Statement
    if let known = self.batch {
      batch = known
    } else {
      batch = try run.connection.statement(batchText)
      self.batch = batch
    }
    batch.rewind()
    for row in 0..<batchRows { try bind(index + row, to: batch, at: row * (rows.width + 2)) }
    do throws(SQLiteError) { _ = try batch.step() } catch {
      guard error.isConstraint else { throw error }
      return false
    }
    return true
  }

  private func bind(_ row: Int, to statement: Statement, at first: Int) throws(SQLiteError) {
    try statement.bind(partition, at: first)
    try statement.bind(rows.hashes[row], at: first + 1)
    for position in 0..<rows.width {
      let place = first + 2 + position
      switch rows.value(at: position, ofRow: row) {
      case .null: try statement.bind(.null, at: place)
      case .integer(let number): try statement.bind(number, at: place)
      case .double(let number): try statement.bind(number, at: place)
      case .text(let text): try statement.bind(borrowed: text, at: place)
      case .value(let value): try statement.bind(value.stored, at: place)
      }
    }
  }

  private mutating func take(_ row: Int) {
    sum &+= UInt64(bitPattern: rows.hashes[row])
    count += 1
  }

  /// Counts what was inserted; the statements let go of the page.
  func end(_ run: ImportRun) {
    single.reset()
    batch?.reset()
    guard count > 0 else { return }
    run.count(partition, plus: sum, rows: count)
    run.changes[entity, default: EntityChanges(entity: entity)].inserted += Int(count)
  }
}
