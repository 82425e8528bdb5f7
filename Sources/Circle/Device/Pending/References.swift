import FerryModel
import FerrySQLite

/// Where a change makes its object refer to, and which references it ends.
///
/// A reference is looked at as a whole: an attribute that the change leaves alone has the value that
/// is below the change.
struct References {
  typealias Target = ReferenceMachine.Target

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
    try machine(of: operation)?.made(by: operation) { position throws(SQLiteError) in
      try below(operation, position)
    } ?? []
  }

  /// The objects to which a change ends a reference: where its object led for the app, and where it
  /// leads for the business system as `image` has it.
  func ended(
    by operation: PendingOperation, image: [AttributeValue]?
  ) throws(SQLiteError) -> [Target] {
    try machine(of: operation)?.ended(by: operation, image: image) { position throws(SQLiteError) in
      try below(operation, position)
    } ?? []
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
  func concerns(_ operation: PendingOperation) -> Bool {
    machine(of: operation)?.touched(by: operation).isEmpty == false
  }

  private func machine(of operation: PendingOperation) -> ReferenceMachine? {
    guard let entity = store.model.entity(named: operation.entity) else { return nil }
    return ReferenceMachine(
      entity: entity, references: store.keyReferences[operation.entity] ?? [])
  }

  /// What an attribute is without the change.
  private func below(
    _ operation: PendingOperation, _ position: Int
  ) throws(SQLiteError) -> AttributeValue {
    guard let entity = store.model.entity(named: operation.entity) else { return .null }
    let rows = store.rows(of: entity)
    return try ReferenceMachine.below(
      operation, position, all: try operations.of(entity, operation.object)
    ) { () throws(SQLiteError) in
      try rows.original(connection, object: operation.object)?.values
    } shown: { () throws(SQLiteError) in
      try rows.visible(connection, object: operation.object)?.values
    }
  }
}
