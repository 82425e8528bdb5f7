@testable import Ferry

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
    while let ready = ready() {
      guard fault != .circles || ready.count == 1 else { return }
      let place = unite(ready)
      chains[place].stage = .sealed
    }
  }

  /// The next chains to be sealed as one, by the rule that the device has too.
  private func ready() -> [Int]? {
    for start in chains.indices where chains[start].stage == .submitted {
      var asked: Set<Int64> = []
      let verdict = SealMachine.judge(Int64(start)) { chain -> SealMachine.Awaited in
        guard asked.insert(chain).inserted else { return .nothingMore }
        let others = awaited(by: Int(chain))
        let isHeld = others.allSatisfy { chains[$0].stage == .submitted }
        return isHeld ? .others(others.map(Int64.init)) : .blocked
      }
      if case .ready(let circle) = verdict { return circle.map(Int.init).sorted() }
    }
    return nil
  }
}
