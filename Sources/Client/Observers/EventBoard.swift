import Synchronization

/// Turns what callbacks report into events for those who follow them.
package final class EventBoard: CallbackHandler {
  /// Events that wait for a loop that is busy; of more the oldest are dropped.
  package static let waitingLimit = 1_000

  private struct State {
    var followers: [Int: AsyncStream<DatabaseEvent>.Continuation] = [:]
    var last = 0
    /// Of the import that is being reported.
    var imported: Set<String> = []
    var isClosed = false
  }

  private let state = Mutex(State())

  init() {}

  var isFollowed: Bool { state.withLock { !$0.followers.isEmpty } }

  /// The events from now on.
  package func follow() -> AsyncStream<DatabaseEvent> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: DatabaseEvent.self, bufferingPolicy: .bufferingNewest(EventBoard.waitingLimit))
    let number = state.withLock { state -> Int? in
      guard !state.isClosed else { return nil }
      state.last += 1
      state.followers[state.last] = continuation
      return state.last
    }
    guard let number else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { state in _ = state.followers.removeValue(forKey: number) }
    }
    return stream
  }

  /// Hears a callback, if anybody follows.
  func hear(_ call: Observers.Call) { if isFollowed { call(self) } }

  /// The database is closed: every loop ends.
  package func close() {
    let followers = state.withLock { state in
      state.isClosed = true
      return Array(state.followers.values)
    }
    for follower in followers { follower.finish() }
  }

  private func post(_ event: DatabaseEvent) {
    for follower in state.withLock({ Array($0.followers.values) }) { follower.yield(event) }
  }

  package func onConnect() { post(.connected) }
  package func onDisconnect(_ error: FerryError) { post(.disconnected(error)) }
  package func onLoginFailure(_ error: FerryError) {
    if !error.isTransient { post(.signInNeeded(error)) }
  }
  package func onImportProgress(_ progress: ImportProgress) { post(.downloading(progress)) }
  package func onImport(_ changes: EntityChanges) {
    state.withLock { state in _ = state.imported.insert(changes.entity) }
  }
  package func onImportSuccess(group: String) {
    let entities = state.withLock { state in
      defer { state.imported = [] }
      return state.imported
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
