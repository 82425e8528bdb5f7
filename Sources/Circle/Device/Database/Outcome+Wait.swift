import FerryModel

extension Outcome {
  /// `reason` is why it was not tried.
  fileprivate init(_ outcome: ReplayOutcome<Object>, _ reason: Refusal?) {
    self =
      switch outcome {
      case .accepted(let object), .nothingPending(let object): .accepted(object)
      case .refused(let object, let records): .refused(Refusal(records, of: object?.record))
      case .unknown: .unknown
      case .notTried: .refused(reason ?? .notTried)
      case .cancelled(let object): .cancelled(object)
      }
  }
}

extension BusinessObject {
  /// Waits for the business system's answer to the submitted change of this object, at most `limit`.
  ///
  /// ```swift
  /// let booking = try await Booking(passenger: "Ada", in: database).save()
  /// switch try await booking.outcome(within: .seconds(30)) {
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
  public func outcome(within limit: Duration) async throws(FerryError) -> Outcome<Self> {
    do throws(FerryError) {
      let known = try createdBefore()
      let outcome = try await known.replayOutcome(within: limit)
      guard case .notTried = outcome, let object = known.record.object else {
        return Outcome(outcome, nil)
      }
      let own = LocalObject(Self.entity.name, object)
      return Outcome(outcome, try Refusal.instead(of: own, in: record.store))
    } catch {
      guard error.code == .timedOut else { throw error }
      return .stillWaiting
    }
  }
}
