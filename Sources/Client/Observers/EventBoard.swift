import Synchronization

/// Turns what callbacks report into events for those who follow them.
package final class EventBoard: CallbackHandler {
  /// Events that wait for a loop that is busy; of more the oldest are dropped.
  package static let waitingLimit = 1_000

  private let loops = StreamFollowers<DatabaseEvent, Void>()
  /// Entities of the import that is being reported.
  private let imported = Mutex<Set<String>>([])

  init() {}

  var isFollowed: Bool { loops.count > 0 }

  /// The events from now on.
  package func follow() -> AsyncStream<DatabaseEvent> {
    loops.follow((), keeping: EventBoard.waitingLimit)
  }

  /// Hears a callback, if anybody follows.
  func hear(_ call: Observers.Call) { if isFollowed { call(self) } }

  /// The database is closed: every loop ends.
  package func close() { loops.close() }

  private func post(_ event: DatabaseEvent) { loops.post(event) }

  package func onConnect() { post(.connected) }
  package func onDisconnect(_ error: FerryError) { post(.disconnected(error)) }
  package func onLoginFailure(_ error: FerryError) {
    if !error.isTransient { post(.signInNeeded(error)) }
  }
  package func onImportProgress(_ progress: ImportProgress) { post(.downloading(progress)) }
  package func onImport(_ changes: EntityChanges) {
    imported.withLock { imported in _ = imported.insert(changes.entity) }
  }
  package func onImportSuccess(group: String) {
    let entities = imported.withLock { imported in
      defer { imported = [] }
      return imported
    }
    post(.imported(entities: entities))
  }
  package func onReplaySuccess(_ object: ReplayedObject) { post(.accepted(reference(object))) }
  package func onReplayFailure(_ object: ReplayedObject) {
    post(.refused(reference(object), Refusal(of: object.record)))
  }
  package func onReplayUnknown(_ object: ReplayedObject) { post(.unknown(reference(object))) }
  package func onStorageSpaceLow() { post(.storageLow) }
  package func onStorageSpaceRecovered() { post(.storageRecovered) }

  private func reference(_ object: ReplayedObject) -> ObjectReference {
    ObjectReference(entity: object.entity, key: object.key)
  }
}
