import FerryModel

extension Outcome {
  init(_ outcome: ReplayOutcome<Object>) {
    self =
      switch outcome {
      case .accepted(let object), .nothingPending(let object): .accepted(object)
      case .refused(let object, let records): .refused(Refusal(records, of: object?.record))
      case .unknown: .unknown
      case .notTried:
        .refused(
          Refusal(
            code: 424, message: "A change before this one was refused, so this one was not tried."))
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
  /// after a restart of the app. An object with no pending change is `accepted`, as it is now.
  ///
  /// `notSubmitted` if a change is pending and was not submitted; `cancelled` if the task is
  /// cancelled; `closed` if the database is closed.
  public func outcome(within limit: Duration) async throws(FerryError) -> Outcome<Self> {
    do throws(FerryError) {
      return Outcome(try await createdBefore().replayOutcome(within: limit))
    } catch {
      guard error.code == .timedOut else { throw error }
      return .stillWaiting
    }
  }
}
