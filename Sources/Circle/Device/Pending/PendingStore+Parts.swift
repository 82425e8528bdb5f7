import FerryModel
import FerrySQLite

// What is deleted with its owner, and comes back with it.
extension PendingStore {
  /// Who edits an object whose delete was refused wants neither it nor its parts deleted: what was
  /// deleted with it comes back (Decision 0018, 3).
  func bringBackParts(of whole: LocalObject, _ chain: OperationID) throws(SQLiteError) {
    for part in try operations.parts(of: whole) {
      guard let child = store.model.entity(named: part.entity),
        let last = try operations.of(child, part.object).last,
        last.kind == .delete, last.isOpen, last.chain == chain
      else { continue }
      try letGo(last)
      try LogRecords.forget(entity: part.entity, object: part.object, connection)
      store.ended(AnsweredOperation(last, .cancelled))
      try show(child, part.object, shown: nil)
    }
  }

  /// Deletes what the object owns, as far as the model lets the device do that. What stays on the
  /// device is part only of what does, too: the delete of anything else may yet be refused.
  func deleteParts(of entity: Entity, _ values: [AttributeValue]) throws(FerryError) {
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
          ? try saveHere(change) : try delete(change)
      }
    }
  }
}
