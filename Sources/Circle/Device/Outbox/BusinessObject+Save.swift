import FerryModel

/// Saving on the caller's thread, for transactions; elsewhere the asynchronous forms block no actor.
///
/// A saved change is submitted by itself: at once, or at the end of the transaction that is open. It
/// waits as a draft if the app says `.later`, here or for the transaction, or if the database's
/// `submitsAutomatically` is false.
extension BusinessObject {
  /// Saves a new object; it is pending afterwards.
  ///
  /// Where the business system assigns the key, the object has a temporary one until its create is
  /// accepted. `objectExists` if another object has the key; `invalidValue` for a value that the
  /// model does not allow; `wrongState` for an object that was created before.
  public mutating func create() throws(FerryError) {
    guard isNew else {
      throw FerryError(
        .wrongState, "\(Self.entity.name) \(record.key) was created before",
        hint: "Call update, or save, which finds out by itself.", entity: Self.entity.name)
    }
    try keep(.create, nil)
  }

  /// Saves what was changed in memory; the object is pending afterwards.
  ///
  /// `objectNotFound` if it is no longer on the device; `invalidValue` for a value that the model
  /// does not allow.
  public mutating func update() throws(FerryError) { try keep(.update, nil) }

  /// Creates a new object and updates any other.
  public mutating func save() throws(FerryError) { try keep(isNew ? .create : .update, nil) }

  /// The same, and `submitting` says when the change is sent. In a transaction, `.later` holds for all
  /// of its changes.
  public mutating func save(_ submitting: Submitting) throws(FerryError) {
    try keep(isNew ? .create : .update, submitting)
  }

  /// Deletes the object on the device; the delete is pending afterwards.
  ///
  /// A create that was not submitted and its delete leave nothing to send, and nothing that refers to
  /// its temporary key, as with `cancelPending`. What the object owns by a composite relationship is
  /// deleted with it.
  public mutating func delete() throws(FerryError) { try remove(nil) }

  /// The same, and `submitting` says when the delete is sent. In a transaction, `.later` holds for all
  /// of its changes.
  public mutating func delete(_ submitting: Submitting) throws(FerryError) {
    try remove(submitting)
  }

  private mutating func remove(_ submitting: Submitting?) throws(FerryError) {
    let store = try record.store
    let hidden = try Outbox(store).save(record.change(.delete), submitting)
    let old = record
    if let hidden { record = hidden } else { end() }
    record.follows(old, in: store.creations)
  }

  private mutating func keep(
    _ kind: OperationKind, _ submitting: Submitting?
  ) throws(FerryError) {
    let store = try record.store
    guard let saved = try Outbox(store).save(record.change(kind), submitting) else {
      throw FerryError(
        .objectNotFound, "\(Self.entity.name) \(record.key) is no longer on the device",
        hint: "It was deleted, here or by another user.", entity: Self.entity.name)
    }
    let old = record
    record = saved
    record.follows(old, in: store.creations)
  }
}
