import FerryModel

extension BusinessObject {
  /// Saves a new object; it is pending afterwards (sync/P1).
  ///
  /// Where the business system makes the key, the object has a temporary one until its create is
  /// accepted.
  public mutating func create() throws(FerryError) {
    guard isNew else {
      throw FerryError(
        .invalidChange, "\(Self.entity.name) \(record.key) was created before",
        hint: "Call update, or save, which finds out by itself.", entity: Self.entity.name)
    }
    try keep(.create)
  }

  /// Saves what was changed in memory; the object is pending afterwards (sync/P1).
  public mutating func update() throws(FerryError) { try keep(.update) }

  /// Creates or updates, as the object needs.
  public mutating func save() throws(FerryError) { try keep(isNew ? .create : .update) }

  /// Deletes the object on the device; the delete is pending afterwards (sync/P1).
  ///
  /// A create that was not submitted and its delete leave nothing to send, and nothing that refers to
  /// its temporary key, as with `cancelPending`. What the object owns by a composite relationship is
  /// deleted with it.
  public mutating func delete() throws(FerryError) {
    let change = try record.change(.delete)
    let old = record
    if let hidden = try record.store.save(change) {
      record = hidden
    } else {
      end()
    }
    record.follows(old, in: old.store.creations)
  }

  /// Nothing of the object is left on the device.
  private mutating func end() {
    record.deleted = true
    record.pending = .none
    record.failed = false
    record.replay = .none
  }

  /// Discards what is pending of this object and of its parts (sync/P20).
  ///
  /// Of a create that is pending nothing is left that refers to its temporary key: pending creates
  /// that do are cancelled with it, and pending updates refer again to what they did before, with
  /// everything else that they changed still pending. Client-only objects that do refer to nothing
  /// then: null, where the model lets them. Returns the keys of all of them.
  @discardableResult
  public mutating func cancelPending() throws(FerryError) -> [Key] {
    guard let object = record.object else { return [] }
    let gone = try record.store.cancel(Self.entity, object)
    let old = record
    if let read = try record.store.record(Self.entity, object: object) {
      record = read
    } else {
      end()
    }
    record.follows(old, in: old.store.creations)
    return gone
  }

  /// The object as it was before its first pending change; nil where nothing is pending, and for a
  /// pending create (facts/1.5).
  public var originalState: Self? {
    get throws(FerryError) { try record.original().map(Self.init(record:)) }
  }

  /// The object as it was last downloaded, under its pending change; nil where nothing is pending,
  /// and where the business system no longer has it (facts/1.5).
  public var downloadState: Self? {
    get throws(FerryError) { try record.downloaded().map(Self.init(record:)) }
  }

  private mutating func keep(_ kind: OperationKind) throws(FerryError) {
    let change = try record.change(kind)
    guard let saved = try record.store.save(change) else {
      throw FerryError(
        .objectNotFound, "\(Self.entity.name) \(record.key) is no longer on the device",
        hint: "It was deleted, here or by another user.", entity: Self.entity.name)
    }
    let old = record
    record = saved
    record.follows(old, in: old.store.creations)
  }
}
