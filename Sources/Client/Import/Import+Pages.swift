import FerryCrypto
import FerryJSON
import FerryModel
import FerrySQLite
import FerryWire

/// The pages of a download, row by row.
///
/// Nearly all rows of a first import are new, and nothing is pending: they go from the page's bytes
/// into the statement without becoming values.
extension ImportRun {
  func applyPages() throws(FerryError) {
    let hasher = SHA256Hasher()
    var last: Int64 = 0
    while true {
      let next = try sql { () throws(SQLiteError) in
        try self.connection.row(
          """
          SELECT page.number, page.bytes, page.partition FROM ferry_page AS page
          JOIN ferry_partition AS place ON place.number = page.partition
          WHERE page.number > ? AND place.grp = ? ORDER BY page.number LIMIT 1
          """, .integer(last), .text(self.checkpoint.group))
      }
      guard let next, let number = next[0].integer, let bytes = next[1].blob else { return }
      last = number
      try apply(bytes, hasher)
    }
  }

  private func apply(_ bytes: [UInt8], _ hasher: SHA256Hasher) throws(FerryError) {
    let page: RowsPage
    do throws(WireError) { page = try RowsPage(kept: bytes) } catch {
      throw FerryError(
        .protocolViolation, "a page cannot be imported: \(error.message)", hint: error.hint,
        cause: error)
    }
    let wrap: (JSONError) -> FerryError = { error in
      FerryError(
        .protocolViolation, "a page of the partition \(page.partition) cannot be read \(error)",
        hint: "The server speaks of another model; update the app or the server.",
        entity: error.subject.first, attribute: error.subject.dropFirst().first, cause: error)
    }
    try page.withReader(of: store.served, hasher: hasher, wrap: wrap) {
      reader throws(FerryError) in
      var entry: NewRows?
      defer { entry?.end(self) }
      while true {
        let step: RowsReader.Step
        do throws(JSONError) { step = try reader.next() } catch { throw wrap(error) }
        do throws(SQLiteError) {
          switch step {
          case .end: return
          case .left(let key): try self.leave(reader.entity, key, page.partition)
          case .row:
            if entry?.entity != reader.entity.name {
              entry?.end(self)
              entry = try NewRows(reader.entity, page.partition, self)
            }
            if try entry?.insert(reader, self) == true { continue }
            try self.enter(reader.entity, reader.decoded, reader.hash, page.partition)
          }
        } catch {
          throw Store.failure(error, path: self.store.path)
        }
      }
    }
  }
}

/// Rows of one entity in one page that are new on the device.
private struct NewRows {
  let entity: String
  private let partition: Int64
  private let statement: Statement
  private let isPossible: Bool
  private let firstValue = 2
  private var sum: UInt64 = 0
  private var count: Int64 = 0

  init(_ entity: Entity, _ partition: Int64, _ run: ImportRun) throws(SQLiteError) {
    self.entity = entity.name
    self.partition = partition
    // What is pending must be found first.
    isPossible = !run.pendingEntities.contains(entity.name)
    statement = try run.connection.statement(run.access(entity).insertNew)
    try statement.bind(partition, at: 0)
  }

  /// False when the row is here already, or may be.
  mutating func insert(_ reader: RowsReader, _ run: ImportRun) throws(SQLiteError) -> Bool {
    guard isPossible else { return false }
    statement.rewind()
    try statement.bind(reader.hash, at: 1)
    for index in reader.values.indices {
      let place = firstValue + index
      switch reader.values[index] {
      case .null: try statement.bind(.null, at: place)
      case .integer(let number): try statement.bind(number, at: place)
      case .double(let number): try statement.bind(number, at: place)
      case .text(let text): try statement.bind(borrowed: text, at: place)
      case .value(let value): try statement.bind(value.stored, at: place)
      }
    }
    _ = try statement.step()
    guard run.connection.changes == 1 else { return false }
    sum &+= UInt64(bitPattern: reader.hash)
    count += 1
    run.noteNew(entity, run.connection.lastInsertRowID, partition)
    return true
  }

  /// Counts what was inserted; the statement lets go of the page.
  func end(_ run: ImportRun) {
    statement.reset()
    guard count > 0 else { return }
    run.count(partition, plus: sum, rows: count)
    run.changes[entity, default: EntityChanges(entity: entity)].inserted += Int(count)
  }
}
