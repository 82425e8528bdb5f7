import FerryModel
import FerrySQLite

extension BusinessObject {
  /// Sends what is pending of this object as soon as there is a connection (sync/P2), together with
  /// what is replayed as one with it: the rest of its transaction, and of its composite graph.
  ///
  /// From here on the change is fixed: an edit becomes a second operation behind it, which stays on
  /// the device until it is submitted too. Where something must be answered first, another change of
  /// the object or the create of what it refers to, it goes by itself when that is answered; submitted
  /// again meanwhile, it takes along what was changed since. Where it can no longer be sent by then,
  /// because it has grown beyond what one message takes or refers to a new object that is no more, it
  /// is refused on the device: `replayFailed`, with a log record of code 422. On an object that is not
  /// pending nothing happens (sync/P4).
  ///
  /// `invalidChange` when it cannot be sent now for one of these reasons; nothing is submitted then.
  public mutating func submitPending() throws(FerryError) {
    guard let object = record.object else {
      throw FerryError(
        .invalidChange, "a new \(Self.entity.name) was not saved",
        hint: "Call create or save first.", entity: Self.entity.name)
    }
    guard try record.store.submit(Self.entity, object) else { return }
    guard let read = try record.store.recordOrHidden(Self.entity, object: object) else { return }
    let old = record
    record = read
    record.follows(old, in: old.store.creations)
    record.submitted = try old.store.submitted(Self.entity, object)
  }
}
