import FerryModel
import FerrySQLite

extension BusinessObject {
  /// Sends the pending change of this object as soon as there is a connection, together with the
  /// changes that are replayed as one with it: the others of its transaction, and those of its
  /// composite graph.
  ///
  /// From now on the change is fixed: a later edit becomes a second operation, which stays on the
  /// device until it is submitted too. A change may have to wait for the answer to another one: an
  /// earlier change of the object, the create of an object that it refers to, or, before a delete,
  /// a change that removes a reference to the object. It is then sent automatically after that
  /// answer; if the other change is refused, it stays. If it is submitted again meanwhile, it
  /// includes the changes made since. If it can no longer be sent then, because it is too large for
  /// one message or refers to a new object that was deleted, the device refuses it: `replayFailed`,
  /// with a log record of code 422. For an object without a pending change nothing happens.
  ///
  /// The returned value waits for the answer to this submit only; an app that does not wait may
  /// ignore it.
  ///
  /// `objectNotSaved` for a new object. `tooLarge`, `invalidReference` or `notDownloaded` for a change
  /// that cannot be sent now; nothing is submitted then.
  @discardableResult
  public mutating func submitPending() throws(FerryError) -> Submission<Self> {
    guard let object = record.object else {
      throw FerryError(
        .objectNotSaved, "a new \(Self.entity.name) was not saved",
        hint: "Call create or save first.", entity: Self.entity.name)
    }
    let store = try record.store
    guard let operations = try Outbox(store).submit(Self.entity, object) else {
      let own = LocalObject(Self.entity.name, object)
      let open = try store.withSnapshot { transaction throws(FerryError) in
        try SubmittedOperations(transaction).of(own)
      }
      return Submission(store, object, Set(open.map(\.id)))
    }
    let submission = Submission<Self>(
      store, object, operations, isTakenBack: operations.isEmpty, transaction: store.creations)
    guard let read = try PendingObjects(store).record(Self.entity, object) else {
      return submission
    }
    let old = record
    record = read
    record.follows(old, in: store.creations)
    return submission
  }
}
