import FerryModel

/// What becomes of a change that was refused or not tried.
extension PendingMachine {
  /// `all` are the changes of one object that become one with the answered one. Returns the state of
  /// the change that they become, and those that were submitted behind the answered one.
  package static func reopened(
    _ operation: PendingOperation, among all: [PendingOperation],
    as answered: PendingOperation.State
  ) -> (state: PendingOperation.State, held: [PendingOperation]) {
    (
      all.contains { $0.state == .replayFailed } ? .replayFailed : answered,
      all.filter { $0.sequence > operation.sequence && $0.wanted != .no }
    )
  }

  /// An id that was answered is never sent again. The others of its chain share the fate, and stay
  /// together.
  ///
  /// `isWhole`: all that was joined had been submitted; what was not tried then goes again as it is.
  package static func renewed(
    _ left: PendingOperation, after operation: PendingOperation,
    as state: PendingOperation.State, isWhole: Bool, id: OperationID
  ) -> PendingOperation {
    var renewed = left
    renewed.id = id
    renewed.state = state
    renewed.failure = state == .waiting && isWhole ? left.counter : operation.counter
    return renewed
  }

  /// The object is gone by itself: there is nothing to show again, and nothing to try again.
  package static func isOfNothing<Failure>(
    _ kind: OperationKind, as state: PendingOperation.State, hasImage: Bool,
    isVisible: () throws(Failure) -> Bool
  ) throws(Failure) -> Bool {
    guard !hasImage else { return false }
    switch kind {
    case .create: return false
    case .update: return try !isVisible()
    case .delete: return state == .replayFailed
    }
  }

  /// Whether what is left of a refused chain is sent again by itself: the app submitted it, it was not
  /// tried, and the app has not changed it since (Decision 0082).
  package static func goAgain(_ members: [PendingOperation]) -> Bool {
    members.allSatisfy { $0.isNotTried && $0.failure == $0.counter }
  }
}
