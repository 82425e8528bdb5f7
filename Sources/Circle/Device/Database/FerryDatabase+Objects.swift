import FerryModel

/// What changes an object, as verbs of its database. Each verb has two forms with one name:
///
/// ```swift
/// let saved = try await database.save(booking)  // returns the object as it is then; blocks nobody
/// try database.save(&booking)                   // changes this copy; for transactions
/// ```
/// An asynchronous form leaves the copy that it is given as it was, and works on a thread of Ferry's
/// own. A task that is cancelled does not stop it. A form with `&` works on the caller's thread, and
/// joins the transaction that is open there.
///
/// A new object that was made without a database becomes one of this database. For an object of another
/// database each verb throws `wrongState`, and changes nothing then.
extension FerryDatabase {
  /// Creates or updates the object, and submits the change unless `submitting` is `.later`. Returns
  /// the saved object. Once it returns, the change is never lost.
  ///
  /// A new object is created once, also if several copies of it are saved, as by two taps on one
  /// button: the second save updates what the first one created. Without `submitting`,
  /// `submitsAutomatically` decides.
  ///
  /// Errors: `invalidValue` for a value that the model does not allow; `tooLarge`,
  /// `invalidReference` or `notDownloaded` for a change that cannot be sent; `objectExists` if
  /// another object has the key; `objectNotFound` if the object was deleted; `diskFull`. Nothing is
  /// saved then.
  @discardableResult
  public func save<Object: BusinessObject>(
    _ object: Object, submitting: Submitting? = nil
  ) async throws(FerryError) -> Object {
    try await owned(object, to: "save").save(submitting)
  }

  /// Creates or updates the object on the caller's thread; `object` is the saved one then. In a
  /// transaction, `.later` holds for all of its changes. The errors are those of the other form.
  public func save<Object: BusinessObject>(
    _ object: inout Object, submitting: Submitting? = nil
  ) throws(FerryError) {
    object = try owned(object, to: "save")
    if let submitting { try object.save(submitting) } else { try object.save() }
  }

  /// Deletes the object with what it owns, and submits that unless `submitting` is `.later`.
  ///
  /// Nothing remains of an object whose create was not sent. Errors are those of `save`.
  public func delete<Object: BusinessObject>(
    _ object: Object, submitting: Submitting? = nil
  ) async throws(FerryError) {
    try await owned(object, to: "delete").delete(submitting)
  }

  /// Deletes the object on the caller's thread; its `isDeleted` is true then. In a transaction,
  /// `.later` holds for all of its changes.
  public func delete<Object: BusinessObject>(
    _ object: inout Object, submitting: Submitting? = nil
  ) throws(FerryError) {
    object = try owned(object, to: "delete")
    if let submitting { try object.delete(submitting) } else { try object.delete() }
  }

  /// Sends the pending change of this object as soon as there is a connection. Returns the object as
  /// it is then; one without a pending change is returned as it is.
  ///
  /// See `BusinessObject.submitPending` for what is sent together with it. `objectNotSaved` for an
  /// object that was not saved; `tooLarge`, `invalidReference` or `notDownloaded` for a change that
  /// cannot be sent, which stays pending then.
  @discardableResult
  public func submit<Object: BusinessObject>(
    _ object: Object
  ) async throws(FerryError) -> Object {
    let object = try owned(object, to: "submit")
    return try await store.work.write { () throws(FerryError) -> Object in
      var submitted = try object.createdBefore()
      try submitted.submitPending()
      return submitted
    }
  }

  /// Sends the pending change of this object as soon as there is a connection, from the caller's
  /// thread. The returned value waits for the answer to this submit only; an app that does not wait
  /// may ignore it. The errors are those of the other form.
  @discardableResult
  public func submit<Object: BusinessObject>(
    _ object: inout Object
  ) throws(FerryError) -> Submission<Object> {
    object = try owned(object, to: "submit")
    return try object.submitPending()
  }

  /// Withdraws the pending change of this object and of its parts. Returns the object as the business
  /// system has it; nil where the business system has none, as for a new object.
  ///
  /// A change that was sent may be performed all the same; the next synchronization shows that.
  @discardableResult
  public func cancel<Object: BusinessObject>(
    _ object: Object
  ) async throws(FerryError) -> Object? {
    let object = try owned(object, to: "cancel the change of")
    return try await store.work.write { () throws(FerryError) -> Object? in
      var cancelled = try object.createdBefore()
      try cancelled.cancelPending()
      return cancelled.isNew || cancelled.isDeleted ? nil : cancelled
    }
  }

