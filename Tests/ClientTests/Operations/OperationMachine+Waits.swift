// What waits for what, rules 1, 2 and 4.
extension OperationMachine {
  /// The places of the other chains for which the chain at `place` waits.
  func awaited(by place: Int) -> [Int] {
    chains.indices.filter { other in
      other != place
        && chains[place].changes.contains { change in
          chains[other].changes.contains { waits(change, place, for: $0, other) }
        }
    }
  }

  private func waits(_ change: Change, _ place: Int, for other: Change, _ otherPlace: Int) -> Bool {
    let stage = chains[otherPlace].stage
    if fault == .withdrawnForgotten, stage.withdrawn.contains(other.object) { return false }
    if other.object == change.object {
      return fault != .earlierOfObject && stage.rank < chains[place].stage.rank
    }
    if other.kind == .create, fault != .createOfTarget, change.after == Row(other.object),
      change.before != change.after
    {
      return true
    }
    guard change.kind == .delete, fault != .leavers, other.kind != .create,
      other.after != Row(change.object)
    else { return false }
    return other.before == Row(change.object) || images[other.object] == Row(change.object)
  }

  /// Rule 2: after each event, whoever may go goes.
  mutating func judge() {
    while let ready = SealMachine.ready(
      chains.indices.filter { chains[$0].stage == .submitted }, awaited: { awaited(by: $0) })
    {
      guard fault != .circles || ready.count == 1 else { return }
      let place = unite(ready)
      chains[place].stage = .sealed
    }
  }
}

/// Which submitted chains may be sealed.
enum SealMachine {
  /// The next chains to be sealed as one: all that they wait for, through others, are they
  /// themselves (rule 4). Nil where nothing of `submitted` may go.
  static func ready(_ submitted: [Int], awaited: (Int) -> [Int]) -> [Int]? {
    for start in submitted {
      var found: Set<Int> = [start]
      var open = [start]
      var isReady = true
      while isReady, let next = open.popLast() {
        for other in awaited(next) {
          guard submitted.contains(other) else {
            isReady = false
            break
          }
          if found.insert(other).inserted { open.append(other) }
        }
      }
      // Those in `found` that wait for less are met as a start of their own.
      guard isReady else { continue }
      let smallest = found.map { one in closure(of: one, awaited) }.min { $0.count < $1.count }
      return smallest?.sorted()
    }
    return nil
  }

  private static func closure(of start: Int, _ awaited: (Int) -> [Int]) -> Set<Int> {
    var found: Set<Int> = [start]
    var open = [start]
    while let next = open.popLast() {
      for other in awaited(next) where found.insert(other).inserted { open.append(other) }
    }
    return found
  }
}
