import FerryModel
import FerryPostgreSQL
import FerryServer

extension PostgreSQLStore {
  static let rowColumns: String =
    "r.id, r.key, r.partition, r.body, r.hash, r.version, r.deleted"

  package func row(_ name: RowName) throws(StoreError) -> CachedRow? {
    try PostgreSQLStore.cached(
      try rows(
        """
        SELECT \(PostgreSQLStore.rowColumns) FROM ferry_store.row AS r
        WHERE r.entity = $1 AND r.key = $2
        """, [number(of: name.entity), .exact(name.key.text)]), name.entity
    ).first
  }

  package func rows(_ names: [RowName]) throws(StoreError) -> [RowName: CachedRow] {
    var found: [RowName: CachedRow] = [:]
    for (entity, names) in Dictionary(grouping: names, by: \.entity) {
      let rows = try rows(
        """
        SELECT \(PostgreSQLStore.rowColumns) FROM ferry_store.row AS r
        WHERE r.entity = $1 AND r.key = ANY($2::text[])
        """, [number(of: entity), .texts(names.map(\.key.text))])
      for row in try PostgreSQLStore.cached(rows, entity) { found[RowName(entity, row.key)] = row }
    }
    return found
  }

  package func children(_ name: ParentName) throws(StoreError) -> [CachedRow] {
    try PostgreSQLStore.cached(
      try rows(
        """
        SELECT \(PostgreSQLStore.rowColumns) FROM ferry_store.row AS r
        WHERE r.entity = $1 AND r.parent_key = $2 AND NOT r.deleted ORDER BY r.id
        """, [number(of: name.entity), .exact(name.key.text)]), name.entity)
  }

  package func parents(_ name: ParentName) throws(StoreError) -> [CachedRow] {
    guard let attributes = name.attributes else {
      let row = try row(RowName(name.entity, name.key))
      return row.map { $0.isDeleted ? [] : [$0] } ?? []
    }
    return try PostgreSQLStore.cached(
      try rows(
        """
        SELECT \(PostgreSQLStore.rowColumns)
        FROM ferry_store.alternate AS a JOIN ferry_store.row AS r ON r.id = a.row
        WHERE a.entity = $1 AND a.attributes = $2 AND a.text = $3 AND NOT r.deleted ORDER BY r.id
        """, [number(of: name.entity), .exact(attributes), .exact(name.key.text)]), name.entity)
  }

  package func partitions(ofRow id: Int64) throws(StoreError) -> [Int64] {
    try rows("SELECT partition FROM ferry_store.member WHERE row = $1", [.integer(id)]).integers
  }

  static func cached(_ rows: PostgreSQLRows, _ entity: Int) throws(StoreError) -> [CachedRow] {
    var found: [CachedRow] = []
    for row in 0..<rows.count {
      guard let id = rows.integer(row, 0), let key = rows.exact(row, 1),
        let body = rows.body(row, 3), let hash = rows.integer(row, 4),
        let version = rows.integer(row, 5)
      else { throw StoreError.damaged("a row of the cache lacks a value") }
      found.append(
        CachedRow(
          id: id, entity: entity, key: ObjectKey(text: key), partition: rows.integer(row, 2),
          body: body,
          hash: hash, version: version, isDeleted: rows.flag(row, 6)))
    }
    return found
  }

  package func apply(
    _ changes: CacheChanges, _ transaction: NumberedTransaction
  ) throws(StoreError) -> [RowName: Int64] {
    guard !changes.isEmpty else { return [:] }
    transaction.hasWritten = true
    var made: [Int64] = []
    for place in changes.places { made.append(try makePartition(place, for: nil, transaction)) }
    var new: [RowName: Int64] = [:]
    for name in changes.order where changes.rows[name].map({ $0.id == nil }) ?? false {
      new[name] = try nextRowNumber()
    }
    let application = Application(
      version: .integer(transaction.version), entities: entityNumbers, made: made,
      ids: changes.rows.mapValues { $0.id ?? new[$0.name] ?? 0 })
    try lead(application.requests(changes))
    return new
  }

  package func hasRow(of entity: Int) throws(StoreError) -> Bool {
    try rows(
      "SELECT 1 FROM ferry_store.row WHERE entity = $1 LIMIT 1", [number(of: entity)]
    ).count > 0
  }

  /// Only the leader writes rows: a name that is free now is free when they are written.
  package func insert(
    _ rows: [NewRow], _ transaction: NumberedTransaction
  ) throws(StoreError) -> [Int64?] {
    guard !rows.isEmpty else { return [] }
    let taken = try taken(rows.map(\.name))
    var changes = CacheChanges()
    var isNew: [Bool] = []
    for row in rows {
      isNew.append(!taken.contains(row.name) && changes.rows[row.name] == nil)
      if isNew.last == true { changes.add(row) }
    }
    let made = try apply(changes, transaction)
    return zip(rows, isNew).map { row, isNew in isNew ? made[row.name] : nil }
  }

