import FerryConnector
import FerryMemoryConnector
import FerryModel
import Synchronization

/// The connector of a test's business system, whose line breaks where the test wants it.
final class TestConnector: Connector {
  private let memory: MemoryConnector
  private let doubts: TestDoubts

  init(_ business: MemoryBusiness, _ doubts: TestDoubts) {
    memory = MemoryConnector(business)
    self.doubts = doubts
  }

  func mismatches(with package: Package) throws(ConnectorError) -> [Mismatch] {
    try memory.mismatches(with: package)
  }

  func perform(_ group: [ConnectorOperation]) -> PerformResult {
    guard let isPerformed = doubts.begin(group) else { return memory.perform(group) }
    if isPerformed { _ = memory.perform(group) }
    return .unknown(reason: "The test leaves open whether it was performed.")
  }

  func recall(_ operations: [OperationID]) throws(ConnectorError) -> [OperationOutcome?] {
    guard !doubts.contain(operations) else {
      throw ConnectorError(
        "The test leaves open whether it was performed.", hint: "acceptAll() ends that.",
        isTransient: false)
    }
    return try memory.recall(operations)
  }

  func read(_ entity: Entity, keys: [Key]) throws(ConnectorError) -> [RowImage] {
    try memory.read(entity, keys: keys)
  }

  func load(
    _ entities: [Entity], each: (Entity, [RowImage]) throws(ConnectorError) -> Void,
    rejected: (RejectedRow) -> Void
  ) throws(ConnectorError) { try memory.load(entities, each: each, rejected: rejected) }

  func content(
    _ entity: Entity, key: Key, position: Int, offset: Int64, count: Int
  ) throws(ConnectorError) -> [UInt8]? {
    try memory.content(entity, key: key, position: position, offset: offset, count: count)
  }

  func changedByOthers() throws(ConnectorError) -> Bool { try memory.changedByOthers() }
}

/// Operations of which a test wants nobody to know whether they were performed.
final class TestDoubts: Sendable {
  struct Doubt {
    let entity: String
    let kinds: Set<OperationKind>
    let isPerformed: Bool
  }

  private struct State {
    var wanted: [Doubt] = []
    var operations: Set<OperationID> = []
  }

  private let state = Mutex(State())

  func add(_ doubt: Doubt) { state.withLock { $0.wanted.append(doubt) } }

  /// What was left open stays so.
  func removeAll() { state.withLock { $0.wanted = [] } }

  /// Whether the group is performed all the same, where its outcome is to be unknown; else nil.
  func begin(_ group: [ConnectorOperation]) -> Bool? {
    state.withLock { state in
      let doubt = state.wanted.first { doubt in
        group.contains { $0.entity.name == doubt.entity && doubt.kinds.contains($0.kind) }
      }
      guard let doubt else { return nil }
      state.operations.formUnion(group.map(\.id))
      return doubt.isPerformed
    }
  }

  func contain(_ operations: [OperationID]) -> Bool {
    state.withLock { state in operations.contains { state.operations.contains($0) } }
  }
}
