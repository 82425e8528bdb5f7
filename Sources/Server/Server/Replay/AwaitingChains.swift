import FerryConnector
import FerryModel
import FerryWire

/// Chains that wait for what others must bring.
struct AwaitingChains {
  private struct Waiting {
    let thing: AwaitedThing
    let operations: [(id: OperationID, group: String)]
  }

  private var chains: [ReplayQueue.Name: Waiting] = [:]

  /// How many operations wait; `isOpen`: a device may have withdrawn a chain meanwhile.
  mutating func count(isOpen: (ReplayQueue.Name) -> Bool) -> Int {
    chains = chains.filter { isOpen($0.key) }
    return chains.values.reduce(0) { $0 + $1.operations.count }
  }

  /// The chain waits for this from now on, or for nothing. True where that is news.
  mutating func note(
    _ thing: AwaitedThing?, _ name: ReplayQueue.Name, _ operations: [ConnectorOperation]
  ) -> Bool {
    let before = chains[name]?.thing
    chains[name] = thing.map { thing in
      Waiting(thing: thing, operations: operations.map { ($0.id, $0.entity.group) })
    }
    return before != thing
  }

  mutating func remove(_ name: ReplayQueue.Name) { chains[name] = nil }

  /// What waits of a device, by synchronization group.
  func operations(
    of owner: Owner, isOpen: (ReplayQueue.Name) -> Bool
  ) -> [String: [WaitingOperation]] {
    var found: [String: [WaitingOperation]] = [:]
    for (name, chain) in chains where name.owner == owner && isOpen(name) {
      for operation in chain.operations {
        found[operation.group, default: []].append(
          WaitingOperation(id: operation.id, reason: chain.thing.word))
      }
    }
    return found
  }
}

extension AwaitedThing {
  /// As it travels.
  fileprivate var word: String {
    switch self {
    case .credential: "credential"
    }
  }
}
