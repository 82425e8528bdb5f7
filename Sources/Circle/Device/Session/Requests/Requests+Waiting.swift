import FerryModel
import FerrySQLite
import FerryWire

/// Changes that the server has, and that wait there for what somebody else must bring.
extension Requests {
  /// Reports those of a group that did not wait before.
  func tell(_ waiting: [WaitingOperation], of group: String) throws(FerryError) {
    let known = reportedWaits[group] ?? []
    reportedWaits[group] = waiting.isEmpty ? nil : Set(waiting.map(\.id))
    let new = waiting.filter { !known.contains($0.id) }
    guard !new.isEmpty else { return }
    let store = store
    let found = try store.withSnapshot {
      transaction throws(FerryError) -> [(PendingOperation, String)] in
      try transaction.sql { connection throws(SQLiteError) in
        let pending = PendingStore(store, connection)
        var found: [(PendingOperation, String)] = []
        for operation in new {
          guard let known = try pending.operations.with(operation.id) else { continue }
          found.append((known, operation.reason))
        }
        return found
      }
    }
    for (operation, reason) in found {
      guard let entity = store.model.entity(named: operation.entity) else { continue }
      let record = try Records(store).of(entity, object: operation.object)
      core.observers.tell(
        .waiting(
          ReplayedObject(
            entity: operation.entity, key: record?.key ?? operation.key, operation: operation.kind,
            record: record), WaitReason(rawValue: reason)), .lasting)
    }
  }
}
