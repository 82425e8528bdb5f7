import FerryConnector
import FerryModel
import FerryWire

/// A set of row numbers, one bit each.
struct RowSet {
  private var words: [UInt64] = []

  mutating func insert(_ row: Int64) {
    let word = Int(row >> 6)
    while words.count <= word { words.append(0) }
    words[word] |= 1 << UInt64(row & 63)
  }

  func contains(_ row: Int64) -> Bool {
    let word = Int(row >> 6)
    return word < words.count && words[word] & (1 << UInt64(row & 63)) != 0
  }
}

/// Compares what a load brings with the cache.
final class LoadWork {
  private let store: any Store
  private let cache: CacheReader
  /// Rows of the cache that the load gave, changed or not.
  private(set) var seen = RowSet()

  init(_ store: any Store, _ cache: CacheReader) {
    self.store = store
    self.cache = cache
  }

  func begin() throws(StoreError) {
    seen = RowSet()
    try store.emptyStage()
  }

  /// Compares outside of any numbered transaction; only what differs is kept.
  func stage(_ batch: LoadBatch, moment: Int64) throws(StoreError) {
    let (new, different) = try unknown(batch.rows)
    try keep(new + different, batch.rejected, moment: moment)
  }

  /// Rows that the cache does not have, and those that it has otherwise. The rest is as it should be.
  func unknown(
    _ rows: [LoadRow]
  ) throws(StoreError) -> (new: [LoadRow], different: [LoadRow]) {
    var new: [LoadRow] = []
    var different: [LoadRow] = []
    for row in rows {
      guard let known = try cache.row(row.name) else {
        new.append(row)
        continue
      }
      seen.insert(known.id)
      if known.isDeleted || known.body != row.body { different.append(row) }
    }
    return (new, different)
  }

  /// Keeps rows until the load ends.
  func keep(
    _ rows: [LoadRow], _ rejected: [RejectedRow], moment: Int64
  ) throws(StoreError) {
    guard !(rows.isEmpty && rejected.isEmpty) else { return }
    try store.transaction { () throws(StoreError) in
      try store.stage(rows.map { StagedRow($0.name, body: $0.body, moment: moment) })
      try store.stage(rejected: rejected)
    }
  }

  /// Rows that this load has brought into the cache are there, not missing.
  func see(_ rows: some Sequence<Int64>) { for row in rows { seen.insert(row) } }

  /// The values of a staged row.
  func values(of row: StagedRow) throws(StoreError) -> [AttributeValue] {
    let types = cache.rules.package.entities[row.name.entity].attributes.map(\.type)
    guard let values = try? RowCoder.decode(row.body, types: types) else {
      throw StoreError.damaged("a staged row cannot be read")
    }
    return values
  }

  /// Live rows that the load did not give, by partition. `names`: those of these entities; nil: of all.
  func absences(of names: [String]? = nil) throws(StoreError) -> [LoadMachine.Absence] {
    let entities = names?.compactMap { cache.rules.position(of: $0) }
    return try store.absentRows(of: entities) { seen.contains($0) }.map { partition, rows, live in
      LoadMachine.Absence(partition: partition, rows: rows, liveRows: live)
    }
  }
}
