import FerryModel

/// What somebody else does in one transaction.
public typealias MemoryChange = @Sendable (inout MemoryTransaction) -> Void

/// A row by its entity and key.
public struct MemoryRowName: Sendable, Hashable {
  public let entity: String
  public let key: Key
}

/// Transactions of others that run while an operation is performed.
extension MemoryBusiness {
  /// Asked between the judgement of a transaction's first operation and its write, with the rows
  /// that the judgement has read: what somebody else does in a transaction of their own at that
  /// moment; nil: nobody does anything.
  ///
  /// It commits at once. If it writes a row that the judgement has read, it waits for the end of the
  /// operation's transaction, unless `holdsJudgedRows` is false. It must not call the business.
  public func setOverlap(_ overlap: (@Sendable (Set<MemoryRowName>) -> MemoryChange?)?) {
    access { $0.overlap = overlap }
  }

  /// How many transactions of others were committed in the middle of an operation, and how many had
  /// to wait for its end.
  public var overlaps: (committed: Int, waited: Int) { access { $0.overlaps } }

  func overlap(
    _ transaction: inout MemoryTransaction, _ state: inout State, _ held: Set<MemoryRowName>
  ) {
    guard transaction.effects.isEmpty, let change = state.overlap?(held) else { return }
    var other = MemoryTransaction(transaction.finished())
    change(&other)
    guard !other.effects.isEmpty, constraints.broken(by: other.effects, in: other) == nil else {
      return
    }
    let isBlocked = other.effects.contains { effect in
      held.contains(MemoryRowName(entity: effect.entity, key: effect.key))
    }
    if isBlocked, holdsJudgedRows {
      state.overlaps.waited += 1
      state.waiting.append(change)
      return
    }
    state.overlaps.committed += 1
    transaction = MemoryTransaction(other.finished())
    state.history.append(
      MemoryCommit(
        number: state.history.count + 1,
        parts: [MemoryCommit.Part(operation: nil, effects: other.effects)]))
  }

  func endWaiting(_ state: inout State) {
    let changes = state.waiting
    state.waiting = []
    for change in changes { _ = self.change(&state, change) }
  }
}
