import FerryConnector
import FerryMemoryConnector
import FerryModel
import Foundation
import Synchronization

/// The connector of a test's business system, whose line breaks where the test wants it.
final class TestConnector: Connector {
  private let memory: MemoryConnector
  private let doubts: TestDoubts
  private let gate: TestGate

  init(_ business: MemoryBusiness, _ doubts: TestDoubts, _ gate: TestGate) {
    memory = MemoryConnector(business)
    self.doubts = doubts
    self.gate = gate
  }

  func mismatches(with package: Package) throws(ConnectorError) -> [Mismatch] {
    try memory.mismatches(with: package)
  }

  func abilities(of entity: Entity) -> ConnectorAbilities { memory.abilities(of: entity) }

  func perform(_ group: [ConnectorOperation]) -> PerformResult {
    gate.pass()
    guard let isPerformed = doubts.begin(group) else { return memory.perform(group) }
    if isPerformed { _ = memory.perform(group) }
    return .unknown(reason: "the test leaves open whether it was performed")
  }

  func recall(_ operations: [ConnectorOperation]) throws(ConnectorError) -> [Recall] {
    guard !doubts.contain(operations.map(\.id)) else {
      throw ConnectorError(
        "the test leaves open whether it was performed", hint: "acceptAll() ends that.",
        isTransient: false)
    }
    return try memory.recall(operations)
  }

  func read(_ entity: Entity, keys: [ObjectKey]) throws(ConnectorError) -> [RowImage] {
    try memory.read(entity, keys: keys)
  }

  func load(
    _ scope: LoadScope, from place: LoadPlace?,
    each: (LoadPage) throws(ConnectorError) -> Void, rejected: (RejectedRow) -> Void
  ) throws(ConnectorError) -> LoadEnd {
    try memory.load(scope, from: place, each: each, rejected: rejected)
  }

  func content(
    _ entity: Entity, key: ObjectKey, position: Int, offset: Int64, count: Int
  ) throws(ConnectorError) -> [UInt8]? {
    try memory.content(entity, key: key, position: position, offset: offset, count: count)
  }

  func changedByOthers() throws(ConnectorError) -> Bool {
    guard !gate.isAway else {
      throw ConnectorError(
        "the test made the business system unreachable",
        hint: "setBusinessReachable(true) ends that.", isTransient: true)
    }
    return try memory.changedByOthers()
  }
}

/// Where replays wait while a test holds them.
final class TestGate: Sendable {
  private let condition = NSCondition()
  /// How many may pass; nil for all.
  private let room = Mutex<Int?>(nil)

  private let away = Mutex(false)

  var isAway: Bool { away.withLock { $0 } }

  func set(isAway: Bool) { away.withLock { $0 = isAway } }

  func set(room: Int?) {
    condition.lock()
    self.room.withLock { $0 = room }
    condition.broadcast()
    condition.unlock()
  }

  /// Nothing passes from now on. Whether something was held before: then it is left as it is.
  func hold() -> Bool {
    condition.lock()
    defer { condition.unlock() }
    return room.withLock { room in
      defer { room = room ?? 0 }
      return room != nil
    }
  }

  func pass() {
    condition.lock()
    while room.withLock({ $0 == 0 }) { condition.wait() }
    room.withLock { $0 = $0.map { $0 - 1 } }
    condition.unlock()
  }
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
