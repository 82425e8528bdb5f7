/// A device's operations and a business system that checks references and base values, for the
/// exploration. The system performs a chain as one and answers with the import that shows it.
struct OperationWorld: Equatable {
  typealias Row = OperationMachine.Row
  typealias Change = OperationMachine.Change
  private static let absent = OperationMachine.absent
  private static let empty = OperationMachine.empty

  /// What of all that can happen is explored.
  struct Scope {
    var keys: OperationMachine.Keys
    var cancels = true
    var refusals = true
    var unknown = false
    /// Two objects are saved in one transaction, too.
    var transactions = false
    /// The app deletes only what nothing visible refers to.
    var isReasonable = false
  }

  var machine: OperationMachine
  var rows: [Row]

  init(_ keys: OperationMachine.Keys, rows: [Row], fault: OperationMachine.Fault? = nil) {
    machine = OperationMachine(keys: keys, images: rows, fault: fault)
    self.rows = rows
  }

  // What can happen next.

  func events(_ scope: Scope) -> [OperationMachine.Event] {
    var events: [OperationMachine.Event] = []
    let seen = rows.indices.map { machine.row($0) }
    for object in rows.indices {
      let saves = self.saves(of: object, seen, scope)
      events += saves.map { .save([object: $0]) }
      if scope.transactions {
        for other in rows.indices where other > object {
          for row in saves {
            for otherRow in pairs(of: other, with: object, row, seen, scope) {
              events.append(.save([object: row, other: otherRow]))
            }
          }
        }
      }
      if machine.chains.contains(where: { $0.stage.isOpen && $0.has(object) }) {
        events.append(.submit(object))
      }
      let isLive = machine.chains.contains {
        $0.has(object) && !$0.stage.withdrawn.contains(object)
      }
      if scope.cancels, isLive { events.append(.cancel(object)) }
    }
    for (place, chain) in machine.chains.enumerated() {
      switch chain.stage {
      case .sealed: events.append(.send(place))
      case .sent:
        events.append(.accept(place))
        if scope.refusals { events.append(.refuse(place)) }
        if scope.unknown { events.append(.unknown(place)) }
      case .unknown:
        events.append(.accept(place))
        if scope.refusals { events.append(.refuse(place)) }
      case .open, .submitted: break
      }
    }
    return events
  }

  private func saves(of object: Int, _ seen: [Row], _ scope: Scope) -> [Row] {
    var targets: [Row] = [Self.empty]
    for other in rows.indices where other != object && seen[other] != Self.absent {
      // A delete on its way ends what is made anew behind it, for a moment.
      if scope.isReasonable, isBeingDeleted(other) { continue }
      targets.append(Row(other))
    }
    guard seen[object] != Self.absent else {
      // Where the business system gives the key, what is created later is another object.
      let isNew =
        machine.keys == .app
        || rows[object] == Self.absent && machine.images[object] == Self.absent
          && !machine.hasChange(object) && !isNamed(object)
      return isNew ? targets : []
    }
    let isReferred =
      rows.indices.contains { $0 != object && seen[$0] == Row(object) }
      || machine.chains.contains { chain in
        chain.changes.contains { $0.object != object && $0.after == Row(object) }
      }
    let updates = targets.filter { $0 != seen[object] }
    return scope.isReasonable && isReferred ? updates : updates + [Self.absent]
  }

  private func isBeingDeleted(_ object: Int) -> Bool {
    machine.chains.contains { chain in
      chain.changes.contains { $0.object == object && $0.kind == .delete }
    }
  }

  private func pairs(
    of other: Int, with object: Int, _ row: Row, _ seen: [Row], _ scope: Scope
  ) -> [Row] {
    var after = seen
    after[object] = row
    return saves(of: other, after, scope).filter { otherRow in
      // A reference to what this transaction deletes is no app's wish.
      guard scope.isReasonable else { return true }
      after[other] = otherRow
      return after.indices.allSatisfy { place in
        after[place] < 0 || after[Int(after[place])] != Self.absent
      }
    }
  }

  private func isNamed(_ object: Int) -> Bool {
    machine.images.contains(Row(object)) || rows.contains(Row(object))
      || machine.chains.contains { chain in
        chain.changes.contains { $0.after == Row(object) || $0.before == Row(object) }
      }
  }

  // The business system.

  /// What stood in the way of a chain.
  enum Objection: Equatable { case reference(Int), referred(Int), base(Int) }

