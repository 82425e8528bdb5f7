import FerryModel

extension BusinessObject {
  /// Nothing of the object is left on the device.
  mutating func end() {
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
}
