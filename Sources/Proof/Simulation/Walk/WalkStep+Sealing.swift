import Ferry
import FerryModel

// What is submitted gets its final bytes, or waits: `ChainSealing` and `Dependencies`.
extension WalkStep {
  /// Submits what waits of an object. False, and nothing is changed, if that cannot be sent.
  mutating func submit(_ number: UInt8) -> Bool {
    let seeds = operations(of: number).filter { !$0.isInFlight }
    guard !seeds.isEmpty else { return true }
    let before = world
    do {
      try seal(chain(of: seeds) { !$0.isInFlight })
      return true
    } catch {
      world = before
      return false
    }
  }

  private mutating func seal(_ members: [WalkOperation]) throws(WalkUnsendable) {
    let members = joined(members)
    var dependencies = WalkDependencies(step: self)
    switch dependencies.verdict(on: members) {
    case .ready(let all): try send(all)
    case .waits: try hold(members)
    case .behind(let others):
      try hold(members)
      for other in others {
        if let place = place(other), world.device.operations[place].wanted == 1 {
          world.device.operations[place].wanted = 2
        }
      }
    }
  }

  /// What was submitted and had to wait, and what was changed since, are one operation when it is
  /// submitted again.
  private mutating func joined(_ members: [WalkOperation]) -> [WalkOperation] {
    guard Set(members.map(\.object)).count < members.count else { return members }
    var gone: [WalkOperation] = []
    var left: [WalkOperation] = []
    var seen: Set<UInt8> = []
    for member in members where seen.insert(member.object).inserted {
      let joined = join(members.filter { $0.object == member.object })
      gone += joined.gone
      if let operation = joined.left { left.append(operation) }
    }
    guard !gone.isEmpty else { return left }
    forget(gone)
    return left.compactMap { member in
      world.device.operations.first { $0.sequence == member.sequence }
    }
  }

  /// Changes of one object become one that the app has in hand again.
  mutating func join(
    _ changes: [WalkOperation]
  ) -> (left: WalkOperation?, joined: [WalkOperation], gone: [WalkOperation]) {
    var left: WalkOperation?
    var joined: [WalkOperation] = []
    var gone: [WalkOperation] = []
    for next in changes {
      guard let first = left else {
        left = next
        continue
      }
      delete(next.sequence)
      unite(next.chain, into: first.chain)
      joined.append(next)
      let result = PendingMachine.join(
        model.pending(first), model.pending(next), below: below(first).map(model.values))
      left = result.map { model.kept($0, over: first) }
      left?.wanted = 0
      if left == nil { gone.append(first) }
    }
    if !joined.isEmpty, let left { update(left) }
    return (left, joined, gone)
  }

  /// What was submitted of an object is not sent after all, and one change with what the app has
  /// changed since.
  mutating func giveBack(_ number: UInt8) {
    let gone = join(operations(of: number).filter(\.isOpen)).gone
    forget(gone)
    show(number)
  }

  private mutating func forget(_ gone: [WalkOperation]) {
    for operation in gone {
      letGo(operation.sequence)
      show(operation.object)
      forgetKey(of: operation)
    }
  }

  /// Members in the order in which they are performed, with their bytes.
  private mutating func payloads(
    of members: [WalkOperation]
  ) throws(WalkUnsendable) -> [WalkOperation] {
    let references: [[ChainMachine.Reference]] =
      members.count > 1
      ? members.map { member in
        made(by: member).map { reference($0, isMade: true) }
          + ended(by: member).map { reference($0, isMade: false) }
      } : []
    let pending = ChainMachine.ordered(
      members.map(model.pending), references, in: model.package
    ) { model.id(WalkNames.part(of: model.number($0))) }
    var ordered: [WalkOperation] = []
    for operation in pending {
      let known = members.first { $0.object == UInt8(operation.object) }
      guard let known else { continue }
      var kept = model.kept(operation, over: known)
      kept.sequence = UInt8(operation.sequence)
      if kept.id != known.id { kept.birth = WalkNames.part(of: known.birth) }
      ordered.append(kept)
    }
    if model.has(.idAtSubmit) { for place in ordered.indices { ordered[place].id = newID() } }
    for place in ordered.indices {
      let member = ordered[place]
      ordered[place].chain = ordered[0].id
      try check(member)
      let isNew = member.kind == .create && member.isTemporary
      var changed = member.changed
      // The others of a chain call a new object by its temporary key.
      if isNew, ordered.count > 1 { changed.key = member.key }
      ordered[place].sealed = WalkPayload(
        id: member.id, chain: ordered[0].id, position: UInt8(place), count: UInt8(ordered.count),
        kind: member.kind, key: isNew ? 0 : member.key, changed: changed, base: member.base)
    }
    return ordered
  }

  private func reference(
    _ target: ReferenceMachine.Target, isMade: Bool
  ) -> ChainMachine.Reference {
    ChainMachine.Reference(
      target: ChainMachine.Name(entity: target.entity.name, key: ObjectKey(target.key)),
      positions: target.positions, isMade: isMade)
  }

  /// Refuses a change that refers to a new object which is no more.
  private func check(_ member: WalkOperation) throws(WalkUnsendable) {
    for target in made(by: member) where target.isTemporary {
      let key = WalkModel.number(target.key[0])
      let isThere =
        world.device.operations.contains { $0.kind == .create && $0.key == key }
        || world.device.objects.contains { $0.visible?.key == key }
      guard isThere else { throw WalkUnsendable() }
    }
  }

