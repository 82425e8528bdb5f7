import FerryModel
import FerryWire

/// Submits and cancels what is pending on the device.
package struct Outbox {
  let store: Store

  package init(_ store: Store) { self.store = store }

  /// Fixes the bytes of what is pending of an object and of everything that is replayed with it, or
  /// remembers the wish where something must be answered first (sync/P2).
  ///
  /// Returns what it submitted of the object and of what it owns, nothing where together that left
  /// nothing to send; nil when nothing is pending (sync/P4).
  package func submit(
    _ entity: Entity, _ object: Int64
  ) throws(FerryError) -> Set<OperationID>? {
    try store.checkTransaction(of: entity)
    let found = try store.withTransaction { transaction throws(FerryError) in
      try ChainSealing(transaction).submit(entity, object)
    }
    if found != nil { store.bell.ring() }
    return found
  }
}
