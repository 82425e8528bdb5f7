import FerryModel

/// What one `submitPending` submitted of an object and of what it owns, and how that is answered.
///
/// ```swift
/// booking.seats = 2
/// try booking.update()
/// let first = try booking.submitPending()
/// booking.cabin = "business"
/// try booking.update()
/// let second = try booking.submitPending()
/// let (seats, cabin) = (try await first.outcome(), try await second.outcome())
/// ```
/// A value that may be kept, sent to other tasks and asked by several of them, each time with the same
/// answer. It lasts as long as the app runs; after a restart ask `replayOutcome` of the object.
///
/// Two of them may be about one change: where the first still waited for another answer when the
/// second was submitted, they are sent as one and answered as one. Where nothing was changed since it
/// was submitted, it is about what is on its way. And where what came before is refused, what was
/// submitted behind it is refused with it. What the device itself refused (422) and what waited and
/// was not tried never left it and keeps its operation: submitted again, the new answer is that of
/// both.
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