  private mutating func send(_ members: [WalkOperation]) throws(WalkUnsendable) {
    let payloads = try payloads(of: members)
    var parts: [UInt8] = []
    for member in payloads {
      var sealed = submitted(member)
      (sealed.wanted, sealed.state) = (0, .submitted)
      (sealed.isSent, sealed.isAcknowledged) = (false, false)
      if sealed.sequence == 0 { parts.append(insert(sealed)) } else { update(sealed) }
    }
    for part in parts {
      guard let place = place(part) else { continue }
      let all = world.device.operations.map(model.pending)
      for later in PendingMachine.behind(all[place], all) { moveToEnd(UInt8(later.sequence)) }
    }
    for member in payloads { show(member.object) }
  }

  private mutating func hold(_ members: [WalkOperation]) throws(WalkUnsendable) {
    let before = world.nextID
    let chain = try payloads(of: members).first?.chain
    world.nextID = max(before, world.nextID)
    for member in members {
      var held = submitted(member)
      (held.wanted, held.state, held.sealed) = (1, .waiting, nil)
      held.chain = chain ?? held.chain
      update(held)
      show(held.object)
    }
  }

  /// It counts as submitted once, however often it is looked at.
  private func submitted(_ member: WalkOperation) -> WalkOperation {
    var submitted = member
    if member.wanted == 0 { submitted.counter = counter() }
    submitted.failure = 0
    return submitted
  }

  /// Seals what is submitted and may be ready now. The store marks whom to look at; here all that
  /// waits is looked at.
  mutating func sealWanted() {
    for place in world.device.operations.indices where world.device.operations[place].wanted == 1 {
      world.device.operations[place].wanted = 2
    }
    var rounds = 0
    while rounds < 16 {
      let marked = world.device.operations.filter { $0.wanted == 2 }
      guard !marked.isEmpty else { return }
      rounds += 1
      for mark in marked {
        guard let operation = operation(with: mark.id), operation.wanted == 2 else { continue }
        let members = chain(of: [operation]) { $0.wanted > 0 || $0.state == .replayFailed }
        if members.contains(where: { $0.state == .replayFailed }) {
          for var member in members where member.wanted == 2 {
            member.wanted = 1
            update(member)
          }
          continue
        }
        let before = world
        do { try seal(members) } catch {
          world = before
          refuse(members)
        }
      }
    }
  }

  /// What was submitted and had to wait cannot be sent as it is by now: refused by the device.
  private mutating func refuse(_ members: [WalkOperation]) {
    for var member in members {
      (member.wanted, member.state) = (0, .replayFailed)
      member.failure = member.counter
      update(member)
    }
    for member in members where operation(with: member.id) != nil { giveBack(member.object) }
  }
}

/// What holds up a change that is submitted: each unfinished one of another chain that is an earlier
/// one of its object or key, that creates what it refers to, or that ends a reference to what it
/// deletes.
private struct WalkDependencies {
  enum Verdict {
    case ready([WalkOperation])
    case waits
    /// Sequences.
    case behind([UInt8])
  }

  let step: WalkStep
  private var chains: [Int64: [WalkOperation]] = [:]
  private var looked: Set<Int64> = []

  init(step: WalkStep) { self.step = step }

  mutating func verdict(on members: [WalkOperation]) -> Verdict {
    guard let first = members.first else { return .ready([]) }
    let number = Int64(first.sequence)
    chains[number] = members
    switch SealMachine.judge(number, awaited: { next($0) }) {
    case .waits: return .waits
    case .behind(let others): return .behind(others.sorted().map { UInt8($0) })
    case .ready(let circle):
      guard circle.count > 1 else { return .ready(members) }
      let all = circle.flatMap { chains[$0] ?? [] }
      return .ready(all.sorted { $0.sequence < $1.sequence })
    }
  }

  private mutating func next(_ number: Int64) -> SealMachine.Awaited {
    guard looked.insert(number).inserted, let members = chains[number] else { return .nothingMore }
    var others: [Int64] = []
    for member in members {
      let earlier = step.world.device.operations.filter {
        ($0.object == member.object || $0.key == member.key) && $0.sequence < member.sequence
      }
      if member.isTemporary, member.kind != .create, earlier.isEmpty { return .blocked }
      for operation in earlier + creates(member) + leavers(member) {
        if members.contains(where: { $0.sequence == operation.sequence }) { continue }
        guard let other = chain(of: operation) else { return .blocked }
        if !others.contains(other) { others.append(other) }
      }
    }
    return .others(others)
  }

  /// The chain of an operation that is submitted and waits; nil for any other.
  private mutating func chain(of operation: WalkOperation) -> Int64? {
    for (number, members) in chains
    where members.contains(where: { $0.sequence == operation.sequence }) {
      return number
    }
    guard operation.wanted > 0 else { return nil }
    let members = step.chain(of: [operation]) { $0.wanted > 0 || $0.state == .replayFailed }
    guard let first = members.first, !members.contains(where: { $0.state == .replayFailed })
    else { return nil }
    chains[Int64(first.sequence)] = members
    return Int64(first.sequence)
  }

  /// The creates of what it makes its object refer to.
  private func creates(_ member: WalkOperation) -> [WalkOperation] {
    let made = step.made(by: member).filter {
      $0.isTemporary || !step.model.has(.referenceAhead)
    }.map { WalkModel.number($0.key[0]) }
    return step.world.device.operations.filter { $0.kind == .create && made.contains($0.key) }
  }

  /// Those that end references to the object of a delete.
  private func leavers(_ member: WalkOperation) -> [WalkOperation] {
    guard member.kind == .delete else { return [] }
    return step.world.device.operations.filter { operation in
      operation.sequence != member.sequence
        && step.ended(by: operation).contains { WalkModel.number($0.key[0]) == member.key }
    }
  }
}
