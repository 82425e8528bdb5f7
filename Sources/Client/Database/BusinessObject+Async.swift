import FerryModel

/// Calls that do not block their caller: the work runs on a thread of Ferry's own.
///
/// These forms do not mutate, so that views and actors can call them on objects in their state. They
/// return the object as it is afterwards.
extension BusinessObject {
  /// Sends the pending change of this object as soon as there is a connection. Returns the object as
  /// it is then.
  ///
  /// See `submitPending` for what is sent together with it. An object without a pending change is
  /// returned as it is. A task that is cancelled does not stop the submit.
  ///
  /// `invalidChange` for an object that was not saved, and for a change that cannot be sent; the
  /// change stays pending then.
  @discardableResult
  public func submit() async throws(FerryError) -> Self {
    try await record.store.work.write { () throws(FerryError) -> Self in
      var submitted = self
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
      var cancelled = self
      try cancelled.cancelPending()
      return cancelled.isNew || cancelled.isDeleted ? nil : cancelled
    }
  }

  /// Why the pending change was refused; nil if it was not refused.
  public func refusal() async throws(FerryError) -> Refusal? {
    try await record.store.work.read { () throws(FerryError) -> Refusal? in
      guard let object = self.record.object,
        let now = try self.record.store.recordOrHidden(Self.entity, object: object), now.failed
      else { return nil }
      return Refusal(try Self(record: now).logRecords, of: now)
    }
  }

  /// The object as it is in the database now, without what this copy changed in memory.
  ///
  /// `objectNotFound` for an object that was not saved, whose delete is pending, or that is no longer
  /// on the device; the hint says which.
  public func refreshed() async throws(FerryError) -> Self {
    try await record.store.work.read { () throws(FerryError) -> Self in
      var refreshed = self
      try refreshed.refresh()
      return refreshed
    }
  }
}