  private func taken(_ names: [RowName]) throws(StoreError) -> Set<RowName> {
    let found = try rows(
      """
      SELECT r.entity, r.key FROM unnest($1::int8[], $2::text[]) AS n(entity, key)
      JOIN ferry_store.row AS r ON r.entity = n.entity AND r.key = n.key
      """, [.integers(names.map { entityNumbers[$0.entity] }), .texts(names.map(\.key.text))])
    var taken: Set<RowName> = []
    for row in 0..<found.count {
      guard let number = found.integer(row, 0), let entity = entityPositions[number],
        let key = found.exact(row, 1)
      else { throw StoreError.damaged("a row of the cache lacks a value") }
      taken.insert(RowName(entity, ObjectKey(text: key)))
    }
    return taken
  }

  /// Numbers of rows are taken a thousand at a time; each is given once, by whichever leader.
  private func nextRowNumber() throws(StoreError) -> Int64 {
    if rowNumbers.isEmpty {
      guard let first = try rows("SELECT nextval('ferry_store.row_id')").integer(0, 0) else {
        throw StoreError.damaged("rows have no more numbers")
      }
      rowNumbers = first..<(first + 1_000)
    }
    return rowNumbers.removeFirst()
  }
}

extension CacheChanges {
  fileprivate mutating func add(_ row: NewRow) {
    order.append(row.name)
    rows[row.name] = Row(
      name: row.name, id: nil, parentKey: row.parentKey,
      partition: row.partition.map { .known($0) }, body: row.body, hash: row.hash,
      isDeleted: false, isChanged: true)
    for alternate in row.alternates {
      alternates.append(
        Alternate(
          row: row.name, attributes: alternate.attributes, before: nil, after: alternate.key))
    }
    guard let partition = row.partition.map(Partition.known) else { return }
    let member = Member(row: row.name, partition: partition)
    members[member] = false
    memberOrder.append(member)
    totals[partition, default: Total()].sum &+= UInt64(bitPattern: row.hash)
    totals[partition, default: Total()].count += 1
  }
}

/// Changes on their way into the tables: one statement for each kind, however many there are.
private struct Application {
  let version: PostgreSQLValue
  let entities: [Int64]
  /// The numbers of the partitions that were made for them.
  let made: [Int64]
  /// Of all rows, new ones too.
  let ids: [RowName: Int64]

  func requests(_ changes: CacheChanges) -> [PostgreSQLConnection.Request] {
    let rows = changes.order.compactMap { changes.rows[$0] }
    var requests: [PostgreSQLConnection.Request] = []
    let fresh = rows.filter { $0.id == nil }
    if !fresh.isEmpty { requests.append(insert(fresh)) }
    let changed = rows.filter { $0.id != nil && $0.isChanged }
    if !changed.isEmpty { requests.append(update(changed)) }
    let moved = rows.filter { $0.id != nil && !$0.isChanged }
    if !moved.isEmpty { requests.append(move(moved)) }
    requests += alternates(changes)
    let members = changes.memberOrder.compactMap { member in
      changes.members[member].map { (member, hasLeft: $0) }
    }
    requests.append(totals(changes, members))
    if !members.isEmpty { requests.append(note(members)) }
    return requests
  }

  private func number(_ partition: CacheChanges.Partition) -> Int64 {
    switch partition {
    case .known(let number): number
    case .new(let place): made[place]
    }
  }

  private func id(_ row: CacheChanges.Row) -> Int64 { ids[row.name] ?? 0 }

  private func columns(_ rows: [CacheChanges.Row]) -> [PostgreSQLValue] {
    [
      .integers(rows.map(id)), .texts(rows.map { $0.parentKey?.text }),
      .integers(rows.map { $0.partition.map(number) }), .bodies(rows.map(\.body)),
      .integers(rows.map(\.hash)), .flags(rows.map(\.isDeleted)), version,
    ]
  }

  private static let given: String =
    "unnest($1::int8[], $2::text[], $3::int8[], $4::text[], $5::int8[], $6::bool[]"

  private func insert(_ rows: [CacheChanges.Row]) -> PostgreSQLConnection.Request {
    PostgreSQLConnection.Request(
      """
      INSERT INTO ferry_store.row
        (id, entity, key, parent_key, partition, body, hash, version, deleted)
      SELECT n.id, n.entity, n.key, n.parent_key, n.partition, n.body, n.hash, $7, n.deleted
      FROM \(Application.given), $8::int8[], $9::text[])
        AS n(id, parent_key, partition, body, hash, deleted, entity, key)
      """,
      columns(rows) + [
        .integers(rows.map { entities[$0.name.entity] }), .texts(rows.map(\.name.key.text)),
      ])
  }

