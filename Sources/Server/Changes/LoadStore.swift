import FerryConnector
import FerryModel
import FerrySQLite

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

/// Keeps what a load brought and the cache does not have, until it is applied.
final class LoadStore {
  private let store: Store
  private let cache: CacheReader
  /// Rows of the cache that the load gave, changed or not.
  private(set) var seen = RowSet()

  init(_ store: Store, _ cache: CacheReader) {
    self.store = store
    self.cache = cache
  }

  func empty() throws(SQLiteError) {
    seen = RowSet()
    try store.writer.transaction { () throws(SQLiteError) in
      try store.writer.run("DELETE FROM staged")
      try store.writer.run("DELETE FROM staged_rejected")
    }
  }

  /// Compares outside of any numbered transaction; only what differs is kept.
  func stage(_ entity: Int, _ images: [RowImage], moment: Int64) throws(SQLiteError) {
    try store.writer.transaction { () throws(SQLiteError) in
      for image in images {
        if let problem = RowCheck.problem(image, cache.rules.package.entities[entity]) {
          try reject(problem)
          continue
        }
        guard let values = image.values else { continue }
        let body = RowCoder.encode(values)
        if let known = try cache.row(entity, image.key) {
          seen.insert(known.id)
          if !known.isDeleted, known.body == body { continue }
        }
        try store.writer.run(
          """
          INSERT INTO staged (entity, key, body, moment) VALUES (?, ?, ?, ?)
          ON CONFLICT DO UPDATE SET body = excluded.body, moment = excluded.moment
          """, .integer(store.entityNumbers[entity]), .text(image.key.text), .blob(body),
          .integer(moment))
      }
    }
  }

  func reject(_ row: RejectedRow) throws(SQLiteError) {
    try store.writer.run(
      "INSERT INTO staged_rejected (entity, key, attribute, reason) VALUES (?, ?, ?, ?)",
      .text(row.entity), .text(row.key), .text(row.attribute), .text(row.reason))
  }

  /// A row that does not fit, met outside of a load.
  func keepRejected(_ row: RejectedRow) throws(SQLiteError) {
    try store.writer.run(
      "INSERT INTO rejected (package, entity, key, attribute, reason) VALUES (?, ?, ?, ?, ?)",
      .integer(store.packageNumber), .text(row.entity), .text(row.key), .text(row.attribute),
      .text(row.reason))
  }

  struct Staged {
    let entity: Int
    let key: Key
    let values: [Value]
    let moment: Int64
  }

  func nextStaged(limit: Int) throws(SQLiteError) -> [Staged] {
    var staged: [Staged] = []
    let rows = try store.writer.rows(
      "SELECT entity, key, body, moment FROM staged ORDER BY entity, key LIMIT ?",
      .integer(Int64(limit)))
    for row in rows {
      guard let number = row[0].integer, let entity = store.entityPositions[number],
        let key = row[1].text, let body = row[2].blob, let moment = row[3].integer
      else { throw SQLiteError.damaged("a staged row is not whole") }
      let types = cache.rules.package.entities[entity].attributes.map(\.type)
      guard let values = try? RowCoder.decode(body, types: types) else {
        throw SQLiteError.damaged("a staged row cannot be read")
      }
      staged.append(Staged(entity: entity, key: Key(text: key), values: values, moment: moment))
    }
    return staged
  }

  /// A row that this load has brought into the cache is there, not missing.
  func see(_ staged: Staged) throws(SQLiteError) {
    if let row = try cache.row(staged.entity, staged.key) { seen.insert(row.id) }
  }

  func drop(_ staged: Staged) throws(SQLiteError) {
    try store.writer.run(
      "DELETE FROM staged WHERE entity = ? AND key = ?",
      .integer(store.entityNumbers[staged.entity]), .text(staged.key.text))
  }

  /// Live rows that the load did not give, by partition.
  func absences() throws(SQLiteError) -> [LoadMachine.Absence] {
    var found: [Int64: [Int64]] = [:]
    var live: [Int64: Int64] = [:]
    for number in store.entityNumbers {
      let statement = try store.writer.statement(
        "SELECT id, partition FROM row WHERE entity = ? AND deleted = 0 ORDER BY id")
      defer { statement.reset() }
      try statement.bind(number, at: 0)
      while try statement.step() {
        let row = statement.integer(at: 0)
        let partition = statement.isNull(at: 1) ? 0 : statement.integer(at: 1)
        live[partition, default: 0] += 1
        if !seen.contains(row) { found[partition, default: []].append(row) }
      }
    }
    return found.keys.sorted().map { partition in
      LoadMachine.Absence(
        partition: partition, rows: found[partition] ?? [], liveRows: live[partition] ?? 0)
    }
  }

  func name(of row: Int64) throws(SQLiteError) -> (entity: Int, key: Key, version: Int64)? {
    let found = try store.writer.row(
      "SELECT entity, key, version FROM row WHERE id = ? AND deleted = 0", .integer(row))
    guard let found, let number = found[0].integer, let entity = store.entityPositions[number],
      let key = found[1].text, let version = found[2].integer
    else { return nil }
    return (entity, Key(text: key), version)
  }

  /// The load has ended: partitions are loaded, its rejected rows replace those of the one before.
  /// Gives the partitions that were not loaded before.
  func close(_ transaction: NumberedTransaction) throws(SQLiteError) -> Set<Int64> {
    let package = SQLiteValue.integer(store.packageNumber)
    let fresh = try store.writer.rows(
      "SELECT id FROM partition WHERE package = ? AND loaded = 0", package
    ).compactMap { $0[0].integer }
    if try !store.isLoaded() {
      transaction.hasWritten = true
      try store.writer.run("UPDATE package SET loaded = 1 WHERE id = ?", package)
      try store.writer.run(
        "UPDATE partition SET loaded = 1, version = ? WHERE package = ? AND loaded = 0",
        .integer(transaction.version), package)
    }
    try store.writer.run("DELETE FROM rejected WHERE package = ?", package)
    try store.writer.run(
      """
      INSERT INTO rejected (package, entity, key, attribute, reason)
      SELECT ?, entity, key, attribute, reason FROM staged_rejected
      """, package)
    try store.writer.run("DELETE FROM staged_rejected")
    return Set(fresh)
  }
}
