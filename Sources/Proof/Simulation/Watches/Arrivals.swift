import FerryModel
import FerryWire

/// What arrived at the server's door: with which rights, and which its user had when it was performed.
struct Arrivals {
  /// The chain of each operation.
  private var chains: [OperationID: OperationID] = [:]
  /// What the tokens with which a chain arrived were given for.
  private var rights: [OperationID: [Set<Int64>]] = [:]
  /// The members of each chain by their place in it.
  private(set) var members: [OperationID: [Int: OperationID]] = [:]
  /// The place of each operation in its chain.
  private var places: [OperationID: Int] = [:]
  private var users: [OperationID: String] = [:]
  /// What the user of an operation might see when the business system was last asked to perform it.
  private var current: [OperationID: Set<Int64>] = [:]

  mutating func take(_ operation: Operation, of user: String, with rights: Set<Int64>) {
    chains[operation.id] = operation.chain
    users[operation.id] = user
    if operation.count > 1 {
      members[operation.chain, default: [:]][operation.position] = operation.id
      places[operation.id] = operation.position
    }
    if self.rights[operation.chain]?.last != rights {
      self.rights[operation.chain, default: []].append(rights)
    }
  }

  mutating func perform(_ id: OperationID, _ now: SimulatedUsers) {
    current[id] = users[id].map(now.rights) ?? []
  }

  /// What stands before it in its chain, the first first; empty for one that is alone.
  func before(_ id: OperationID) -> [OperationID] {
    guard let chain = chains[id], let place = places[id] else { return [] }
    return (0..<place).compactMap { members[chain]?[$0] }
  }

  /// With what an operation may have been judged; empty where it never arrived.
  func rights(of id: OperationID) -> [Set<Int64>] { chains[id].flatMap { rights[$0] } ?? [] }

  /// What its user might see when it was performed.
  func current(_ id: OperationID) -> Set<Int64> { current[id] ?? [] }
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
        ledger.arrivals.take(operation, of: transfer.device.user, with: transfer.tokenRights)
      }
    }
  }
}
