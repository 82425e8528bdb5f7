import FerryCachePolicies
import FerryConnector
import FerryModel
import FerryWorld
import Synchronization

/// The cache groups of a package that is served: when each is read, and who waits for it. Its policies
/// may change while it is used.
///
/// It is asked by the service's thread, and by those that load and look for changes.
package final class CacheGroups: Sendable {
  struct State {
    var machines: [String: CacheGroupMachine] = [:]
    /// The group of each entity that is in one.
    var owners: [String: String] = [:]
    /// The groups of each synchronization group, as far as they were asked for: a poll costs no more.
    var pulled: [String: [String]] = [:]
    var suspended: Set<String> = []
    var conflicts: [String: ConflictPolicy] = [:]
    var operations: [String: OperationPolicies] = [:]
    /// Called where a load is wanted, and where somebody need not wait any more.
    var onWanted: (@Sendable () -> Void)?
    var onEnd: (@Sendable () -> Void)?
  }

  let state: Mutex<State>
  /// Keeps the names of the groups that are suspended for the next start.
  private let keep: @Sendable (Set<String>) throws(ServerError) -> Void

  /// `suspended`: as `keep` has kept them.
  package init(
    _ policies: CachePolicies = .none, suspended: Set<String> = [],
    keep: @escaping @Sendable (Set<String>) throws(ServerError) -> Void = { _ in }
  ) {
    self.keep = keep
    state = Mutex(State())
    state.withLock { state in
      state.suspended = suspended
      state.take(policies)
    }
  }

  /// Other policies hold from now on. What was read stays.
  package func change(to policies: CachePolicies) {
    let calls = state.withLock { state in
      state.take(policies)
      return [state.onWanted, state.onEnd]
    }
    for call in calls { call?() }
  }

  /// Whether there is no group: then nothing here costs anything.
  var isEmpty: Bool { state.withLock { $0.machines.isEmpty } }

  /// Whether the entity is read by its group alone.
  func governs(_ entity: String) -> Bool { state.withLock { $0.owners[entity] != nil } }

  /// What happens where a change meets one of somebody else, by position; nil where it is refused.
  func conflictRules(of entity: Entity) -> [Int: ConflictRule]? {
    guard let policy = state.withLock({ $0.conflicts[entity.name] }) else { return nil }
    return Dictionary(
      uniqueKeysWithValues: entity.attributes.enumerated().map { ($0, policy.rule(of: $1.name)) })
  }

  /// Those that the connector follows.
  func followed(_ entities: [Entity]) -> [Entity] {
    state.withLock { state in entities.filter { state.owners[$0.name] == nil } }
  }

  /// `onWanted` is called where a load is wanted, `onEnd` where somebody need not wait any more.
  func connect(
    onWanted: @escaping @Sendable () -> Void, onEnd: @escaping @Sendable () -> Void
  ) {
    state.withLock { state in
      state.onWanted = onWanted
      state.onEnd = onEnd
    }
  }

  // Devices.

  /// A device wants the rows of synchronization groups: the loads to wait for; nil where no cache group
  /// has any of them. `entities`: those of a synchronization group.
  func ask(
    _ pulls: [String], at now: Duration, entities: (String) -> [String]
  ) -> NeededGroups? {
    let (needed, call) = state.withLock { state -> (NeededGroups?, (@Sendable () -> Void)?) in
      var needed: NeededGroups?
      var isWanted = false
      for name in pulls.flatMap({ state.groups(of: $0, entities) }) {
        guard let answer = state.machines[name]?.ask(at: now) else { continue }
        var known = needed ?? NeededGroups()
        known.groups[name] = answer
        if case .load = answer, let wait = state.machines[name]?.group.wait {
          known.wait = max(known.wait, wait)
        }
        needed = known
        if state.machines[name]?.wantsLoad == true { isWanted = true }
      }
      return (needed, isWanted ? state.onWanted : nil)
    }
    call?()
    return needed
  }

  /// Whether nobody needs to wait for any of them any more.
  func areDone(_ needed: NeededGroups) -> Bool {
    state.withLock { state in
      needed.groups.allSatisfy { name, answer in
        guard case .load(let number) = answer else { return true }
        return state.machines[name]?.isDone(number) ?? true
      }
    }
  }

  /// What becomes of a row after an operation on it was performed.
  func policy(of entity: Entity, _ kind: OperationKind) -> OperationPolicy {
    state.withLock { $0.operations[entity.name]?.policy(of: kind) ?? .result }
  }

  /// The groups of these entities are to be read again.
  func invalidate(_ entities: Set<String>, at now: Duration) {
    let call = state.withLock { state -> (@Sendable () -> Void)? in
      let names = Set(entities.compactMap { state.owners[$0] })
      for name in names { state.machines[name]?.invalidate(at: now) }
      return names.isEmpty ? nil : state.onWanted
    }
    call?()
  }

  // Loads.

  struct Order: Sendable {
    let name: String
    let entities: [String]
    let number: Int64
  }

  /// The load that is to begin now; it has begun then.
  func next(at now: Duration, _ time: Timestamp, _ log: any Log) -> Order? {
    let (order, setBack) = state.withLock { state -> (Order?, [String]) in
      var setBack: [String] = []
      for name in state.machines.keys.sorted()
      where state.machines[name]?.advance(to: now, time) == true {
        setBack.append(name)
      }
      // One that is wanted again and again must not keep the others waiting.
      let ready = state.machines.filter { $0.value.mayBegin(at: now) }
      let next = ready.min { one, other in
        (one.value.lastBegan ?? .zero, one.key) < (other.value.lastBegan ?? .zero, other.key)
      }
      guard let (name, machine) = next, let number = state.machines[name]?.begin(at: now) else {
        return (nil, setBack)
      }
      return (Order(name: name, entities: machine.group.entities, number: number), setBack)
    }
    for name in setBack {
      log.warn(
        "the clock was set back: the schedule of a cache group begins anew", ("group", name))
    }
    return order
  }

  /// The load has ended; `failure`: why it has brought nothing.
  func end(_ order: Order, failure: String?, at now: Duration) {
    let call = state.withLock { state in
      state.machines[order.name]?.end(order.number, failure: failure, at: now)
      return state.onEnd
    }
    call?()
  }

  /// A load of everything has ended well that began then.
  func loadedAll(began: Duration) {
    state.withLock { state in
      for name in state.machines.keys { state.machines[name]?.loadedWithAll(began: began) }
    }
  }

  func isSuspended(_ name: String) -> Bool {
    state.withLock { $0.machines[name]?.isSuspended ?? false }
  }

  // The operator.

  /// Reads the group as soon as it can be.
  package func refresh(_ name: String) throws(ServerError) {
    let call = try change(name) { machine throws(ServerError) in
      guard !machine.isSuspended else {
        throw ServerError(
          .badRequest, "the cache group \(name) is suspended",
          hint: "Run `ferry cache resume \(name)` first.")
      }
      _ = machine.refresh()
    }
    call?()
  }

  /// The business system is not asked for the group any more, whoever wants its rows. A load that is
  /// under way ends, and nothing of it is used.
  package func suspend(_ name: String) throws(ServerError) {
    _ = try change(name) { machine throws(ServerError) in _ = machine.suspend() }
    try keepSuspended(name, isSuspended: true)
  }

  /// Ends a suspension.
  package func resume(_ name: String) throws(ServerError) {
    let call = try change(name) { machine throws(ServerError) in machine.resume() }
    try keepSuspended(name, isSuspended: false)
    call?()
  }

  private func keepSuspended(_ name: String, isSuspended: Bool) throws(ServerError) {
    let (names, call) = state.withLock { state -> (Set<String>, (@Sendable () -> Void)?) in
      if isSuspended { state.suspended.insert(name) } else { state.suspended.remove(name) }
      return (state.suspended, state.onEnd)
    }
    call?()
    try keep(names)
  }

  private func change(
    _ name: String, _ body: (inout CacheGroupMachine) throws(ServerError) -> Void
  ) throws(ServerError) -> (@Sendable () -> Void)? {
    let result = state.withLock { state -> Result<(@Sendable () -> Void)?, ServerError> in
      guard var machine = state.machines[name] else {
        let known = state.machines.keys.sorted().joined(separator: ", ")
        return .failure(
          ServerError(
            .badRequest, "there is no cache group \(name)",
            hint: known.isEmpty
              ? "The package has none: write them into its file of policies."
              : "It is one of: \(known)."))
      }
      do throws(ServerError) { try body(&machine) } catch { return .failure(error) }
      state.machines[name] = machine
      return .success(state.onWanted)
    }
    return try result.get()
  }
}

extension CacheGroups.State {
  fileprivate mutating func groups(
    of pull: String, _ entities: (String) -> [String]
  ) -> [String] {
    if let known = pulled[pull] { return known }
    let found = Set(entities(pull).compactMap { owners[$0] }).sorted()
    pulled[pull] = found
    return found
  }

  fileprivate mutating func take(_ policies: CachePolicies) {
    var next: [String: CacheGroupMachine] = [:]
    owners = [:]
    pulled = [:]
    for group in policies.groups {
      if var machine = machines[group.name] {
        machine.change(to: group)
        next[group.name] = machine
      } else {
        next[group.name] = CacheGroupMachine(group, isSuspended: suspended.contains(group.name))
      }
      for entity in group.entities { owners[entity] = group.name }
    }
    machines = next
    conflicts = policies.conflicts
    operations = policies.operations
  }
}

/// What the groups have answered that somebody wants rows of.
struct NeededGroups: Sendable, Equatable {
  var groups: [String: CacheGroupMachine.Answer] = [:]
  /// How long to wait at most.
  var wait: Duration = .zero

  /// Nil where nobody has to wait.
  var patience: Duration? {
    groups.values.contains { if case .load = $0 { true } else { false } } ? wait : nil
  }
}