  /// Withdraws the pending change of this object and of its parts on the caller's thread. Returns the
  /// keys of all objects whose change was withdrawn with it; see `BusinessObject.cancelPending`.
  @discardableResult
  public func cancel<Object: BusinessObject>(
    _ object: inout Object
  ) throws(FerryError) -> [ObjectKey] {
    object = try owned(object, to: "cancel the change of")
    return try object.cancelPending()
  }

  /// The object as it is in the database now, without what this copy changed in memory.
  ///
  /// `objectNotFound` for an object that was not saved, whose delete is pending, or that is no longer
  /// on the device; the hint says which.
  public func refresh<Object: BusinessObject>(
    _ object: Object
  ) async throws(FerryError) -> Object {
    let object = try owned(object, to: "refresh")
    return try await store.work.read { () throws(FerryError) -> Object in
      var refreshed = try object.createdBefore()
      try refreshed.refresh()
      return refreshed
    }
  }

  /// Reads the object again on the caller's thread; what this copy changed in memory is dropped. The
  /// errors are those of the other form.
  public func refresh<Object: BusinessObject>(
    _ object: inout Object
  ) throws(FerryError) {
    object = try owned(object, to: "refresh")
    try object.refresh()
  }

  /// Waits for the business system's answer to the submitted change of this object, at most `limit`.
  ///
  /// ```swift
  /// let booking = try await database.save(Booking(passenger: "Ada", in: database))
  /// switch try await database.outcome(of: booking, within: .seconds(30)) {
  /// case .accepted(let booked): show(booked)
  /// case .refused(let refusal): show(refusal.message)
  /// case .unknown, .stillWaiting, .cancelled: show("no answer yet")
  /// }
  /// ```
  /// `stillWaiting` at the end of the limit is a result, not an error. The call may be repeated, also
  /// after a restart of the app. An object with no pending change is `accepted`, as it is now; after
  /// a cancel it is `cancelled`. A change that was not tried, because another one of its transaction
  /// was refused, is `refused` with code 424: its message names the other object.
  ///
  /// `notSubmitted` if a change is pending and was not submitted, and for a copy that was changed and
  /// not saved; `cancelled` if the task is cancelled; `closed` if the database is closed.
  public func outcome<Object: BusinessObject>(
    of object: Object, within limit: Duration
  ) async throws(FerryError) -> Outcome<Object> {
    let object = try owned(object, to: "wait for the answer to")
    do throws(FerryError) {
      let known = try object.createdBefore()
      let outcome = try await known.replayOutcome(within: limit)
      guard case .notTried = outcome, let number = known.record.object else {
        return Outcome(outcome, nil)
      }
      let own = LocalObject(Object.entity.name, number)
      return Outcome(outcome, try Refusal.instead(of: own, in: store))
    } catch {
      guard error.code == .timedOut else { throw error }
      return .stillWaiting
    }
  }

  /// Why the pending change was refused; nil if it was not refused. Where it was not tried, because
  /// another change of its transaction was refused, the code is 424 and the message names that one.
  public func refusal<Object: BusinessObject>(
    of object: Object
  ) async throws(FerryError) -> Refusal? {
    let object = try owned(object, to: "find the refusal of")
    return try await store.work.read { () throws(FerryError) -> Refusal? in
      guard let number = try object.createdBefore().record.object,
        let now = try PendingObjects(self.store).record(Object.entity, number)
      else { return nil }
      guard now.failed else {
        return try Refusal.instead(of: LocalObject(Object.entity.name, number), in: self.store)
      }
      return Refusal(try LogRecords(self.store).of(Object.entity, number), of: now)
    }
  }

  /// The object, which is from here on one of this database if it was made without one.
  private func owned<Object: BusinessObject>(
    _ object: Object, to deed: String
  ) throws(FerryError) -> Object {
    if object.record.isIn(store) { return object }
    let entity = object.record.entity.name
    if object.record.isDetached {
      guard store.model.entity(named: entity) != nil else {
        throw FerryError(
          .wrongState, "cannot \(deed) a \(entity): the package \(store.model.name) has none",
          hint: "Call the database whose package has \(entity).", entity: entity)
      }
      var own = object
      own.record.attach(to: store)
      return own
    }
    throw FerryError(
      .wrongState, "cannot \(deed) a \(entity) that belongs to another database",
      hint:
        "Call the database that the object was read from, made in (in: database) or saved with.",
      entity: entity)
  }
}
