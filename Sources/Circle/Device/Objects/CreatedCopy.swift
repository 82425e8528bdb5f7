import FerryModel
import Synchronization

/// The object that an asynchronous save made of a new one. All copies of the new one know it, so that
/// two taps on one button create one object.
struct CreatedCopy: Sendable {
  let object: Int64
  /// What the copy that was saved had.
  let values: [AttributeValue]
}

extension ObjectRecord {
  /// An asynchronous save has created an object from this new one.
  func wasCreated(as saved: ObjectRecord) {
    guard let object = saved.object else { return }
    let copy = CreatedCopy(object: object, values: values)
    origin.created.withLock { $0 = copy }
  }
}
