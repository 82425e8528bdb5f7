import FerryModel
import FerryPostgreSQL
import FerryServer

extension PostgreSQLStore {
  package func partition(at place: Place) throws(StoreError) -> Int64? {
    try rows(
      """
      SELECT id FROM ferry_store.partition
      WHERE package = $1 AND group_name = $2 AND rule = $3 AND place = $4
      """, [number, .exact(place.group), .exact(place.rule), .exact(place.values)]
    ).first?.integer(0, 0)
  }

  package func place(of partition: Int64) throws(StoreError) -> Place? {
    let rows = try rows(
      "SELECT group_name, rule, place FROM ferry_store.partition WHERE id = $1",
      [.integer(partition)])
    guard rows.count == 1, let group = rows.exact(0, 0), let rule = rows.exact(0, 1),
      let values = rows.exact(0, 2)
    else { return nil }
    return Place(group: group, rule: rule, values: values)
  }

  package func places(group: String, rule: String) throws(StoreError) -> [Place] {
    let rows = try rows(
      """
      SELECT place FROM ferry_store.partition
      WHERE package = $1 AND group_name = $2 AND rule = $3 ORDER BY id
      """, [number, .exact(group), .exact(rule)])
    return (0..<rows.count).compactMap { row in
      rows.exact(row, 0).map { Place(group: group, rule: rule, values: $0) }
    }
  }

  /// Any node makes partitions, at once and without a number: one without a row is nothing new for
  /// anybody. Of two nodes that make the same one, the second finds that of the first.
  package func makePartition(
    _ place: Place, for user: String?, _ transaction: NumberedTransaction
  ) throws(StoreError) -> Int64 {
    try line.pipeline([
      PostgreSQLConnection.Request(
        """
        INSERT INTO ferry_store.partition
          (package, group_name, rule, place, version, floor, sum, count, left_count, asked_by,
           asked_day)
        VALUES ($1, $2, $3, $4, 0, 0, 0, 0, 0, $5, \(PostgreSQLStore.today))
        ON CONFLICT DO NOTHING
        """,
        [number, .exact(place.group), .exact(place.rule), .exact(place.values), .exact(user)])
    ])
    guard let number = try partition(at: place) else {
      throw StoreError(.busy, "a partition was removed while it was made", isTransient: true)
    }
    return number
  }

  package func asked(_ partitions: some Sequence<Int64>) throws(StoreError) {
    try write(
      """
      UPDATE ferry_store.partition AS p SET asked_day = s.days FROM ferry_store.server AS s
      WHERE p.id = ANY($1::int8[]) AND p.asked_day < s.days
      """, [.integers(partitions)])
  }

  package func emptyPartitions(askedBy user: String) throws(StoreError) -> [EmptyPartition] {
    let rows = try rows(
      """
      SELECT id, octet_length(place) FROM ferry_store.partition
      WHERE package = $1 AND asked_by = $2 AND count = 0 AND left_count = 0 ORDER BY asked_day, id
      """, [number, .exact(user)])
    return (0..<rows.count).compactMap { row in
      rows.integer(row, 0).map {
        EmptyPartition(number: $0, bytes: Int(rows.integer(row, 1) ?? 0))
      }
    }
  }

  package func emptyPartitions(unaskedForDays days: Int64) throws(StoreError) -> [Int64] {
    try rows(
      """
      SELECT id FROM ferry_store.partition
      WHERE package = $1 AND count = 0 AND asked_day < \(PostgreSQLStore.today) - $2 ORDER BY id
      """, [number, .integer(days)]
    ).integers
  }

  package func removePartitions(
    _ partitions: [Int64], _ transaction: NumberedTransaction
  ) throws(StoreError) {
    guard !partitions.isEmpty else { return }
    transaction.hasWritten = true
    try lead([
      PostgreSQLConnection.Request(
        "DELETE FROM ferry_store.partition WHERE id = ANY($1::int8[]) AND count = 0",
        [.integers(partitions)]), forgetting,
    ])
  }

  /// What nodes remember of partitions is read again.
  var forgetting: PostgreSQLConnection.Request {
    PostgreSQLConnection.Request(
      "UPDATE ferry_store.package SET removals = removals + 1 WHERE id = $1", [number])
  }

  package func borders() throws(StoreError) -> [WindowBorder] {
    let rows = try rows(
      """
      SELECT entity, attribute, position, first_day, last_day FROM ferry_store.border
      WHERE package = $1 ORDER BY entity
      """, [number])
    return (0..<rows.count).compactMap { row in
      WindowBorder(
        entity: rows.exact(row, 0), attribute: rows.exact(row, 1), position: rows.integer(row, 2),
        first: rows.integer(row, 3), last: rows.integer(row, 4))
    }
  }

  package func keep(
    _ borders: [WindowBorder], _ transaction: NumberedTransaction
  ) throws(StoreError) {
    guard !borders.isEmpty else { return }
    try lead(
      """
      INSERT INTO ferry_store.border
        (package, entity, attribute, position, first_day, last_day)
      SELECT $1, n.* FROM unnest($2::text[], $3::text[], $4::int8[], $5::int8[], $6::int8[]) AS n
      ON CONFLICT (package, entity) DO UPDATE SET attribute = excluded.attribute,
        position = excluded.position, first_day = excluded.first_day,
        last_day = excluded.last_day
      """,
      [
        number, .texts(borders.map(\.entity)), .texts(borders.map(\.attribute)),
        .integers(borders.map(\.position)), .integers(borders.map(\.days.lowerBound)),
        .integers(borders.map(\.days.upperBound)),
      ])
  }
}
