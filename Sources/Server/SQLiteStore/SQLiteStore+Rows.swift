import FerryModel
import FerrySQLite
import FerryServer

extension SQLiteStore {
  private static let columns: String = "id, key, partition, body, hash, version, deleted"

  package func row(_ name: RowName) throws(StoreError) -> CachedRow? {
    try sql { () throws(SQLiteError) in
      try writer.row(
        "SELECT \(SQLiteStore.columns) FROM row WHERE entity = ? AND key = ?",
        number(of: name.entity), .text(name.key.text))
    }.map { row throws(StoreError) in try SQLiteStore.cached(row, name.entity) }
  }

  package func children(_ name: ParentName) throws(StoreError) -> [CachedRow] {
    try sql { () throws(SQLiteError) in
      try writer.rows(
        """
        SELECT \(SQLiteStore.columns) FROM row
        WHERE entity = ? AND parent_key = ? AND deleted = 0 ORDER BY id
        """, number(of: name.entity), .text(name.key.text))
    }.map { row throws(StoreError) in try SQLiteStore.cached(row, name.entity) }
  }

  package func parents(_ name: ParentName) throws(StoreError) -> [CachedRow] {
    guard let attributes = name.attributes else {
      let row = try row(RowName(name.entity, name.key))
      return row.map { $0.isDeleted ? [] : [$0] } ?? []
    }
    return try sql { () throws(SQLiteError) in
      try writer.rows(
        """
        SELECT r.id, r.key, r.partition, r.body, r.hash, r.version, r.deleted
        FROM alternate AS a JOIN row AS r ON r.id = a.row
        WHERE a.entity = ? AND a.attributes = ? AND a.text = ? AND r.deleted = 0 ORDER BY r.id
        """, number(of: name.entity), .text(attributes), .text(name.key.text))
    }.map { row throws(StoreError) in try SQLiteStore.cached(row, name.entity) }
  }

  package func partitions(ofRow id: Int64) throws(StoreError) -> [Int64] {
    try sql { () throws(SQLiteError) in
      try writer.rows("SELECT partition FROM member WHERE row = ?", .integer(id))
        .compactMap { $0[0].integer }
    }
  }

  static func cached(_ row: [SQLiteValue], _ entity: Int) throws(StoreError) -> CachedRow {
    guard let id = row[0].integer, let key = row[1].text, let body = row[3].blob,
      let hash = row[4].integer, let version = row[5].integer
    else { throw StoreError.damaged("a row of the cache lacks a value") }
    return CachedRow(
      id: id, entity: entity, key: ObjectKey(text: key), partition: row[2].integer, body: body,
      hash: hash, version: version, isDeleted: row[6].integer == 1)
  }

  package func apply(
    _ changes: CacheChanges, _ transaction: NumberedTransaction
  ) throws(StoreError) -> [RowName: Int64] {
    guard !changes.isEmpty else { return [:] }
    transaction.hasWritten = true
    var made: [Int64] = []
    for place in changes.places { made.append(try makePartition(place, for: nil, transaction)) }
    let partitions = made
    return try sql { () throws(SQLiteError) in
      let application = Application(
        writer: writer, version: .integer(transaction.version), made: partitions)
      return try application.run(changes, entities: entityNumbers)
    }
  }

  package func hasRow(of entity: Int) throws(StoreError) -> Bool {
    try sql { () throws(SQLiteError) in
      try writer.value("SELECT 1 FROM row WHERE entity = ? LIMIT 1", number(of: entity)) != nil
    }
  }

  package func insert(
    _ rows: [NewRow], _ transaction: NumberedTransaction
  ) throws(StoreError) -> [Int64?] {
    guard !rows.isEmpty else { return [] }
    let numbers = try sql { () throws(SQLiteError) in
      try Insertion(writer, version: transaction.version).run(rows, entities: entityNumbers)
    }
    if numbers.contains(where: { $0 != nil }) { transaction.hasWritten = true }
    return numbers
  }
}

/// Rows on their way into the tables that nobody has looked up before.
private struct Insertion {
  private let application: Application
  private let version: Int64
  private let row: Statement
  private let member: Statement

  init(_ writer: Connection, version: Int64) throws(SQLiteError) {
    application = Application(writer: writer, version: .integer(version), made: [])
    self.version = version
    row = try writer.statement(
      """
      INSERT INTO row (entity, key, parent_key, partition, body, hash, version, deleted)
      VALUES (?, ?, ?, ?, ?, ?, ?, 0) ON CONFLICT (entity, key) DO NOTHING
      """)
    member = try writer.statement(
      "INSERT INTO member (partition, version, row, left) VALUES (?, ?, ?, 0)")
  }

  func run(_ rows: [NewRow], entities: [Int64]) throws(SQLiteError) -> [Int64?] {
    defer {
      row.reset()
      member.reset()
    }
    var numbers: [Int64?] = []
    numbers.reserveCapacity(rows.count)
    var totals: [Int64: CacheChanges.Total] = [:]
    for new in rows {
      let number = try insert(new, entities[new.name.entity])
      numbers.append(number)
      guard let number, let partition = new.partition else { continue }
      try enter(number, in: partition)
      totals[partition, default: CacheChanges.Total()].sum &+= UInt64(bitPattern: new.hash)
      totals[partition, default: CacheChanges.Total()].count += 1
    }
    for (partition, total) in totals.sorted(by: { $0.key < $1.key }) {
      try application.add(total, left: 0, to: partition)
    }
    return numbers
  }

