import FerryModel
import FerrySQLite
import FerryWire
import Synchronization

/// Tells the app what has happened.
package final class Observers: Sendable {
  private let handler = Mutex<(any CallbackHandler)?>(nil)

  package init() {}

  package func register(_ handler: any CallbackHandler) { self.handler.withLock { $0 = handler } }

  /// Without a handler the data is processed all the same and nothing is told (sync/M3).
  package func tell(_ callback: (any CallbackHandler) -> Void) {
    if let handler = handler.withLock({ $0 }) { callback(handler) }
  }

  /// Makes the callbacks that are owed; each is forgotten after the handler has returned.
  package func tellOwed(of store: Store) throws(FerryError) {
    while true {
      let next = try store.read { connection throws(FerryError) in
        try store.sql { () throws(SQLiteError) in try NoticeTable.first(connection) }
      }
      guard let next else { return }
      try tell(next, of: store)
      try store.write { connection throws(FerryError) in
        try store.sql { () throws(SQLiteError) in try NoticeTable.remove(next, connection) }
      }
    }
  }

  private func tell(_ notice: Notice, of store: Store) throws(FerryError) {
    switch notice.kind {
    case .importSuccess: tell { $0.onImportSuccess(group: notice.content ?? "") }
    case .entityImported:
      var changes = EntityChanges(entity: notice.entity ?? "")
      let counts = (notice.content ?? "").split(separator: " ").compactMap { Int($0) }
      guard counts.count == 3 else { return }
      (changes.inserted, changes.updated, changes.deleted) = (counts[0], counts[1], counts[2])
      tell { $0.onImport(changes) }
    case .replaySuccess, .replayFailure, .replayUnknown:
      guard let entity = notice.entity.flatMap(store.model.entity(named:)),
        let object = notice.object, let key = notice.key,
        let operation = OperationKind(rawValue: notice.content ?? "")
      else { return }
      let record = try store.record(entity, object: object)
      let replayed = ReplayedObject(
        entity: entity.name, key: record?.key ?? key, operation: operation, record: record)
      tell { handler in
        switch notice.kind {
        case .replaySuccess: handler.onReplaySuccess(replayed)
        case .replayFailure: handler.onReplayFailure(replayed)
        default: handler.onReplayUnknown(replayed)
        }
      }
    }
  }
}
