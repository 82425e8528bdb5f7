import FerryModel
import FerrySQLite

/// Keys that the business system has replaced: a copy in the app's hands may be older than one.
struct FormerKeys {
  private let store: Store
  private let connection: Connection

  init(_ store: Store, _ connection: Connection) {
    self.store = store
    self.connection = connection
  }

  /// The object that had this temporary key until the business system gave it one.
  func object(_ key: ObjectKey, of entity: Entity) throws(SQLiteError) -> Int64? {
    try connection.value(
      "SELECT object FROM ferry_alias WHERE entity = ? AND old_key = ?", .text(entity.name),
      .text(key.text))?.integer
  }

  /// The same change with the keys that objects have now: a copy in the app's hands may still have the
  /// temporary key of an object that the business system gave a key meanwhile. Both what the app saw
  /// and what it wants, so that the new key is no change of the app's.
  func followed(_ change: LocalChange) throws(SQLiteError) -> LocalChange {
    var followed = change
    try follow(&followed.seen, of: change.entity)
    guard var after = change.after else { return followed }
    try follow(&after, of: change.entity)
    followed.after = after
    return followed
  }

  /// Every reference by a temporary key that was replaced is one by the key that replaced it.
  private func follow(
    _ values: inout [AttributeValue], of entity: Entity, depth: Int = 0
  ) throws(SQLiteError) {
    // A part of a part of a part: a model that goes deeper than this goes in a circle.
    guard depth < 16 else { return }
    for relationship in entity.relationships {
      let positions = relationship.attributes.compactMap(entity.position(of:))
      // Few values are temporary keys: that is asked first.
      guard positions.allSatisfy(values.indices.contains),
        positions.contains(where: { entity.attributes[$0].type.isTemporaryKey(values[$0]) }),
        let target = store.model.entity(named: relationship.target),
        relationship.refers(byKeyOf: target)
      else { continue }
      let key = ObjectKey(positions.map { values[$0] })
      guard let object = try object(key, of: target) else {
        // It never had another key itself: what its key has of its owner's may be replaced.
        var owned = [AttributeValue](repeating: .null, count: target.attributes.count)
        for (position, part) in zip(positions, target.key) { owned[part] = values[position] }
        try follow(&owned, of: target, depth: depth + 1)
        for (position, part) in zip(positions, target.key) { values[position] = owned[part] }
        continue
      }
      guard let known = try present(object, of: target) else { continue }
      for (position, part) in zip(positions, target.key) { values[position] = known[part] }
    }
  }

  /// What an object has now. Its delete may be pending: then its image alone has the key.
  private func present(_ object: Int64, of entity: Entity) throws(SQLiteError) -> [AttributeValue]?
  {
    let rows = store.rows(of: entity)
    if let visible = try rows.visible(connection, object: object) { return visible.values }
    return try rows.original(connection, object: object)?.values
  }

  /// The values by which `way` leads on from a copy, with the keys that objects have now.
  func key(of record: ObjectRecord, on way: Way) throws(SQLiteError) -> [AttributeValue] {
    let own = way.key(of: record)
    guard zip(way.types, own).contains(where: { $0.isTemporaryKey($1) }) else { return own }
    let entity = record.entity
    var values = record.values
    try follow(&values, of: entity)
    var object = record.object
    if object == nil { object = try self.object(record.key, of: entity) }
    if let object, let known = try present(object, of: entity) {
      for position in entity.key { values[position] = known[position] }
    }
    return way.own.map { values[$0] }
  }

  /// A key with the keys that its owners have now; nil where it is the same.
  func followed(_ key: ObjectKey, of entity: Entity) throws(SQLiteError) -> ObjectKey? {
    guard let parts = key.values(of: entity) else { return nil }
    var values = [AttributeValue](repeating: .null, count: entity.attributes.count)
    for (position, value) in zip(entity.key, parts) { values[position] = value }
    try follow(&values, of: entity)
    let followed = entity.key(of: values)
    return followed == key ? nil : followed
  }
}
