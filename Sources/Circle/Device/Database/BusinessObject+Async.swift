import FerryModel

/// Calls that do not block their caller: the work runs on a thread of Ferry's own.
///
/// These forms do not mutate, so that views and actors can call them on objects in their state. They
/// return the object as it is afterwards.
extension BusinessObject {
  /// Creates or updates the object, and submits the change unless `submitting` is `.later`. Returns
  /// the saved object. Once it returns, the change is never lost.
  ///
  /// ```swift
  /// booking = try await booking.save()
  /// ```
  /// A new object is created once, also if several copies of it are saved, as by two taps on one
  /// button: the second save updates what the first one created. For another object, make a new one.
  /// A task that is cancelled does not stop the save.
  ///
  /// Without `submitting`, `FerryDatabase.submitsAutomatically` decides. Errors: `invalidValue` for a value
  /// that the model does not allow; `tooLarge`, `invalidReference` or `notDownloaded` for a change that
  /// cannot be sent; `objectExists` if another object has the key; `objectNotFound` if the object was deleted; `diskFull`. Nothing is saved then.
  @discardableResult
  public func save(_ submitting: Submitting? = nil) async throws(FerryError) -> Self {
    try await record.store.work.write { () throws(FerryError) -> Self in
      var saved = try self.createdBefore()
      let isFirst = saved.isNew
      if let submitting { try saved.save(submitting) } else { try saved.save() }
      if isFirst { self.record.wasCreated(as: saved.record) }
      return saved
    }
  }

  /// Deletes the object with what it owns, and submits that unless `submitting` is `.later`.
  ///
  /// Nothing remains of an object whose create was not sent. A task that is cancelled does not stop
  /// the delete. Errors are those of `save`.
  public func delete(_ submitting: Submitting? = nil) async throws(FerryError) {
    try await record.store.work.write { () throws(FerryError) in
      var deleted = try self.createdBefore()
      if let submitting { try deleted.delete(submitting) } else { try deleted.delete() }
    }
  }

  /// The object that another copy of this new one was saved as, or this copy.
  func createdBefore() throws(FerryError) -> Self {
    var known = self
    known.record = try record.createdBefore()
    return known
  }
}
