import FerryModel
import FerrySQLite
import FerryWire

/// Applies what the business system holds to the cache, inside one numbered transaction: rows,
/// who has them, and the sums of the partitions.
final class CacheWriter {
  private let transaction: NumberedTransaction
  private let directory: PartitionDirectory
  private let cache: CacheReader
  private let store: Store
  private let rules: PartitionRules
  private var ledger: [Int64: Entry] = [:]
  /// Rows that moved because their parents did.
  private(set) var movedRows: Int = 0

  private struct Entry {
    var sum: UInt64 = 0
    var count: Int64 = 0
    var left: Int64 = 0
  }

  init(_ transaction: NumberedTransaction, _ cache: CacheReader, _ directory: PartitionDirectory) {
    self.transaction = transaction
    self.cache = cache
    self.directory = directory
    store = cache.store
    rules = cache.rules
  }

  /// Writes one row as it is now; nothing where it is so already.
  func apply(_ entity: Int, _ key: Key, _ values: [Value]?) throws(SQLiteError) {
    let known = try cache.row(entity, key)
    guard let values else {
      if let known, !known.isDeleted { try delete(known) }
      return
    }
    let body = RowCoder.encode(values)
    if let known, !known.isDeleted, known.body == body { return }
    let before = known.flatMap { $0.isDeleted ? nil : $0 }
    let place = try cache.place(of: entity, values: values, in: directory)
    let partition = try place.map { place throws(SQLiteError) in
      try directory.number(of: place, making: transaction)
    }
    let hash = RowHash.of(entity: rules.package.entities[entity].name, key: key, body: body)
    let id = try write(entity, key, values, body, hash, partition, known: known)
    let names = try alternates(entity, id, before: before, after: values)
    try enter(id, from: before?.partition, hash: before?.hash ?? 0, to: partition, hash: hash)
    try moveChildren(of: entity, names, moved: before == nil || before?.partition != partition)
  }

  /// The sums and the versions of the partitions; call it last. Gives the partitions that changed.
  func finish() throws(SQLiteError) -> Set<Int64> {
    for (partition, entry) in ledger.sorted(by: { $0.key < $1.key }) {
      let row = try store.writer.row(
        "SELECT sum, count, left_count FROM partition WHERE id = ?", .integer(partition))
      guard let row, let sum = row[0].integer, let count = row[1].integer, let left = row[2].integer
      else { throw SQLiteError.damaged("the partition \(partition) is missing") }
      try store.writer.run(
        "UPDATE partition SET version = ?, sum = ?, count = ?, left_count = ? WHERE id = ?",
        .integer(transaction.version),
        .integer(Int64(bitPattern: UInt64(bitPattern: sum) &+ entry.sum)),
        .integer(count + entry.count), .integer(left + entry.left), .integer(partition))
    }
    return Set(ledger.keys)
  }

  private func delete(_ row: CachedRow) throws(SQLiteError) {
    transaction.hasWritten = true
    let names = try alternates(row.entity, row.id, before: row, after: nil)
    try store.writer.run(
      """
      UPDATE row SET deleted = 1, body = x'', hash = 0, partition = NULL, parent_key = NULL,
        version = ? WHERE id = ?
      """, .integer(transaction.version), .integer(row.id))
    try enter(row.id, from: row.partition, hash: row.hash, to: nil, hash: 0)
    try moveChildren(of: row.entity, names, moved: true)
  }

  private func write(
    _ entity: Int, _ key: Key, _ values: [Value], _ body: [UInt8], _ hash: Int64,
    _ partition: Int64?, known: CachedRow?
  ) throws(SQLiteError) -> Int64 {
    transaction.hasWritten = true
    var parentKey: Key?
    if case .parent(let path) = rules.rules[entity].path { parentKey = path.parentKey(of: values) }
    if let known {
      try store.writer.run(
        """
        UPDATE row SET parent_key = ?, partition = ?, body = ?, hash = ?, version = ?, deleted = 0
        WHERE id = ?
        """, .optional(parentKey?.text), .optional(partition), .blob(body), .integer(hash),
        .integer(transaction.version), .integer(known.id))
      return known.id
    }
    try store.writer.run(
      """
      INSERT INTO row (entity, key, parent_key, partition, body, hash, version, deleted)
      VALUES (?, ?, ?, ?, ?, ?, ?, 0)
      """, .integer(store.entityNumbers[entity]), .text(key.text), .optional(parentKey?.text),
      .optional(partition), .blob(body), .integer(hash), .integer(transaction.version))
    return store.writer.lastInsertRowID
  }