  private func update(_ rows: [CacheChanges.Row]) -> PostgreSQLConnection.Request {
    PostgreSQLConnection.Request(
      """
      UPDATE ferry_store.row AS r SET parent_key = n.parent_key, partition = n.partition,
        body = n.body, hash = n.hash, version = $7, deleted = n.deleted
      FROM \(Application.given)) AS n(id, parent_key, partition, body, hash, deleted)
      WHERE r.id = n.id
      """, columns(rows))
  }

  private func move(_ rows: [CacheChanges.Row]) -> PostgreSQLConnection.Request {
    PostgreSQLConnection.Request(
      """
      UPDATE ferry_store.row AS r SET partition = n.partition
      FROM unnest($1::int8[], $2::int8[]) AS n(id, partition) WHERE r.id = n.id
      """, [.integers(rows.map(id)), .integers(rows.map { $0.partition.map(number) })])
  }

  private struct Name: Hashable {
    let row: RowName
    let attributes: String
  }

  /// The names as they were at first, and as they are at last.
  private func alternates(_ changes: CacheChanges) -> [PostgreSQLConnection.Request] {
    guard !changes.alternates.isEmpty else { return [] }
    var order: [Name] = []
    var before: [Name: ObjectKey?] = [:]
    var after: [Name: ObjectKey?] = [:]
    for alternate in changes.alternates {
      let name = Name(row: alternate.row, attributes: alternate.attributes)
      if before[name] == nil {
        order.append(name)
        before[name] = .some(alternate.before)
      }
      after[name] = .some(alternate.after)
    }
    func parameters(_ keys: [Name: ObjectKey?]) -> [PostgreSQLValue] {
      let there = order.compactMap { name in (keys[name] ?? nil).map { (name, $0) } }
      return [
        .integers(there.map { entities[$0.0.row.entity] }), .texts(there.map(\.0.attributes)),
        .texts(there.map(\.1.text)),
        .integers(there.map { ids[$0.0.row] ?? 0 }),
      ]
    }
    let given = "unnest($1::int8[], $2::text[], $3::text[], $4::int8[])"
    return [
      PostgreSQLConnection.Request(
        """
        DELETE FROM ferry_store.alternate AS a USING \(given) AS n(entity, attributes, text, row)
        WHERE a.entity = n.entity AND a.attributes = n.attributes AND a.text = n.text
          AND a.row = n.row
        """, parameters(before)),
      PostgreSQLConnection.Request(
        """
        INSERT INTO ferry_store.alternate (entity, attributes, text, row)
        SELECT * FROM \(given) ON CONFLICT DO NOTHING
        """, parameters(after)),
    ]
  }

  private typealias Member = (CacheChanges.Member, hasLeft: Bool)

  private func columns(_ members: [Member]) -> [PostgreSQLValue] {
    [
      .integers(members.map { number($0.0.partition) }),
      .integers(members.map { ids[$0.0.row] ?? 0 }),
      .flags(members.map(\.hasLeft)),
    ]
  }

  /// Sums are 64 bits without a sign, kept with one; they go round at the end.
  private func totals(
    _ changes: CacheChanges, _ members: [Member]
  ) -> PostgreSQLConnection.Request {
    let totals = changes.totals.map { (number($0.key), $0.value) }.sorted { $0.0 < $1.0 }
    return PostgreSQLConnection.Request(
      """
      WITH change AS (
        SELECT * FROM unnest($1::int8[], $2::int8[], $3::bool[]) AS n(partition, row, has_left)),
      gone AS (
        SELECT c.partition,
          sum(c.has_left::int - coalesce(m.has_left, false)::int) AS count
        FROM change AS c LEFT JOIN ferry_store.member AS m
          ON m.row = c.row AND m.partition = c.partition
        GROUP BY c.partition)
      UPDATE ferry_store.partition AS p SET version = $4, count = p.count + n.count,
        sum = ((p.sum::numeric + n.sum + 27670116110564327424) % 18446744073709551616
          - 9223372036854775808)::int8,
        left_count = p.left_count + coalesce(g.count, 0)
      FROM unnest($5::int8[], $6::int8[], $7::int8[]) AS n(partition, sum, count)
      LEFT JOIN gone AS g ON g.partition = n.partition
      WHERE p.id = n.partition
      """,
      columns(members) + [
        version, .integers(totals.map(\.0)),
        .integers(totals.map { Int64(bitPattern: $0.1.sum) }), .integers(totals.map(\.1.count)),
      ])
  }

  private func note(_ members: [Member]) -> PostgreSQLConnection.Request {
    PostgreSQLConnection.Request(
      """
      INSERT INTO ferry_store.member (partition, version, row, has_left)
      SELECT n.partition, $4, n.row, n.has_left
      FROM unnest($1::int8[], $2::int8[], $3::bool[]) AS n(partition, row, has_left)
      ON CONFLICT (row, partition) DO UPDATE SET version = excluded.version,
        has_left = excluded.has_left
      """, columns(members) + [version])
  }
}
