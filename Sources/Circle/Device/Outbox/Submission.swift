import FerryModel

/// The changes of an object and its parts that one `submitPending` submitted, and their answer.
/// ```swift
/// booking.seats = 2
/// try booking.update()
/// let first = try booking.submitPending()
/// booking.cabin = .business
/// try booking.update()
/// let second = try booking.submitPending()
/// let (seats, cabin) = (try await first.outcome(), try await second.outcome())
/// ```
///
/// A value that may be stored, sent to other tasks and used by several of them; all get the same
/// answer. It is valid as long as the app runs; after a restart call `replayOutcome` of the object.
///
/// Two submissions may be about one change: if the first still waited for another answer when the
/// second was submitted, both are sent and answered as one. If nothing was changed since the last
/// submit, the submission is about the change that is on its way. If an earlier change is refused,
/// later submitted changes are refused with it. Changes that the device itself refused (422), or
/// that were not tried, never left it and keep their operation: when they are submitted again, both
/// submissions get the new answer.
public struct Submission<Object: BusinessObject>: Sendable {
  let store: Store
  let object: Int64
  let operations: Set<OperationID>
  /// What was submitted and what it was joined with left nothing to send.
  let isTakenBack: Bool
  /// In which it was submitted.
  let transaction: Creations?

  init(
    _ store: Store, _ object: Int64, _ operations: Set<OperationID>, isTakenBack: Bool = false,
    transaction: Creations? = nil
  ) {
    self.store = store
    self.object = object
    self.operations = operations
    self.isTakenBack = isTakenBack
    self.transaction = transaction
  }
}