  /// Performs a chain in the order of rule 5; nil where nothing speaks against it.
  mutating func perform(_ changes: [Change]) -> Objection? {
    var after = rows
    for step in OperationSteps.of(changes, reverses: machine.fault == .circleOrder) {
      if let objection = Self.perform(step, &after) { return objection }
    }
    rows = after
    return nil
  }

  private static func perform(_ step: Change, _ rows: inout [Row]) -> Objection? {
    let object = step.object
    if step.kind == .create ? rows[object] != absent : rows[object] != step.before {
      return .base(object)
    }
    if step.kind == .delete {
      if rows.indices.contains(where: { $0 != object && rows[$0] == Row(object) }) {
        return .referred(object)
      }
    } else if step.after >= 0, rows[Int(step.after)] == absent {
      return .reference(Int(step.after))
    }
    rows[object] = step.after
    return nil
  }

  // One event.

  /// What an event broke; nil where every property holds.
  mutating func take(_ event: OperationMachine.Event, _ scope: Scope) -> String? {
    let seen = rows.indices.map { machine.row($0) }
    let work = self.work
    let sealed = machine.chains.filter { $0.stage == .sealed }
    switch event {
    case .save(let rows): machine.save(rows)
    case .submit(let object): machine.submit(object)
    case .cancel(let object): machine.cancel(object)
    case .send(let place): machine.chains[place].stage = .sent(withdrawn: .init())
    case .unknown(let place):
      machine.chains[place].stage = .unknown(withdrawn: machine.chains[place].stage.withdrawn)
    case .accept(let place):
      let chain = machine.chains[place]
      if let objection = perform(chain.changes) {
        if scope.isReasonable, !scope.cancels { return "7: \(objection) at \(chain)" }
        if let broken = refuse(place, seen) { return broken }
        if self.work >= work { return "6: an answer ended nothing" }
        return properties() ?? newlySealed(sealed, scope)
      }
      machine.accept(place, rows: rows)
      for object in rows.indices where !chain.stage.withdrawn.contains(object) {
        if seen[object] != machine.row(object) { return "4: an answer changed what shows" }
      }
      if self.work >= work { return "6: an answer ended nothing" }
    case .refuse(let place):
      if let broken = refuse(place, seen) { return broken }
      if self.work >= work { return "6: an answer ended nothing" }
    }
    return properties() ?? newlySealed(sealed, scope)
  }

  /// Property 4: what the app sees, and what it has in hand, outlives a refusal.
  private mutating func refuse(_ place: Int, _ seen: [Row]) -> String? {
    let deletes = machine.chains[place].changes.filter { $0.kind == .delete }.map(\.object)
    let joined = rows.indices.filter { object in
      machine.chains[place].has(object)
        && machine.chains.count { $0.has(object) && !$0.stage.withdrawn.contains(object) } > 1
    }
    machine.refuse(place)
    for object in rows.indices where seen[object] != machine.row(object) {
      if !deletes.contains(object), !isTakenBack(object, seen) {
        return "4: a refusal took a value of \(object)"
      }
    }
    for object in rows.indices where joined.contains(object) {
      guard let change = machine.change(object) else { continue }
      let isThere = machine.row(object, below: 2) != Self.absent
      if isThere == (change.kind == .create) { return "4: what is given back has no effect" }
    }
    return nil
  }

  /// Properties 1 and 7 of what an event has sealed.
  private func newlySealed(
    _ before: [OperationMachine.Chain], _ scope: Scope
  ) -> String? {
    for (place, chain) in machine.chains.enumerated()
    where chain.stage == .sealed && !before.contains(chain) {
      var trial = self
      guard let objection = trial.perform(chain.changes) else { continue }
      if let broken = judged(objection, place, scope) { return broken }
    }
    return nil
  }

  /// Rule 8 gives a reference back, or takes a create along, where the temporary key is no more.
  private func isTakenBack(_ object: Int, _ seen: [Row]) -> Bool {
    guard machine.keys == .business else { return false }
    if machine.row(object) == Self.absent { return true }
    return seen[object] >= 0 && machine.row(Int(seen[object])) == Self.absent
  }

  /// What is submitted or in flight: answers alone bring it to rest, since each takes some away.
  private var work: Int {
    machine.chains.reduce(0) { sum, chain in
      sum + (chain.stage.isOpen ? 0 : chain.changes.count)
    }
  }

