import Ferry
import FerryModel

/// What waits for what on a device. Judged from its operations and downloaded images alone, without
/// asking how the device finds it.
struct DependencyCheck {
  private let operations: [PendingOperation]
  private let tables: [DeviceTable]
  private let model = SimulatedBusiness.package

  init(_ operations: [PendingOperation], _ tables: [DeviceTable]) {
    self.operations = operations
    self.tables = tables
  }

  /// The first that was submitted, waits, and could be sent: nothing that it waits for is there. Nil
  /// where there is none.
  func forNothing() -> PendingOperation? {
    operations.first { operation in
      guard operation.wanted != .no else { return false }
      let together = whole(of: operation) { $0.wanted != .no || $0.state == .replayFailed }
      return !together.contains {
        $0.state == .replayFailed || awaited(by: $0, together, mayBe: true) != nil
      }
    }
  }

  /// The first that is on its way since `before`, and what was there already and should have ended
  /// first. Nil where there is none.
  func tooEarly(
    since before: [Int64: PendingOperation]
  ) -> (sent: PendingOperation, first: PendingOperation)? {
    for operation in operations
    where operation.isInFlight && before[operation.sequence]?.isInFlight != true {
      let together = operations.filter { $0.chain == operation.chain && $0.isInFlight }
      let own = Set(together.map(\.sequence))
      let first = awaited(by: operation, together) {
        before[$0.sequence] != nil && !waits($0, for: own)
      }
      if let first { return (operation, first) }
    }
    return nil
  }

  /// What is replayed as one with an operation, of those that count.
  private func whole(
    of first: PendingOperation, _ counts: (PendingOperation) -> Bool
  ) -> [PendingOperation] {
    var found = [first]
    var next = 0
    while next < found.count {
      let one = found[next]
      next += 1
      for other in operations
      where (other.chain == one.chain || other.root == one.root) && counts(other)
        && !found.contains(where: { $0.sequence == other.sequence })
      {
        found.append(other)
      }
    }
    return found
  }

  /// The first other one that must end before an operation: an earlier change of its object, or of
  /// another one that had its key; the create of an object that it refers to; what ends a reference to
  /// the object that it deletes.
  /// `mayBe`: of a reference by several attributes an update keeps only what it changes of it; where
  /// the rest led before may have been forgotten.
  private func awaited(
    by operation: PendingOperation, _ together: [PendingOperation], mayBe: Bool = false,
    _ counts: (PendingOperation) -> Bool = { _ in true }
  ) -> PendingOperation? {
    let own = Set(together.map(\.sequence))
    return operations.first { other in
      !own.contains(other.sequence) && isBefore(other, operation, mayBe) && counts(other)
    }
  }

  private func isBefore(
    _ other: PendingOperation, _ operation: PendingOperation, _ mayBe: Bool = false
  ) -> Bool {
    other.sequence < operation.sequence
      && (other.name == operation.name
        || other.entity == operation.entity && other.key == operation.key)
      || other.kind == .create && leads(operation, to: other, mayBe)
      || operation.kind == .delete && ceases(other, toReferTo: operation, mayBe)
  }

  /// Whether an operation waits for one of `own`, by itself or through others: they would wait for
  /// each other.
  private func waits(_ operation: PendingOperation, for own: Set<Int64>) -> Bool {
    var found: Set<Int64> = [operation.sequence]
    var open = [operation]
    while let one = open.popLast() {
      let together = whole(of: one) { _ in true }
      for other in operations
      where !found.contains(other.sequence)
        && together.contains(where: { $0.sequence == other.sequence || isBefore(other, $0) })
      {
        if own.contains(other.sequence) { return true }
        found.insert(other.sequence)
        open.append(other)
      }
    }
    return false
  }

  /// Whether a change ends a reference to the object of another one, as the app saw it or as it was
  /// downloaded last. An update after which the whole reference still names the object ends nothing.
  private func ceases(
    _ other: PendingOperation, toReferTo deleted: PendingOperation, _ mayBe: Bool
  ) -> Bool {
    guard other.kind != .create else { return false }
    let after = other.kind == .update ? values(after: other) : [:]
    return [other.base, image(other)].contains { values in
      references(of: other.entity, values, to: deleted, mayBe) { position in
        other.kind == .delete || other.changed[position] != nil
      }.contains { !names(deleted, $0, after) }
    }
  }

  /// Whether a change makes its object refer to that of another one.
  private func leads(
    _ operation: PendingOperation, to target: PendingOperation, _ mayBe: Bool
  ) -> Bool {
    !references(of: operation.entity, values(after: operation), to: target, mayBe) {
      operation.changed[$0] != nil
    }.isEmpty
  }

  /// What an object is after a change. Of a reference by several attributes the change may set one: the
  /// others are what they were downloaded as, or changed to before by what the app has not taken back.
  private func values(after operation: PendingOperation) -> [Int: AttributeValue] {
    var values = image(operation)
    for change in operations
    where change.name == operation.name && change.sequence <= operation.sequence
      && (change.state != .withdrawn || change.sequence == operation.sequence)
    {
      values.merge(change.changed) { _, new in new }
    }
    return values
  }

  private func image(_ operation: PendingOperation) -> [Int: AttributeValue] {
    let images = tables.first { $0.entity.name == operation.entity }?.images
    return Dictionary(
      uniqueKeysWithValues: (images?[operation.object] ?? []).enumerated().map { ($0, $1) })
  }

  /// The references with which values of an entity name the object of an operation, by attributes of
  /// which one counts. `mayBe`: a value that is not there may be the right one.
  private func references(
    of entity: String, _ values: [Int: AttributeValue], to target: PendingOperation,
    _ mayBe: Bool,
    _ counts: (Int) -> Bool
  ) -> [[Int]] {
    guard let entity = model.entity(named: entity) else { return [] }
    return entity.relationships.filter { $0.target == target.entity }
      .map { $0.attributes.compactMap(entity.position(of:)) }
      .filter { $0.contains(where: counts) && names(target, $0, values, mayBe) }
  }

  /// Whether the values at these positions are the key of the object of an operation.
  private func names(
    _ target: PendingOperation, _ positions: [Int], _ values: [Int: AttributeValue],
    _ mayBe: Bool = false
  ) -> Bool {
    guard let key = model.entity(named: target.entity).flatMap(target.key.values(of:)) else {
      return false
    }
    return zip(positions, key).allSatisfy { position, part in
      values[position].map { $0 == part } ?? mayBe
    }
  }
}
