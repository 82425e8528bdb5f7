import FerryModel

/// What somebody else does in one transaction.
public typealias MemoryChange = @Sendable (inout MemoryTransaction) -> Void

/// A row by its entity and key.
public struct MemoryRowName: Sendable, Hashable {
  public let entity: String
  public let key: ObjectKey
}

/// Transactions of others that run while an operation is performed.
extension MemoryBusiness {
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
      state.waiting.append(change)
      return
    }
    transaction = MemoryTransaction(other.finished())
    state.record([MemoryCommit.Part(operation: nil, effects: other.effects)])
  }

  func endWaiting(_ state: inout State) {
    let changes = state.waiting
    state.waiting = []
    for change in changes { _ = self.change(&state, change) }
  }
}

extension MemoryTransaction {
  /// As `row`, for a judgement: notes what it has read.
  func row(
    _ entity: Entity, _ positions: [Int], _ values: [AttributeValue],
    _ held: inout Set<MemoryRowName>
  ) -> [AttributeValue]? {
    let row = row(entity, positions, values)
    if let row { held.insert(MemoryRowName(entity: entity.name, key: entity.key(of: row))) }
    return row
  }
}
