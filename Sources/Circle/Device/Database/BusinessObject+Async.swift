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

  /// Sends the pending change of this object as soon as there is a connection. Returns the object as
  /// it is then.
  ///
  /// See `submitPending` for what is sent together with it. An object without a pending change is
  /// returned as it is. A task that is cancelled does not stop the submit.
  ///
  /// `objectNotSaved` for an object that was not saved; `tooLarge`, `invalidReference` or `notDownloaded`
  /// for a change that cannot be sent, which stays pending then.
  @discardableResult
  public func submit() async throws(FerryError) -> Self {
    try await record.store.work.write { () throws(FerryError) -> Self in
      var submitted = try self.createdBefore()
      try submitted.submitPending()
      return submitted
    }
  }

  /// Withdraws the pending change of this object and of its parts. Returns the object as the business
  /// system has it; nil where the business system has none, as for a new object.
  ///
  /// A change that was sent may be performed all the same; the next synchronization shows that. A
  /// task that is cancelled does not stop the call.
  @discardableResult
  public func cancel() async throws(FerryError) -> Self? {
    try await record.store.work.write { () throws(FerryError) -> Self? in
      var cancelled = try self.createdBefore()
      try cancelled.cancelPending()
      return cancelled.isNew || cancelled.isDeleted ? nil : cancelled
    }
  }

  /// Why the pending change was refused; nil if it was not refused. Where it was not tried, because
  /// another change of its transaction was refused, the code is 424 and the message names that one.
  public func refusal() async throws(FerryError) -> Refusal? {
    try await record.store.work.read { () throws(FerryError) -> Refusal? in
      guard let object = try self.createdBefore().record.object,
        let now = try PendingObjects(self.record.store).record(Self.entity, object)
      else { return nil }
      guard now.failed else {
        return try Refusal.instead(of: LocalObject(Self.entity.name, object), in: now.store)
      }
      return Refusal(try LogRecords(self.record.store).of(Self.entity, object), of: now)
    }
  }

  /// The object as it is in the database now, without what this copy changed in memory.
  ///
  /// `objectNotFound` for an object that was not saved, whose delete is pending, or that is no longer
  /// on the device; the hint says which.
  public func refreshed() async throws(FerryError) -> Self {
    try await record.store.work.read { () throws(FerryError) -> Self in
      var refreshed = try self.createdBefore()
      try refreshed.refresh()
      return refreshed
    }
  }

  /// The object that another copy of this new one was saved as, or this copy.
  func createdBefore() throws(FerryError) -> Self {
    var known = self
    known.record = try record.createdBefore()
    return known
  }
}
