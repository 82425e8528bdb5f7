import FerryModel
import FerryWorld

/// What a business system knows of an operation that may have been performed.
public enum Recall: Sendable, Equatable {
  /// It was performed, and this is how it ended.
  case performed(OperationOutcome)
  /// It was not performed, and no earlier request of it can arrive any more: it may be sent again.
  case notPerformed
  /// It may have been performed. The business system knows its request by a number, so that sending it
  /// again does no harm; until that is answered it counts as one that may have run.
  case mayBeRepeated
  /// An earlier request may still arrive. The server asks again at this moment of `WorldClock.moment`,
  /// and sends nothing of the group before.
  case mayStillArrive(until: Timestamp)
  /// Nothing that can be found tells it: a person decides. `reason` is one sentence for the user,
  /// without values of rows. `candidates`: rows that may be its effect; the operator sees them, and
  /// no device does.
  case cannotTell(reason: String, candidates: [RowImage])

  /// What a record of performed operations says; nil where it has none of this one.
  public init(recorded outcome: OperationOutcome?) {
    self = outcome.map { .performed($0) } ?? .notPerformed
  }
}
