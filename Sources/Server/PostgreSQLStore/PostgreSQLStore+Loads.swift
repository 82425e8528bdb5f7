import FerryConnector
import FerryModel
import FerryPostgreSQL
import FerryServer

extension PostgreSQLStore {
  package func isLoaded() throws(StoreError) -> Bool {
    try rows("SELECT loaded FROM ferry_store.package WHERE id = $1", [number]).first?.flag(0, 0)
      ?? false
  }

  package func emptyStage() throws(StoreError) {
    try lead([
      PostgreSQLConnection.Request("DELETE FROM ferry_store.staged WHERE package = $1", [number]),
      PostgreSQLConnection.Request(
        "DELETE FROM ferry_store.staged_rejected WHERE package = $1", [number]),
    ])
  }

  package func stage(_ rows: [StagedRow]) throws(StoreError) {
    guard !rows.isEmpty else { return }
    // One statement writes a row once: of rows that come twice the last one counts.
    var last: [RowName: Int] = [:]
    for (place, row) in rows.enumerated() { last[row.name] = place }
    let rows = last.values.sorted().map { rows[$0] }
    try lead(
      """
      INSERT INTO ferry_store.staged (package, entity, key, body, moment)
      SELECT $1, n.entity, n.key, n.body, n.moment
      FROM unnest($2::int8[], $3::text[], $4::text[], $5::int8[]) AS n(entity, key, body, moment)
      ON CONFLICT (entity, key) DO UPDATE SET body = excluded.body, moment = excluded.moment
      """,
      [
        number, .integers(rows.map { entityNumbers[$0.name.entity] }),
        .texts(rows.map(\.name.key.text)), .bodies(rows.map(\.body)),
        .integers(rows.map(\.moment)),
      ])
  }

  package func stage(rejected rows: [RejectedRow]) throws(StoreError) {
    guard !rows.isEmpty else { return }
    try lead(
      """
      INSERT INTO ferry_store.staged_rejected (package, entity, key, attribute, reason)
      SELECT $1, n.* FROM unnest($2::text[], $3::text[], $4::text[], $5::text[]) AS n
      """, rejected(rows))
  }

  private func rejected(_ rows: [RejectedRow]) -> [PostgreSQLValue] {
    [
      number, .texts(rows.map(\.entity)), .texts(rows.map(\.key)), .texts(rows.map(\.attribute)),
      .texts(rows.map(\.reason)),
    ]
  }

  package func nextStaged(limit: Int) throws(StoreError) -> [StagedRow] {
    let rows = try rows(
      """
      SELECT entity, key, body, moment FROM ferry_store.staged WHERE entity = ANY($1::int8[])
      ORDER BY entity, key LIMIT $2
      """, [.integers(entityNumbers), .integer(Int64(limit))])
    var staged: [StagedRow] = []
    for row in 0..<rows.count {
      guard let number = rows.integer(row, 0), let entity = entityPositions[number],
        let key = rows.exact(row, 1), let body = rows.body(row, 2),
        let moment = rows.integer(row, 3)
      else { throw StoreError.damaged("a staged row lacks a value") }
      staged.append(StagedRow(RowName(entity, ObjectKey(text: key)), body: body, moment: moment))
    }
    return staged
  }

  package func dropStaged(_ names: [RowName]) throws(StoreError) {
    guard !names.isEmpty else { return }
    try lead(
      """
      DELETE FROM ferry_store.staged AS s USING unnest($1::int8[], $2::text[]) AS n(entity, key)
      WHERE s.entity = n.entity AND s.key = n.key
      """, [.integers(names.map { entityNumbers[$0.entity] }), .texts(names.map(\.key.text))])
  }

  package func note(
    rejected rows: [RejectedRow], fitting: [ObjectName]
  ) throws(StoreError) {
    let entities = rows.map(\.entity) + fitting.map(\.entity)
    guard !entities.isEmpty else { return }
    var requests = [
      PostgreSQLConnection.Request(
        """
        DELETE FROM ferry_store.rejected AS r USING unnest($2::text[], $3::text[]) AS n(entity, key)
        WHERE r.package = $1 AND r.entity = n.entity AND r.key = n.key
        """,
        [number, .texts(entities), .texts(rows.map(\.key) + fitting.map(\.key.text))])
    ]
    if !rows.isEmpty {
      requests.append(
        PostgreSQLConnection.Request(
          """
          INSERT INTO ferry_store.rejected (package, entity, key, attribute, reason)
          SELECT $1, n.* FROM unnest($2::text[], $3::text[], $4::text[], $5::text[]) AS n
          """, rejected(rows)))
    }
    try lead(requests)
  }