  /// Whether what stands in the way of a sealed chain would end by itself.
  private func judged(_ objection: Objection, _ place: Int, _ scope: Scope) -> String? {
    let others = machine.chains.indices.filter { $0 != place }
      .flatMap { machine.chains[$0].changes }
    switch objection {
    case .reference(let target):
      let isComing = others.contains { $0.object == target && $0.kind == .create }
      return isComing ? "1: ahead of the create of \(target)" : nil
    case .referred(let target):
      let isLeaving = others.contains {
        $0.object != target && $0.kind != .create && $0.after != Row(target)
          && rows[$0.object] == Row(target)
      }
      return isLeaving ? "1: ahead of what leaves \(target)" : nil
    case .base(let object):
      // What the app took back on its way may have been done.
      return scope.cancels ? nil : "1: on another base of \(object)"
    }
  }

  /// Properties 2 and 3, in every state.
  func properties() -> String? {
    for object in rows.indices {
      for rank in 0...2 {
        let held = machine.chains.filter { $0.stage.rank == rank && $0.has(object) }
        let changes = held.flatMap(\.changes).filter { $0.object == object }
        if changes.count > 1 { return "3: \(changes.count) of rank \(rank) for object \(object)" }
      }
      if machine.keys == .business, let broken = temporary(object) { return broken }
    }
    for (place, chain) in machine.chains.enumerated() where chain.stage == .submitted {
      var found: Set<Int> = [place]
      var open = [place]
      var hasEnd = false
      while !hasEnd, let next = open.popLast() {
        for other in machine.awaited(by: next) where found.insert(other).inserted {
          hasEnd = hasEnd || machine.chains[other].stage != .submitted
          open.append(other)
        }
      }
      if !hasEnd { return "2: \(chain) waits for nothing" }
    }
    return nil
  }

  /// Nothing that can still be changed names a new object that is no more.
  private func temporary(_ object: Int) -> String? {
    guard !machine.given.contains(object) else { return nil }
    let isComing = machine.chains.contains { chain in
      chain.changes.contains { $0.object == object && $0.kind == .create }
    }
    guard !isComing else { return nil }
    let isNamed = machine.chains.contains { chain in
      !chain.stage.isInFlight && chain.changes.contains { $0.after == Row(object) }
    }
    return isNamed ? "2: \(object) is no more and is named" : nil
  }
}

/// In which steps a chain is performed, rule 5.
enum OperationSteps {
  typealias Change = OperationMachine.Change

  /// Creates before what refers to them, deletes after what left; a circle is cut at an empty
  /// reference. `reverses` is a planted fault.
  static func of(_ changes: [Change], reverses: Bool = false) -> [Change] {
    guard changes.count > 1 else { return changes }
    var left = changes.sorted { $0.object < $1.object }
    if reverses { return left.reversed() }
    var steps: [Change] = []
    var later: [Change] = []
    while !left.isEmpty {
      if let next = left.firstIndex(where: { isFree($0, among: left) }) {
        steps.append(left.remove(at: next))
      } else if let next = left.firstIndex(where: { $0.kind == .create }) {
        var first = left.remove(at: next)
        let change = Change(
          object: first.object, kind: .update, before: OperationMachine.empty, after: first.after)
        first.after = OperationMachine.empty
        steps.append(first)
        later.append(change)
      } else if let next = left.firstIndex(where: { $0.kind == .delete }) {
        // Emptied before it is deleted: what it referred to may go first.
        let emptied = Change(
          object: left[next].object, kind: .update, before: left[next].before,
          after: OperationMachine.empty)
        steps.append(emptied)
        left[next].before = OperationMachine.empty
      } else {
        steps += left
        left = []
      }
      let ready = later.filter { change in isFree(change, among: left) }
      later.removeAll { ready.contains($0) }
      steps += ready
    }
    return steps + later
  }

  private static func isFree(_ change: Change, among left: [Change]) -> Bool {
    !left.contains { other in
      guard other.object != change.object else { return false }
      if other.kind == .create, change.kind != .delete,
        change.after == OperationMachine.Row(other.object), change.before != change.after
      {
        return true
      }
      return change.kind == .delete && other.kind != .create
        && other.before == OperationMachine.Row(change.object)
        && other.after != OperationMachine.Row(change.object)
    }
  }
}
