import FerryModel
import FerrySQLite

// What belongs together: the changes of one transaction, and the parts of one composite graph.
extension PendingStore {
  /// Greater than `last`, whatever the clock does.
  func counter(after last: Int64) -> Int64 { max(store.world.clock.now.milliseconds, last + 1) }

  /// The chain of an operation that a change merges into. Two transactions that changed the same
  /// object cannot be told apart any more: what waits of either becomes one chain.
  func chain(of operation: PendingOperation) throws(SQLiteError) -> OperationID {
    let chain = store.chain(else: operation.chain)
    try operations.unite(operation.chain, into: chain)
    return chain
  }

  /// The top of the composite graph that an object with these values is in, and what is passed on
  /// the way up: itself and nothing where nothing owns it, or the owner is not on the device.
  func owners(
    of entity: Entity, _ object: Int64, _ values: [AttributeValue]
  ) throws(SQLiteError) -> (root: LocalObject, between: [LocalObject]) {
    let own = LocalObject(entity.name, object)
    var top = own
    var between: [LocalObject] = []
    var part = entity
    var values = values
    // A part of a part of a part: a model that goes deeper than this goes in a circle.
    for _ in 0..<16 {
      guard let owner = part.owner, let whole = store.model.entity(named: owner.target) else {
        break
      }
      let key = owner.attributes.compactMap(part.position(of:)).map { values[$0] }
      guard key.count == owner.attributes.count, key.count == whole.key.count,
        !key.contains(.null)
      else { break }
      let rows = store.rows(of: whole)
      if top != own { between.append(top) }
      if let row = try rows.visible(connection, key: key) {
        (top, values) = (LocalObject(whole.name, row.object), row.values)
      } else if let row = try rows.original(connection, key: key) {
        (top, values) = (LocalObject(whole.name, row.object), row.values)
      } else {
        if top != own { between.removeLast() }
        break
      }
      part = whole
    }
    return (top, between)
  }
}