  package func rejectedRows() throws(StoreError) -> RejectedRows {
    let rows = try rows(
      """
      SELECT count(*) OVER (), entity, key, attribute, reason FROM ferry_store.rejected
      WHERE package = $1 LIMIT 1
      """, [number])
    guard rows.count == 1 else { return RejectedRows() }
    return RejectedRows(
      count: Int(rows.integer(0, 0) ?? 0),
      example: RejectedRow(
        entity: rows.exact(0, 1) ?? "", key: rows.exact(0, 2) ?? "",
        attribute: rows.exact(0, 3) ?? "", reason: rows.exact(0, 4) ?? ""))
  }

  package func absentRows(
    of entities: [Int]?, isSeen: (Int64) -> Bool
  ) throws(StoreError) -> [(partition: Int64, rows: [Int64], live: Int64)] {
    var found: [Int64: [Int64]] = [:]
    var live: [Int64: Int64] = [:]
    // In slices, so that not all numbers are in memory at once.
    let slice = 50_000
    for entity in entities.map({ $0.map { entityNumbers[$0] } }) ?? entityNumbers {
      var last: Int64 = -1
      while true {
        let rows = try rows(
          """
          SELECT id, partition FROM ferry_store.row
          WHERE entity = $1 AND NOT deleted AND id > $2 ORDER BY id LIMIT $3
          """, [.integer(entity), .integer(last), .integer(Int64(slice))])
        for row in 0..<rows.count {
          guard let id = rows.integer(row, 0) else { continue }
          let partition = rows.integer(row, 1) ?? 0
          live[partition, default: 0] += 1
          if !isSeen(id) { found[partition, default: []].append(id) }
          last = id
        }
        if rows.count < slice { break }
      }
    }
    return found.keys.sorted().map { ($0, (found[$0] ?? []).sorted(), live[$0] ?? 0) }
  }

  package func name(
    ofRow id: Int64
  ) throws(StoreError) -> (name: RowName, version: Int64)? {
    let rows = try rows(
      "SELECT entity, key, version FROM ferry_store.row WHERE id = $1 AND NOT deleted",
      [.integer(id)])
    guard rows.count == 1, let number = rows.integer(0, 0), let entity = entityPositions[number],
      let key = rows.exact(0, 1), let version = rows.integer(0, 2)
    else { return nil }
    return (RowName(entity, ObjectKey(text: key)), version)
  }

  /// Partitions are loaded with their package: one that another node makes meanwhile is too.
  package func closeLoad(
    _ transaction: NumberedTransaction, of entities: [String]?
  ) throws(StoreError) -> Set<Int64> {
    let isFirst = try !isLoaded()
    var requests: [PostgreSQLConnection.Request] = []
    var fresh: Set<Int64> = []
    if isFirst {
      transaction.hasWritten = true
      fresh = Set(
        try rows("SELECT id FROM ferry_store.partition WHERE package = $1", [number]).integers)
      requests = [
        PostgreSQLConnection.Request(
          "UPDATE ferry_store.package SET loaded = true WHERE id = $1", [number]),
        PostgreSQLConnection.Request(
          "UPDATE ferry_store.partition SET version = $1 WHERE package = $2",
          [.integer(transaction.version), number]),
      ]
    }
    if let entities {
      requests += entities.map { entity in
        PostgreSQLConnection.Request(
          "DELETE FROM ferry_store.rejected WHERE package = $1 AND entity = $2",
          [number, .exact(entity)])
      }
    } else {
      requests.append(
        PostgreSQLConnection.Request(
          "DELETE FROM ferry_store.rejected WHERE package = $1", [number]))
    }
    try lead(
      requests + [
        PostgreSQLConnection.Request(
          """
          INSERT INTO ferry_store.rejected
          SELECT package, entity, key, attribute, reason FROM ferry_store.staged_rejected
          WHERE package = $1
          """, [number]),
        PostgreSQLConnection.Request(
          "DELETE FROM ferry_store.staged_rejected WHERE package = $1", [number]),
      ])
    return fresh
  }

  package func sourceCursor() throws(StoreError) -> String? {
    try rows("SELECT text FROM ferry_store.source_cursor WHERE package = $1", [number]).first?
      .exact(0, 0)
  }

  package func keep(sourceCursor: String) throws(StoreError) {
    try lead(
      """
      INSERT INTO ferry_store.source_cursor (package, text) VALUES ($1, $2)
      ON CONFLICT (package) DO UPDATE SET text = excluded.text
      """, [number, .exact(sourceCursor)])
  }
}
