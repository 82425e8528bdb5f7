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

  /// A new object is no more, and what its object's `operations` made refer to it refers again to what
  /// it did before: `key` has the values of that reference by position. `shown` is what is visible.
  ///
  /// What is on its way cannot be changed. Returns those that are different; of one that was taken
  /// back as a whole nothing is left to send.
  package static func takenBack(
    _ operations: [PendingOperation], from key: [Int: AttributeValue], shown: [AttributeValue]?
  ) -> (changes: [TakenBack], shown: [AttributeValue]?) {
    var shown = shown
    var newer: [TakenBack] = []
    // The newest first: what it is taken back to may be the same key.
    for operation in operations.reversed() {
      guard !operation.isInFlight else { break }
      var change = TakenBack(operation: operation)
      let given = key.compactMap { position, value in
        operation.changed[position].map { $0 == value }
      }
      // A create that names it goes with it where the row still does.
      if operation.kind == .update, !given.isEmpty, given.allSatisfy({ $0 }) {
        change.isTaken = true
        for (position, value) in key {
          guard change.operation.changed.removeValue(forKey: position) != nil else { continue }
          let before = change.operation.base.removeValue(forKey: position) ?? .null
          if shown?[position] == value { shown?[position] = before }
          // What came after it was based on it.
          for place in newer.indices where newer[place].operation.base[position] == value {
            newer[place].operation.base[position] = before
            newer[place].isRebased = true
          }
        }
      }
      newer.append(change)
    }
    return (newer.filter { $0.isTaken || $0.isRebased }, shown)
  }

  /// A change that referred to a new object which is no more, or was based on such a reference.
  package struct TakenBack {
    package var operation: PendingOperation
    /// It referred to it.
    package var isTaken = false
    package var isRebased = false

    /// Nothing is left of it to send.
    package var isNothing: Bool { isTaken && operation.changed.isEmpty }
  }

  /// Whether what is left of a refused chain is sent again by itself: the app submitted it, it was not
  /// tried, and the app has not changed it since (Decision 0082).
  package static func goAgain(_ members: [PendingOperation]) -> Bool {
    members.allSatisfy { $0.isNotTried && $0.failure == $0.counter }
  }
}
