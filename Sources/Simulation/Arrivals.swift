import FerryModel
import FerryWire

/// What arrived at the server's door: with which rights, and when it was given out to be performed.
struct Arrivals {
  /// The chain of each operation.
  private var chains: [OperationID: OperationID] = [:]
  /// What the tokens with which a chain arrived were given for.
  private var rights: [OperationID: [Set<Int64>]] = [:]
  /// The members of each chain by their place in it.
  private(set) var members: [OperationID: [Int: OperationID]] = [:]
  /// The place of each operation in its chain.
  private var places: [OperationID: Int] = [:]
  /// The server's clock when an operation was first given out.
  private var claimed: [OperationID: Int64] = [:]

  mutating func take(_ operation: Operation, with rights: Set<Int64>) {
    chains[operation.id] = operation.chain
    if operation.count > 1 {
      members[operation.chain, default: [:]][operation.position] = operation.id
      places[operation.id] = operation.position
    }
    if self.rights[operation.chain]?.last != rights {
      self.rights[operation.chain, default: []].append(rights)
    }
  }

  mutating func claim(_ id: OperationID, at clock: Int64) {
    claimed[id] = min(claimed[id] ?? clock, clock)
  }

  /// What stands before it in its chain, the first first; empty for one that is alone.
  func before(_ id: OperationID) -> [OperationID] {
    guard let chain = chains[id], let place = places[id] else { return [] }
    return (0..<place).compactMap { members[chain]?[$0] }
  }

  /// With what an operation may have been judged; empty where it never arrived.
  func rights(of id: OperationID) -> [Set<Int64>] { chains[id].flatMap { rights[$0] } ?? [] }

  /// Since when the cache's states count for how it was judged.
  func claimed(_ id: OperationID) -> Int64 { claimed[id] ?? 0 }
}

extension Simulation {
  /// Writes down with which rights operations arrive.
  func noteArrived(_ transfer: Transfer) {
    guard !transfer.isStrange,
      let frames = try? FrameReader.frames(of: transfer.request.body)
    else { return }
    for frame in frames where frame.kind == .replay {
      guard case .replay(let replay)? = try? Message(frame) else { continue }
      for bytes in replay.operations {
        guard let operation = try? Operation(bytes, in: SimulatedBusiness.package) else { continue }
        ledger.arrivals.take(operation, with: transfer.rights)
      }
    }
  }
}
