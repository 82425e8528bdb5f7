import FerryModel
import FerrySQLite

extension BusinessObject {
  /// Sends what is pending of this object as soon as there is a connection (sync/P2), together with
  /// what is replayed as one with it: the rest of its transaction, and of its composite graph.
  ///
  /// From here on the change is fixed: an edit becomes a second operation behind it, which stays on
  /// the device until it is submitted too. Where something must be answered first, another change of
  /// the object, the create of what it refers to, or before a delete what ends a reference to the
  /// object, it goes by itself when that is answered; while that is refused, it stays. Submitted again
  /// meanwhile, it takes along what was changed since. Where it can no longer be sent by then,
  /// because it has grown beyond what one message takes or refers to a new object that is no more, it
  /// is refused on the device: `replayFailed`, with a log record of code 422. On an object that is not
  /// pending nothing happens (sync/P4).
  ///
  /// What it returns waits for the answer to what was submitted here, and to nothing else; an app
  /// that waits for none leaves it.
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
    let store = record.store
    guard let operations = try Outbox(store).submit(Self.entity, object) else {
      let own = LocalObject(Self.entity.name, object)
      let open = try store.withSnapshot { transaction throws(FerryError) in
        try SubmittedOperations(transaction).of(own)
      }
      return Submission(store, object, Set(open.map(\.id)))
    }
    let submission = Submission<Self>(
      store, object, operations, isTakenBack: operations.isEmpty, transaction: store.creations)
    guard let read = try store.recordOrHidden(Self.entity, object: object) else {
      return submission
    }
    let old = record
    record = read
    record.follows(old, in: store.creations)
    return submission
  }
}
