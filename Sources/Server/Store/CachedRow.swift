import FerryModel
import FerrySQLite

/// A row of the cache.
struct CachedRow {
  let id: Int64
  let entity: Int
  let key: Key
  let partition: Int64?
  let body: [UInt8]
  let hash: Int64
  let version: Int64
  let isDeleted: Bool
}

/// Reads the cache.
struct CacheReader {
  let store: Store
  let rules: PartitionRules

  private static let columns: String = "id, key, partition, body, hash, version, deleted"

  func row(_ entity: Int, _ key: Key) throws(SQLiteError) -> CachedRow? {
    let row = try store.writer.row(
      "SELECT \(CacheReader.columns) FROM row WHERE entity = ? AND key = ?",
      .integer(store.entityNumbers[entity]), .text(key.text))
    return try row.map { row throws(SQLiteError) in try cached(row, entity) }
  }

  /// When the object was last written, and whether it is there; one that is gone has a version as
  /// long as its tombstone is kept.
  func state(of name: ObjectName) throws(SQLiteError) -> (version: Int64?, isThere: Bool) {
    guard let entity = rules.position(of: name.entity) else { return (nil, false) }
    let row = try store.writer.row(
      "SELECT version, deleted FROM row WHERE entity = ? AND key = ?",
      .integer(store.entityNumbers[entity]), .text(name.key.text))
    return (row?[0].integer, row?[1].integer == 0)
  }

  /// Rows of `entity` that call their parent so and are not deleted.
  func children(_ entity: Int, of parentKey: Key) throws(SQLiteError) -> [CachedRow] {
    let rows = try store.writer.rows(
      """
      SELECT \(CacheReader.columns) FROM row
      WHERE entity = ? AND parent_key = ? AND deleted = 0 ORDER BY id
      """, .integer(store.entityNumbers[entity]), .text(parentKey.text))
    var found: [CachedRow] = []
    for row in rows { found.append(try cached(row, entity)) }
    return found
  }

  /// The partitions that the row has left, as far as that is remembered.
  func lastPartitions(of row: CachedRow) throws(SQLiteError) -> [Int64?] {
    try store.writer.rows("SELECT partition FROM member WHERE row = ?", .integer(row.id))
      .map { $0[0].integer }
  }

  func values(of row: CachedRow) throws(SQLiteError) -> [Value] {
    let entity = rules.package.entities[row.entity]
    do {
      return try RowCoder.decode(row.body, types: entity.attributes.map(\.type))
    } catch {
      throw SQLiteError.damaged("the row \(entity.name) \(row.key) cannot be read: \(error)")
    }
  }

  /// The place of a row with these values, by the rows that are in the cache now; nil: nobody's.
  func place(
    of entity: Int, values: [Value], in directory: PartitionDirectory
  ) throws(SQLiteError) -> Place? {
    let rule = rules.rules[entity]
    let group = rules.package.entities[entity].group
    switch rule.path {
    case .everyone: return Place(group: group, rule: rule.root.rule, values: "")
    case .columns(let positions):
      let found = positions.map { values[$0] }
      if found.contains(where: \.isNull) { return nil }
      return Place(group: group, rule: rule.root.rule, values: Key(found).text)
    case .parent(let path):
      guard let name = path.parentKey(of: values),
        let partition = try partition(ofParent: name, path),
        let place = try directory.place(of: partition)
      else { return nil }
      return rules.place(of: entity, at: place)
    }
  }

  private func partition(
    ofParent name: Key, _ path: PartitionRules.ParentPath
  ) throws(SQLiteError)
    -> Int64?
  {
    let entity = SQLiteValue.integer(store.entityNumbers[path.target])
    if path.isKey {
      return try store.writer.value(
        "SELECT partition FROM row WHERE entity = ? AND key = ? AND deleted = 0", entity,
        .text(name.text))?.integer
    }
    return try store.writer.value(
      """
      SELECT r.partition FROM alternate AS a JOIN row AS r ON r.id = a.row
      WHERE a.entity = ? AND a.attributes = ? AND a.text = ? AND r.deleted = 0 ORDER BY r.id LIMIT 1
      """, entity, .text(path.name), .text(name.text))?.integer
  }

  private func cached(_ row: [SQLiteValue], _ entity: Int) throws(SQLiteError) -> CachedRow {
    guard let id = row[0].integer, let key = row[1].text, let body = row[3].blob,
      let hash = row[4].integer, let version = row[5].integer
    else { throw SQLiteError.damaged("a row of the cache is not whole") }
    return CachedRow(
      id: id, entity: entity, key: Key(text: key), partition: row[2].integer, body: body,
      hash: hash,
      version: version, isDeleted: row[6].integer == 1)
  }
}
