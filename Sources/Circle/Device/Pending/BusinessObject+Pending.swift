import FerryModel

extension BusinessObject {
  /// Reads the object again; changes in memory are dropped.
  ///
  /// Errors: `objectNotFound` for a new object, for one with a pending delete, and if it is no
  /// longer on the device; the hint says which.
  public mutating func refresh() throws(FerryError) {
    guard let object = record.object else {
      throw FerryError(
        .objectNotFound, "the \(Self.entity.name) to refresh was not saved",
        hint: "Call create or save first.", entity: Self.entity.name)
    }
    let store = try record.store
    let read = try PendingObjects(store).record(Self.entity, object)
    guard let read, !read.deleted else {
      throw FerryError(
        .objectNotFound, "\(Self.entity.name) \(record.key) is no longer on the device",
        hint: read != nil
          ? "Its delete is pending here: cancelPending restores it."
          : "Another user deleted it or it moved out of your data.", entity: Self.entity.name)
    }
    let old = record
    record = read
    record.follows(old, in: store.creations, dropped: true)
  }

  /// Nothing of the object is left on the device.
  mutating func end() {
    record.deleted = true
    record.pending = .none
    record.failed = false
    record.replay = .none
  }

  /// Discards the pending changes of this object and of its parts.
  ///
  /// If its create was pending, nothing keeps a reference to its temporary key: pending creates
  /// that refer to it are cancelled too. Pending updates get their old reference back and keep
  /// their other changes. Client-only objects that refer to it get null, if the model allows null.
  /// Returns the keys of all of them.
  @discardableResult
  public mutating func cancelPending() throws(FerryError) -> [ObjectKey] {
    guard let object = record.object else { return [] }
    let store = try record.store
    let gone = try PendingStore.cancel(Self.entity, object, in: store)
    let old = record
    if let read = try Records(store).of(Self.entity, object: object) {
      record = read
    } else {
      end()
    }
    record.follows(old, in: store.creations)
    return gone
  }

  /// The object before its first pending change; nil if nothing is pending, and for a pending
  /// create.
  public var originalState: Self? {
    get throws(FerryError) { try record.original().map(Self.init(record:)) }
  }

  /// The object as it was downloaded last, without its pending change; nil if nothing is pending,
  /// and if the business system no longer has it.
  public var downloadState: Self? {
    get throws(FerryError) { try record.downloaded().map(Self.init(record:)) }
  }
}
