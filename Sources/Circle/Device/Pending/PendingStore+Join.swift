import FerryModel
import FerrySQLite
import FerryWire

/// What changes of one object have become together.
struct JoinedChanges {
  /// The one that they are now; nil where they leave nothing to send.
  var left: PendingOperation?
  /// Those that went into an earlier one.
  var joined: [PendingOperation] = []
  /// Those that leave nothing together with what came after them. They are in the table until they
  /// are let go.
  var gone: [PendingOperation] = []
}

extension PendingStore {
  /// Changes of one object, in the order in which they were made, become one
  /// that the app has in hand again. It is the first of them, and belongs to what else the
  /// transactions of all of them changed. Where some leave nothing, what comes then is a change of
  /// its own.
  func join(_ changes: [PendingOperation]) throws(SQLiteError) -> JoinedChanges {
    var result = JoinedChanges()
    for next in changes {
      guard let first = result.left else {
        result.left = next
        continue
      }
      try operations.delete(next)
      try operations.unite(next.chain, into: first.chain)
      result.joined.append(next)
      result.left = PendingMachine.join(first, next, below: try below(first))
      result.left?.wanted = .no
      if result.left == nil { result.gone.append(first) }
    }
    if !result.joined.isEmpty, let left = result.left { try operations.update(left) }
    return result
  }

  /// What is there of an object without a change and those behind it.
  func below(_ change: PendingOperation) throws(SQLiteError) -> [AttributeValue]? {
    guard let entity = store.model.entity(named: change.entity) else { return nil }
    let earlier = try operations.of(entity, change.object)
      .filter { $0.sequence < change.sequence }
    let image = try store.rows(of: entity).original(connection, object: change.object)?.values
    return PendingMachine.below(
      earlier, on: image, nothing: entity.attributes.map { _ in .null }
    ).map { Array($0.prefix(entity.servedCount)) }
  }

  /// The object was here twice, and has the changes of both rows by now: they become what one object
  /// may have (Decision 0108). Those who wait for one of them hear nothing: what was submitted is
  /// submitted.
  func unite(_ entity: Entity, _ object: Int64) throws(SQLiteError) {
    // Their places do not tell which was made last.
    let open = try operations.of(entity, object).filter(\.isOpen)
      .sorted { ($0.counter, $0.sequence) < ($1.counter, $1.sequence) }
    for operation in try join(open).gone { try letGo(operation) }
    let united = PendingMachine.united(try operations.of(entity, object))
    if let gone = united.gone { try letGo(gone) }
    if let changed = united.changed { try operations.update(changed) }
    for operation in united.moved { try operations.moveToEnd(operation) }
  }

  /// What was submitted of an object is not sent after all, and one change with
  /// what the app has changed since; those who wait for that hear `outcome`. False where the two
  /// leave nothing.
  func giveBack(
    _ entity: Entity, _ object: Int64, telling outcome: AnsweredOperation.Outcome
  ) throws(SQLiteError) -> Bool {
    let changes = try join(try operations.of(entity, object).filter(\.isOpen))
    for part in changes.joined { store.ended(AnsweredOperation(part, outcome)) }
    try forget(changes.gone)
    try show(entity, object, shown: nil)
    return changes.left != nil
  }

  /// Nothing is left to send of these.
  func forget(_ gone: [PendingOperation]) throws(SQLiteError) {
    for operation in gone {
      guard let entity = store.model.entity(named: operation.entity) else { continue }
      try letGo(operation)
      try show(entity, operation.object, shown: nil)
      try forgetKey(of: operation, entity)
      store.ended(AnsweredOperation(operation, .cancelled))
    }
  }
}