  /// Membership before and after, in one number.
  private func enter(
    _ row: Int64, from old: Int64?, hash oldHash: Int64, to new: Int64?, hash newHash: Int64
  ) throws(SQLiteError) {
    if let old {
      ledger[old, default: Entry()].sum &-= UInt64(bitPattern: oldHash)
      ledger[old, default: Entry()].count -= 1
      if old != new { try member(row, old, left: true) }
    }
    if let new {
      ledger[new, default: Entry()].sum &+= UInt64(bitPattern: newHash)
      ledger[new, default: Entry()].count += 1
      try member(row, new, left: false)
    }
  }

  private func member(_ row: Int64, _ partition: Int64, left: Bool) throws(SQLiteError) {
    let wasLeft = try store.writer.value(
      "SELECT left FROM member WHERE row = ? AND partition = ?", .integer(row), .integer(partition))?
      .integer
    if wasLeft == nil {
      try store.writer.run(
        "INSERT INTO member (partition, version, row, left) VALUES (?, ?, ?, ?)",
        .integer(partition), .integer(transaction.version), .integer(row), .flag(left))
    } else {
      try store.writer.run(
        "UPDATE member SET version = ?, left = ? WHERE row = ? AND partition = ?",
        .integer(transaction.version), .flag(left), .integer(row), .integer(partition))
    }
    ledger[partition, default: Entry()].left += (left ? 1 : 0) - (wasLeft == 1 ? 1 : 0)
  }

  /// What children call the row, before and after: by child entity.
  private struct Names {
    let child: Int
    let before: Key?
    let after: Key?
  }

  private func alternates(
    _ entity: Int, _ id: Int64, before: CachedRow?, after: [Value]?
  )
    throws(SQLiteError) -> [Names]
  {
    guard !rules.children[entity].isEmpty else { return [] }
    let old = try before.map { row throws(SQLiteError) in try cache.values(of: row) }
    var names: [Names] = []
    for child in rules.children[entity] {
      guard case .parent(let path) = rules.rules[child].path else { continue }
      let was = old.flatMap { path.name(of: $0) }
      let now = after.flatMap { path.name(of: $0) }
      names.append(Names(child: child, before: was, after: now))
      guard !path.isKey, was != now else { continue }
      let number = SQLiteValue.integer(store.entityNumbers[entity])
      if let was {
        try store.writer.run(
          "DELETE FROM alternate WHERE entity = ? AND attributes = ? AND text = ? AND row = ?",
          number, .text(path.name), .text(was.text), .integer(id))
      }
      if let now {
        try store.writer.run(
          """
          INSERT INTO alternate (entity, attributes, text, row) VALUES (?, ?, ?, ?)
          ON CONFLICT DO NOTHING
          """, number, .text(path.name), .text(now.text), .integer(id))
      }
    }
    return names
  }

  /// A parent that moves takes its whole closure along.
  private func moveChildren(of entity: Int, _ names: [Names], moved: Bool) throws(SQLiteError) {
    for name in names where moved || name.before != name.after {
      for parentKey in Set([name.before, name.after].compactMap { $0 }).sorted() {
        for row in try cache.children(name.child, of: parentKey) { try replace(row) }
      }
    }
  }

  /// Puts a row where it belongs now; its values stay as they are.
  private func replace(_ row: CachedRow) throws(SQLiteError) {
    let values = try cache.values(of: row)
    let place = try cache.place(of: row.entity, values: values, in: directory)
    let partition = try place.map { place throws(SQLiteError) in
      try directory.number(of: place, making: transaction)
    }
    guard partition != row.partition else { return }
    transaction.hasWritten = true
    movedRows += 1
    try store.writer.run(
      "UPDATE row SET partition = ? WHERE id = ?", .optional(partition), .integer(row.id))
    try enter(row.id, from: row.partition, hash: row.hash, to: partition, hash: row.hash)
    var names: [Names] = []
    for child in rules.children[row.entity] {
      guard case .parent(let path) = rules.rules[child].path else { continue }
      let name = path.name(of: values)
      names.append(Names(child: child, before: name, after: name))
    }
    try moveChildren(of: row.entity, names, moved: true)
  }
}
