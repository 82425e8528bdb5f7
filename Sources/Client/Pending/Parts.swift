import FerryModel
import FerrySQLite

/// What is deleted with its owner, and comes back with it.
struct Parts {
  let store: Store
  let connection: Connection

  init(_ store: Store, _ connection: Connection) {
    self.store = store
    self.connection = connection
  }

  /// Who edits an object whose delete was refused wants neither it nor its parts deleted: what was
  /// deleted with it comes back (Decision 0018, 3).
  func bringBack(of whole: LocalObject, _ chain: OperationID) throws(SQLiteError) {
    for part in try store.operations.parts(of: whole, connection) {
      guard let child = store.model.entity(named: part.entity),
        let last = try store.operations.of(child, part.object, connection).last,
        last.kind == .delete, last.isOpen, last.chain == chain
      else { continue }
      try store.letGo(last, connection)
      try LogRecords.forget(entity: part.entity, object: part.object, connection)
      store.ended(AnsweredOperation(last, .cancelled))
      try store.show(child, part.object, shown: nil, connection)
    }
  }

  /// Deletes what the object owns, as far as the model lets the device do that. What stays on the
  /// device is part only of what does, too: the delete of anything else may yet be refused.
  func delete(of entity: Entity, _ values: [Value]) throws(FerryError) {
    guard entity.ownsChildren else { return }
    for child in store.model.entities {
      guard let owner = child.owner, owner.target == entity.name,
        child.isClientOnly == entity.isClientOnly, child.operations.contains(.delete)
      else { continue }
      let parts = try store.sql { () throws(SQLiteError) in
        let own = owner.targetAttributes.compactMap(entity.position(of:)).map { values[$0].stored }
        return try store.rows(of: child).visibleRows(
          connection, "WHERE \(matching(owner.attributes)) ORDER BY _id", own)
      }
      for part in parts {
        let change = LocalChange(
          entity: child, kind: .delete, object: part.object, seen: part.values, after: nil)
        _ =
          child.isClientOnly
          ? try store.saveHere(change, connection) : try store.delete(change, connection)
      }
    }
  }
}
