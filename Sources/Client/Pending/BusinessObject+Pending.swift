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
        hint: "Call update, or save, which finds out by itself.")
    }
    try keep(.create)
  }

  /// Saves what was changed in memory; the object is pending afterwards (sync/P1).
  public mutating func update() throws(FerryError) { try keep(.update) }

  /// Creates or updates, as the object needs.
  public mutating func save() throws(FerryError) { try keep(isNew ? .create : .update) }

  /// Deletes the object on the device; the delete is pending afterwards (sync/P1).
  ///
  /// A create that was not submitted and its delete leave nothing to send.
  public mutating func delete() throws(FerryError) {
    try keep(.delete)
    record.deleted = true
    record.pending = .delete
  }

  /// Discards what is pending of this object (sync/P20).
  ///
  /// Returns the keys of pending creates that needed this object's temporary key and were cancelled
  /// with it.
  @discardableResult
  public mutating func cancelPending() throws(FerryError) -> [Key] {
    guard let object = record.object else { return [] }
    let gone = try record.store.cancel(Self.entity, object)
    if let read = try record.store.record(Self.entity, object: object) {
      record = read
    } else {
      record.deleted = true
      record.pending = .none
    }
    return gone
  }

  private mutating func keep(_ kind: OperationKind) throws(FerryError) {
    let change = try record.change(kind)
    if let saved = try record.store.save(change) { record = saved }
  }
}
