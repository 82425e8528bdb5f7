import FerryModel
import Synchronization

/// The object that an asynchronous save made of a new one. All copies of the new one know it, so that
/// two taps on one button create one object.
struct CreatedCopy: Sendable {
  let object: Int64
  /// What the copy that was saved had.
  let values: [Value]
}

extension Record {
  /// The object that was created from another copy of this new one, with what this copy changed since;
  /// the record itself where there is none.
  func createdBefore() throws(FerryError) -> Record {
    guard object == nil, !deleted, let created = origin.created.withLock({ $0 }),
      var now = try store.recordOrHidden(entity, object: created.object)
    else { return self }
    var values = now.values
    for position in values.indices where value(at: position) != created.values[position] {
      values[position] = value(at: position)
    }
    if values != now.values { now.values = values }
    return now
  }

  /// An asynchronous save has created an object from this new one.
  func wasCreated(as saved: Record) {
    guard let object = saved.object else { return }
    let copy = CreatedCopy(object: object, values: values)
    origin.created.withLock { $0 = copy }
  }
}
