import FerryModel

/// Open sessions as they were read from the store: the next request of one asks nothing.
///
/// This server's own writes drop what they may end. What other nodes end is dropped with the next look
/// at the store.
struct SessionMemory {
  private var sessions: [ExactText: [String: StoredSession]] = [:]
  private var count = 0
  private var changes: Int64?

  func session(_ id: String, of user: String) -> StoredSession? {
    sessions[ExactText(user)]?[id]
  }

  mutating func note(_ session: StoredSession) {
    guard session.ended == nil else { return }
    if count >= StoreMemory.limit { forget() }
    let old = sessions[ExactText(session.user), default: [:]].updateValue(
      session, forKey: session.id)
    if old == nil { count += 1 }
  }

  mutating func forget(of user: String) {
    count -= sessions.removeValue(forKey: ExactText(user))?.count ?? 0
  }

  mutating func forget() {
    sessions = [:]
    count = 0
  }

  /// What `NodeStore.sessionChanges` says now.
  mutating func note(changes now: Int64) {
    if now != changes { forget() }
    changes = now
  }
}