  /// nil where the name is taken.
  private func insert(_ new: NewRow, _ entity: Int64) throws(SQLiteError) -> Int64? {
    row.rewind()
    try row.bind(entity, at: 0)
    try row.bind(.text(new.name.key.text), at: 1)
    try row.bind(.optional(new.parentKey?.text), at: 2)
    try row.bind(.optional(new.partition), at: 3)
    try row.bind(.blob(new.body), at: 4)
    try row.bind(new.hash, at: 5)
    try row.bind(version, at: 6)
    _ = try row.step()
    guard application.writer.changes == 1 else { return nil }
    let number = application.writer.lastInsertRowID
    for alternate in new.alternates {
      try application.name(
        number, entity: .integer(entity), alternate.attributes, alternate.key)
    }
    return number
  }

  private func enter(_ number: Int64, in partition: Int64) throws(SQLiteError) {
    member.rewind()
    try member.bind(partition, at: 0)
    try member.bind(version, at: 1)
    try member.bind(number, at: 2)
    _ = try member.step()
  }
}

/// Changes on their way into the tables.
private struct Application {
  let writer: Connection
  let version: SQLiteValue
  /// The numbers of the partitions that were made for them.
  let made: [Int64]

  private func number(_ partition: CacheChanges.Partition) -> Int64 {
    switch partition {
    case .known(let number): number
    case .new(let place): made[place]
    }
  }

  func run(
    _ changes: CacheChanges, entities: [Int64]
  ) throws(SQLiteError) -> [RowName: Int64] {
    var new: [RowName: Int64] = [:]
    var ids: [RowName: Int64] = [:]
    for name in changes.order {
      guard let row = changes.rows[name] else { continue }
      let id = try write(row, entity: .integer(entities[name.entity]))
      ids[name] = id
      if row.id == nil { new[name] = id }
    }
    for alternate in changes.alternates {
      guard let id = ids[alternate.row] else { continue }
      try write(alternate, of: id, entity: .integer(entities[alternate.row.entity]))
    }
    var left: [Int64: Int64] = [:]
    for member in changes.memberOrder {
      guard let id = ids[member.row], let isLeft = changes.members[member] else { continue }
      let partition = number(member.partition)
      left[partition, default: 0] += try note(id, in: partition, hasLeft: isLeft)
    }
    let totals = changes.totals.map { (partition: number($0.key), total: $0.value) }
    for (partition, total) in totals.sorted(by: { $0.partition < $1.partition }) {
      try add(total, left: left[partition] ?? 0, to: partition)
    }
    return new
  }

  private func write(
    _ row: CacheChanges.Row, entity: SQLiteValue
  ) throws(SQLiteError) -> Int64 {
    let partition = SQLiteValue.optional(row.partition.map(number))
    guard let id = row.id else {
      try writer.run(
        """
        INSERT INTO row (entity, key, parent_key, partition, body, hash, version, deleted)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """, entity, .text(row.name.key.text), .optional(row.parentKey?.text), partition,
        .blob(row.body), .integer(row.hash), version, .flag(row.isDeleted))
      return writer.lastInsertRowID
    }
    if row.isChanged {
      try writer.run(
        """
        UPDATE row SET parent_key = ?, partition = ?, body = ?, hash = ?, version = ?, deleted = ?
        WHERE id = ?
        """, .optional(row.parentKey?.text), partition, .blob(row.body), .integer(row.hash),
        version, .flag(row.isDeleted), .integer(id))
    } else {
      try writer.run("UPDATE row SET partition = ? WHERE id = ?", partition, .integer(id))
    }
    return id
  }

  private func write(
    _ alternate: CacheChanges.Alternate, of id: Int64, entity: SQLiteValue
  ) throws(SQLiteError) {
    if let before = alternate.before {
      try writer.run(
        "DELETE FROM alternate WHERE entity = ? AND attributes = ? AND text = ? AND row = ?",
        entity, .text(alternate.attributes), .text(before.text), .integer(id))
    }
    if let after = alternate.after {
      try name(id, entity: entity, alternate.attributes, after)
    }
  }

  func name(
    _ id: Int64, entity: SQLiteValue, _ attributes: String, _ key: ObjectKey
  ) throws(SQLiteError) {
    try writer.run(
      """
      INSERT INTO alternate (entity, attributes, text, row) VALUES (?, ?, ?, ?)
      ON CONFLICT DO NOTHING
      """, entity, .text(attributes), .text(key.text), .integer(id))
  }

  /// Gives how many more have left the partition.
  private func note(
    _ row: Int64, in partition: Int64, hasLeft: Bool
  ) throws(SQLiteError) -> Int64 {
    let hadLeft = try writer.value(
      "SELECT left FROM member WHERE row = ? AND partition = ?", .integer(row),
      .integer(partition))?.integer
    if hadLeft == nil {
      try writer.run(
        "INSERT INTO member (partition, version, row, left) VALUES (?, ?, ?, ?)",
        .integer(partition), version, .integer(row), .flag(hasLeft))
    } else {
      try writer.run(
        "UPDATE member SET version = ?, left = ? WHERE row = ? AND partition = ?", version,
        .flag(hasLeft), .integer(row), .integer(partition))
    }
    return (hasLeft ? 1 : 0) - (hadLeft == 1 ? 1 : 0)
  }

  func add(
    _ total: CacheChanges.Total, left: Int64, to partition: Int64
  ) throws(SQLiteError) {
    let row = try writer.row(
      "SELECT sum, count, left_count FROM partition WHERE id = ?", .integer(partition))
    guard let row, let sum = row[0].integer, let count = row[1].integer,
      let leftCount = row[2].integer
    else { throw SQLiteError(code: 11, message: "a partition is missing", subject: "\(partition)") }
    try writer.run(
      "UPDATE partition SET version = ?, sum = ?, count = ?, left_count = ? WHERE id = ?", version,
      .integer(Int64(bitPattern: UInt64(bitPattern: sum) &+ total.sum)),
      .integer(count + total.count), .integer(leftCount + left), .integer(partition))
  }
}
