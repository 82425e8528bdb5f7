import FerryModel
import FerrySQLite

/// Replaces a temporary key by the one that the business system gave, everywhere on the device: the
/// row, its image, all that refer to it by a relationship, and what waits.
struct Rekey {
  private let store: Store
  private let connection: Connection
  private let pending: PendingStore
  private let held: HeldReferences

  init(_ store: Store, _ connection: Connection) {
    self.store = store
    self.connection = connection
    pending = PendingStore(store, connection)
    held = HeldReferences(store, connection)
  }

  func run(
    _ entity: Entity, _ object: Int64, from old: ObjectKey, to new: ObjectKey
  ) throws(SQLiteError) {
    guard old != new, let oldValues = old.values(of: entity), let newValues = new.values(of: entity)
    else { return }
    let other = try giveWay(entity, object, to: new)
    let positions = entity.key
    try replace(entity, object, positions, newValues)
    for var operation in try pending.operations.of(entity, object) {
      operation.key = new
      operation.isTemporary = false
      for (index, position) in positions.enumerated() {
        if operation.base[position] != nil { operation.base[position] = newValues[index] }
        if operation.changed[position] != nil { operation.changed[position] = newValues[index] }
      }
      try pending.operations.update(operation)
    }
    // Whoever follows its parent's key has no answer that would show it again. What showed only
    // because a change waits, on what others have deleted, shows on.
    if let other {
      let own = try store.rows(of: entity).visible(connection, object: object)
      try pending.show(entity, object, shown: own == nil ? other.shown : nil)
    }
    try connection.run(
      "INSERT OR REPLACE INTO ferry_alias (entity, old_key, object) VALUES (?, ?, ?)",
      .text(entity.name), .text(old.text), .integer(object))
    try connection.run(
      "UPDATE OR IGNORE ferry_reference SET key = ? WHERE entity = ? AND key = ?",
      .text(new.text), .text(entity.name), .text(old.text))
    try follow(entity, oldValues, newValues)
  }

  /// What gave its place to the object with the same key.
  private struct Other {
    /// What the app saw of it.
    let shown: [AttributeValue]?
  }

  /// Another object with this key is here already: it came before the answer did. The pending one
  /// takes its image, and what the app did to it meanwhile. Nil where there is none.
  private func giveWay(
    _ entity: Entity, _ object: Int64, to key: ObjectKey
  ) throws(SQLiteError) -> Other? {
    let rows = store.rows(of: entity)
    guard let values = key.values(of: entity) else { return nil }
    let aside = try rows.original(connection, key: key)
    let shown = try rows.downloaded(connection, key: values)
    guard let other = aside?.object ?? shown?.object, other != object else { return nil }
    var image = aside
    let visible = try rows.visible(connection, object: other)
    if image == nil, let shown, let partition = shown.partition, let hash = shown.hash, let visible
    {
      image = OriginalRow(
        object: other, partition: partition, hash: hash, values: visible.values)
    }
    try rows.deleteVisible(connection, object: other)
    try rows.deleteOriginal(connection, object: other)
    for table in ["ferry_operation", "ferry_log_record", "ferry_alias"] {
      try connection.run(
        "UPDATE \(table) SET object = ? WHERE entity = ? AND object = ?", .integer(object),
        .text(entity.name), .integer(other))
    }
    held.forget()
    try pending.unite(entity, object)
    if var image {
      image.object = object
      try rows.putOriginal(connection, image)
    }
    return Other(shown: visible?.values)
  }

  /// Every attribute that refers to the old key, also where it is part of a child's own key, and where
  /// a change that is submitted and waits has it under one that was made since.
  private func follow(
    _ entity: Entity, _ old: [AttributeValue], _ new: [AttributeValue]
  ) throws(SQLiteError) {
    for child in store.model.entities {
      for relationship in child.relationships where relationship.refers(byKeyOf: entity) {
        let positions = relationship.attributes.compactMap(child.position(of:))
        guard positions.count == new.count else { continue }
        let test = relationship.attributes.map { "\(quoted($0)) = ?" }.joined(separator: " AND ")
        let shown = try connection.rows(
          "SELECT _id FROM \(Schema.table(child)) WHERE \(test)", old.map(\.stored))
        let found = try held.objects(of: child, positions, from: old, to: new)
          .union(shown.compactMap { $0[0].integer })
        for object in found.sorted() { try change(child, object, positions, old, new) }
      }
    }
  }

  private func change(
    _ child: Entity, _ object: Int64, _ positions: [Int], _ old: [AttributeValue],
    _ new: [AttributeValue]
  ) throws(SQLiteError) {
    if child.key.contains(where: positions.contains) {
      try followInKey(
        child, object, ReferenceMachine.Following(of: child, positions, from: old, to: new))
    }
    let following = ReferenceMachine.Following(of: child, positions, from: old, to: new)
    let rows = store.rows(of: child)
    let row = try rows.visible(connection, object: object)
    let image = try rows.original(connection, object: object)
    let known = try pending.operations.of(child, object)
    for operation in known {
      let followed = following.followed(operation) { position in
        ReferenceMachine.below(
          operation, position, all: known, image: { image?.values }, shown: { row?.values })
      }
      assert(
        !following.concerns(followed),
        "a change of \(child.name) \(operation.key) has the key that its parent had")
      try pending.operations.update(followed)
      held.note(followed, of: child)
    }
    if let row, positions.map({ row.values[$0] }) == old {
      try replace(child, object, positions, new)
    }
  }

  /// The reference is part of the object's own key. An object whose delete waits has no row: its
  /// changes have the key, and others refer to it by that as well (Decision 0118).
  private func followInKey(
    _ child: Entity, _ object: Int64, _ following: ReferenceMachine.Following
  ) throws(SQLiteError) {
    let row = try store.rows(of: child).visible(connection, object: object)
    guard let key = following.key(shown: row?.values, try pending.operations.of(child, object))
    else { return }
    try run(child, object, from: key, to: following.followed(key))
  }

  private func replace(
    _ entity: Entity, _ object: Int64, _ positions: [Int], _ values: [AttributeValue]
  ) throws(SQLiteError) {
    let assignments = positions.map { "\(quoted(entity.attributes[$0].name)) = ?" }
      .joined(separator: ", ")
    try connection.run(
      "UPDATE \(Schema.table(entity)) SET \(assignments) WHERE _id = ?",
      values.map(\.stored) + [.integer(object)])
  }
}
