/// All states that a world can reach, breadth first; objects that can be exchanged count as one.
struct OperationExploration {
  private(set) var states = 0
  private(set) var transitions = 0
  /// Every state was reached; false where the depth ended it.
  private(set) var isComplete = true
  /// What a property was broken by: the shortest way to it.
  private(set) var broken: String?

  private let scope: OperationWorld.Scope
  /// Ways to name the objects, under which the start looks the same.
  private let namings: [[Int]]

  init(
    _ start: OperationWorld, _ scope: OperationWorld.Scope, namings: [[Int]], depth: Int = .max
  ) {
    self.scope = scope
    self.namings = namings
    run(start, depth)
  }

  private mutating func run(_ start: OperationWorld, _ depth: Int) {
    var seen: Set<[UInt8]> = [name(start)]
    var ways: [(world: OperationWorld, before: Int, event: OperationMachine.Event?)] = [
      (start, -1, nil)
    ]
    var next = 0
    var level = 0
    while next < ways.count, level < depth {
      let end = ways.count
      while next < end {
        for event in ways[next].world.events(scope) {
          var world = ways[next].world
          transitions += 1
          if let problem = world.take(event, scope) {
            broken = problem + " after " + way(to: next, event, ways)
            states = seen.count
            isComplete = false
            return
          }
          if seen.insert(name(world)).inserted { ways.append((world, next, event)) }
        }
        next += 1
      }
      level += 1
    }
    states = seen.count
    isComplete = next == ways.count
  }

  private func way(
    to place: Int, _ last: OperationMachine.Event,
    _ ways: [(world: OperationWorld, before: Int, event: OperationMachine.Event?)]
  ) -> String {
    var events = ["\(last)"]
    var place = place
    while place >= 0, let event = ways[place].event {
      events.append("\(event)")
      place = ways[place].before
    }
    return events.reversed().joined(separator: ", ")
  }

  private func name(_ world: OperationWorld) -> [UInt8] {
    var best = name(world, namings[0])
    for naming in namings.dropFirst() {
      let other = name(world, naming)
      if other.lexicographicallyPrecedes(best) { best = other }
    }
    return best
  }

  /// `naming` gives for each object the number that it is written with.
  private func name(_ world: OperationWorld, _ naming: [Int]) -> [UInt8] {
    let count = naming.count
    func row(_ row: OperationMachine.Row) -> UInt8 {
      row < 0 ? UInt8(row + 2) : UInt8(naming[Int(row)] + 2)
    }
    var bytes = [UInt8](repeating: 0, count: count * 3)
    for object in 0..<count {
      bytes[naming[object]] = row(world.rows[object])
      bytes[count + naming[object]] = row(world.machine.images[object])
      bytes[count * 2 + naming[object]] = world.machine.given.contains(object) ? 1 : 0
    }
    var chains: [[UInt8]] = []
    for chain in world.machine.chains {
      var one: [UInt8] = []
      var marked = OperationMachine.Objects()
      switch chain.stage {
      case .open(let refused): (one, marked) = ([1], refused)
      case .submitted: one = [2]
      case .sealed: one = [3]
      case .sent(let withdrawn): (one, marked) = ([4], withdrawn)
      case .unknown(let withdrawn): (one, marked) = ([5], withdrawn)
      }
      var changes: [UInt8] = [UInt8](repeating: 0, count: count * 3)
      for change in chain.changes {
        let place = naming[change.object] * 3
        changes[place] = change.kind.rawValue + 1 + (marked.contains(change.object) ? 8 : 0)
        changes[place + 1] = row(change.before)
        changes[place + 2] = row(change.after)
      }
      chains.append(one + changes)
    }
    chains.sort { $0.lexicographicallyPrecedes($1) }
    for chain in chains { bytes += chain }
    return bytes
  }
}
