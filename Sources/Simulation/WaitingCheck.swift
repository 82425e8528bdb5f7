import Ferry
import FerryModel

/// What was submitted and waits, at rest: each has something that it waits for, and that the app has
/// in hand. Judged from the operations alone, without asking how the device finds it.
struct WaitingCheck {
  private let operations: [PendingOperation]
  private let model: Package

  init(_ operations: [PendingOperation], in model: Package) {
    self.operations = operations
    self.model = model
  }

  /// The first that could be sent; nil where there is none.
  func forNothing() -> PendingOperation? {
    for operation in operations where operation.wanted != .no {
      let together = replayed(with: operation)
      if !together.contains(where: { isHeld($0, together) }) { return operation }
    }
    return nil
  }

  /// What is replayed as one with an operation, as far as it was submitted or refused.
  private func replayed(with first: PendingOperation) -> [PendingOperation] {
    var found = [first]
    var next = 0
    while next < found.count {
      let one = found[next]
      next += 1
      for other in operations
      where (other.chain == one.chain || other.root == one.root)
        && (other.wanted != .no || other.state == .replayFailed)
        && !found.contains(where: { $0.sequence == other.sequence })
      {
        found.append(other)
      }
    }
    return found
  }

  /// Refused, behind another change of its object, referring to an object that is not there yet, or
  /// deleting one that another change ceases to refer to.
  private func isHeld(_ operation: PendingOperation, _ together: [PendingOperation]) -> Bool {
    if operation.state == .replayFailed { return true }
    let own = Set(together.map(\.sequence))
    let others = operations.filter { !own.contains($0.sequence) }
    let isBehind = others.contains {
      $0.entity == operation.entity && $0.object == operation.object
        && $0.sequence < operation.sequence
    }
    guard !isBehind, let entity = model.entity(named: operation.entity) else { return true }
    return others.contains { other in
      other.kind == .create && refers(entity, operation.changed, to: other)
        || operation.kind == .delete && ceases(other, toReferTo: operation)
    }
  }

  private func ceases(_ other: PendingOperation, toReferTo deleted: PendingOperation) -> Bool {
    guard other.kind != .create, let entity = model.entity(named: other.entity) else {
      return false
    }
    let left = other.base.filter { other.kind == .delete || other.changed[$0.key] != nil }
    return refers(entity, left, to: deleted)
  }

  /// Whether values of an entity name the object of an operation.
  private func refers(
    _ entity: Entity, _ values: [Int: Value], to target: PendingOperation
  ) -> Bool {
    entity.relationships.contains { (relationship: Relationship) -> Bool in
      let own: [Value] = relationship.attributes.compactMap { name in
        entity.position(of: name).flatMap { values[$0] }
      }
      return target.entity == relationship.target && target.key == Key(own)
    }
  }
}
