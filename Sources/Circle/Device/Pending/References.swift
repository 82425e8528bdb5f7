import FerryModel
import FerrySQLite

/// Where a change makes its object refer to, and which references it ends.
///
/// A reference is looked at as a whole: an attribute that the change leaves alone has the value that
/// is below the change.
struct References {
  /// An object that is referred to by its key.
  struct Target {
    let relationship: Relationship
    let entity: Entity
    let key: [AttributeValue]
    /// Of the attributes that refer.
    let positions: [Int]

    /// The device has given the key, and the business system will give another one.
    var isTemporary: Bool {
      entity.keyOrigin == .businessSystem
        && zip(entity.key, key).contains { entity.attributes[$0].type.isTemporaryKey($1) }
    }
  }

  private let store: Store
  private let connection: Connection
  private let operations: OperationTable

  init(_ store: Store, _ connection: Connection) {
    self.store = store
    self.connection = connection
    operations = OperationTable(store, connection)
  }

  /// The objects that a change makes its object refer to and that may be new. What has its final key
  /// from the business system is there.
  func made(by operation: PendingOperation) throws(SQLiteError) -> [Target] {
    guard operation.kind != .delete else { return [] }
    var made: [Target] = []
    for reference in touched(by: operation) {
      var key: [AttributeValue] = []
      for position in reference.positions { key.append(try value(after: operation, position)) }
      let target = Target(
        relationship: reference.relationship, entity: reference.target, key: key,
        positions: reference.positions)
      guard !key.contains(.null), target.entity.keyOrigin == .app || target.isTemporary
      else { continue }
      made.append(target)
    }
    return made
  }

  /// The objects to which a change ends a reference: where its object led for the app, and where it
  /// leads for the business system as `image` has it.
  func ended(
    by operation: PendingOperation, image: [AttributeValue]?
  ) throws(SQLiteError) -> [Target] {
    guard operation.kind != .create else { return [] }
    var ended: [Target] = []
    for reference in touched(by: operation) {
      var (before, after): ([AttributeValue], [AttributeValue]) = ([], [])
      for position in reference.positions {
        before.append(try value(before: operation, position))
        if operation.kind == .update { after.append(try value(after: operation, position)) }
      }
      let led = [before] + (image.map { image in [reference.positions.map { image[$0] }] } ?? [])
      for key in led where key != after && !key.contains(.null) {
        ended.append(
          Target(
            relationship: reference.relationship, entity: reference.target, key: key,
            positions: reference.positions))
      }
    }
    return ended
  }

  func ends(
    _ operation: PendingOperation, _ entity: Entity, _ key: [AttributeValue]
  ) throws(SQLiteError) -> Bool {
    guard let own = store.model.entity(named: operation.entity) else { return false }
    let image = try store.rows(of: own).original(connection, object: operation.object)
    return try ended(by: operation, image: image?.values)
      .contains { $0.entity.name == entity.name && $0.key == key }
  }

  /// Notes the objects to which these changes of one object end references, so that whoever deletes
  /// those finds them. What is noted stays until the change is gone: an index of what to look at.
  func note(_ operations: [PendingOperation], image: [AttributeValue]?) throws(SQLiteError) {
    for operation in operations where operation.kind != .create {
      for target in try ended(by: operation, image: image) {
        try note(operation, target, ends: true)
      }
    }
  }

  /// Notes the objects that a change which waits makes its object refer to, so that it is found when
  /// the create of one of them has ended.
  func noteMade(by operation: PendingOperation) throws(SQLiteError) {
    for target in try made(by: operation) { try note(operation, target, ends: false) }
  }

  /// Notes the same of everything that is pending, where an older version or model left it.
  func noteAll() throws(SQLiteError) {
    guard try !WaitTriggers.areNoted(connection) else { return }
    try connection.run("DELETE FROM ferry_reference WHERE entity = ''")
    for entity in store.model.entities where store.keyReferences[entity.name]?.isEmpty == false {
      let rows = store.rows(of: entity)
      let pending = try operations.select(
        "WHERE entity = ? AND kind <> 'create'", [.text(entity.name)])
      for operation in pending {
        let image = try rows.original(connection, object: operation.object)
        try note([operation], image: image?.values)
      }
    }
  }

  private func note(
    _ operation: PendingOperation, _ target: Target, ends: Bool
  ) throws(SQLiteError) {
    try connection.run(
      "INSERT OR IGNORE INTO ferry_reference (entity, key, ends, sequence) VALUES (?, ?, ?, ?)",
      .text(target.entity.name), .text(ObjectKey(target.key).text), .flag(ends),
      .integer(operation.sequence))
  }

  /// Whether a change makes or ends references.
  func concerns(_ operation: PendingOperation) -> Bool { !touched(by: operation).isEmpty }

  /// A delete ends every reference, a create makes those that it sets.
  private func touched(by operation: PendingOperation) -> [KeyReference] {
    let all = store.keyReferences[operation.entity] ?? []
    guard operation.kind == .update else { return all }
    return all.filter { $0.positions.contains { operation.changed[$0] != nil } }
  }

  private func value(
    after operation: PendingOperation, _ position: Int
  ) throws(SQLiteError) -> AttributeValue {
    if let value = operation.changed[position] ?? key(of: operation, position) { return value }
    return operation.kind == .create ? .null : try below(operation, position)
  }

  private func value(
    before operation: PendingOperation, _ position: Int
  ) throws(SQLiteError) -> AttributeValue {
    if let value = operation.base[position] ?? key(of: operation, position) { return value }
    return try below(operation, position)
  }

  private func key(of operation: PendingOperation, _ position: Int) -> AttributeValue? {
    guard let entity = store.model.entity(named: operation.entity),
      let place = entity.key.firstIndex(of: position), let key = operation.key.values(of: entity)
    else { return nil }
    return key[place]
  }

  /// What an attribute is where a change leaves it alone. Rare: of a reference by several attributes
  /// the change sets some.
  private func below(
    _ operation: PendingOperation, _ position: Int
  ) throws(SQLiteError) -> AttributeValue {
    guard let entity = store.model.entity(named: operation.entity) else { return .null }
    let rows = store.rows(of: entity)
    let all = try operations.of(entity, operation.object)
    let earlier = all.last {
      $0.sequence < operation.sequence && $0.kind != .delete && $0.state != .withdrawn
        && ($0.kind == .create || $0.changed[position] != nil)
    }
    if let earlier { return earlier.changed[position] ?? .null }
    if let image = try rows.original(connection, object: operation.object) {
      return image.values[position]
    }
    let later = all.first { $0.sequence > operation.sequence && $0.base[position] != nil }
    if let value = later?.base[position] { return value }
    return try rows.visible(connection, object: operation.object)?.values[position] ?? .null
  }
}
