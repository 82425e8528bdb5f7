import FerryModel
import FerryWire

extension Outbox {
  /// Keeps a change beside its object, and submits it where that is wanted: both, or neither.
  ///
  /// `submitting` is what the app says of this change; with nil the transaction that is open decides,
  /// or the database. Returns nil if the object is no longer on the device.
  func save(
    _ change: LocalChange, _ submitting: Submitting?
  ) throws(FerryError) -> ObjectRecord? {
    try store.checkTransaction(of: change.entity)
    guard store.isInTransaction else {
      let isNow = submitting.map { $0 == .now } ?? store.submitsAutomatically.withLock { $0 }
      return isNow ? try saveAndSubmit(change) : try PendingStore.save(change, in: store)
    }
    if submitting == .now { return try saveAndSubmit(change) }
    let saved = try PendingStore.save(change, in: store)
    if submitting == .later {
      collect(.later)
    } else if let object = saved?.object {
      let reference = LocalObject(change.entity.name, object)
      store.scope.withLock { $0.saved.append(reference) }
    }
    return saved
  }

  private func saveAndSubmit(_ change: LocalChange) throws(FerryError) -> ObjectRecord? {
    try store.withTransaction { transaction throws(FerryError) -> ObjectRecord? in
      if let saved = try StraightSave(transaction).save(change) {
        store.freed()
        return saved
      }
      let saved = try PendingStore.save(change, in: store)
      guard let object = saved?.object,
        try ChainSealing(transaction).submit(change.entity, object) != nil
      else { return saved }
      store.freed()
      // A delete that is pending is hidden; a delete of an unsent create leaves nothing.
      return try PendingObjects(store).record(change.entity, object)
    }
  }

  /// What the app says of all changes of the transaction that is open; `.later` outweighs `.now`.
  func collect(_ submitting: Submitting) {
    store.scope.withLock { scope in
      if scope.submitting != .later { scope.submitting = submitting }
    }
  }

  /// At the end of a transaction: submits what was saved in it, unless the app submits it later.
  func submitSaved() throws(FerryError) {
    let scope = store.scope.withLock { $0 }
    let isNow =
      scope.submitting.map { $0 == .now } ?? store.submitsAutomatically.withLock { $0 }
    guard isNow, !scope.isRolledBack, !scope.saved.isEmpty else { return }
    try store.withTransaction { transaction throws(FerryError) in
      var seen: Set<LocalObject> = []
      for saved in scope.saved where seen.insert(saved).inserted {
        guard let entity = store.model.entity(named: saved.entity) else { continue }
        _ = try ChainSealing(transaction).submit(entity, saved.object)
      }
    }
  }
}
