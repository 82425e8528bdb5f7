import FerryModel

/// Looks at what operations do to the business system.
struct EffectWatch {
  private var seen = 0
  private var owners: [String: OperationID] = [:]
  private var orders: [Changed: [Ledger.Birth]] = [:]
  private var chains: [OperationID: Int] = [:]

  /// An object as one line of a device's history has changed it.
  private struct Changed: Hashable {
    let lineage: Int
    let name: RowName
  }

  mutating func check(_ oracle: Oracle, _ ledger: Ledger, isTransactional: Bool) throws {
    let business = oracle.business
    guard seen < business.effects.count else { return }
    for effect in business.effects[seen...] {
      try checkKey(effect, ledger)
      guard business.performed[effect.operation] == 1 else {
        throw SimulationFailure(
          invariant: 2, problem: "the operation \(effect.operation) was performed twice")
      }
      if let reference = effect.reference {
        try checkOnce(reference, effect, ledger)
        forgetKey(of: effect)
      }
      guard !effect.hasTemporaryKey else {
        throw SimulationFailure(
          invariant: 3,
          problem: "\(effect.name) has a key that only its device knew: what it needs was not there"
        )
      }
      try checkOrder(effect, business, ledger)
      try checkValues(effect, ledger)
      try checkSight(effect, ledger)
      try checkRights(effect, ledger.arrivals)
      if isTransactional {
        try checkWhole(effect, ledger)
      } else {
        try checkParts(effect, business, ledger)
      }
    }
    seen = business.effects.count
  }

  /// Invariant 11: nobody chooses a key that the business system gives.
  private func checkKey(_ effect: BusinessHistory.Effect, _ ledger: Ledger) throws {
    guard ledger.choosing.contains(effect.operation) else { return }
    throw SimulationFailure(
      invariant: 11, problem: "\(effect.operation) made \(effect.name) under a key of its choice")
  }

  /// Invariant 2: the effect is the change that was saved, and nothing else of the row changes. The
  /// business writes cities in capitals.
  private func checkValues(_ effect: BusinessHistory.Effect, _ ledger: Ledger) throws {
    guard let birth = ledger.births[effect.operation], birth.lineage != 0 else { return }
    let change = birth.last
    guard effect.name.entity == change.entity else {
      throw EffectWatch.wrong(effect, "it is of \(change.entity)")
    }
    guard let after = effect.after else {
      if change.kind == .delete { return }
      throw EffectWatch.wrong(effect, "it is a \(change.kind) and took the row away")
    }
    guard change.kind != .delete else { throw EffectWatch.wrong(effect, "it is a delete") }
    let city = effect.name.entity == "Order" ? 2 : nil
    let entity = SimulatedBusiness.package.entities.first { $0.name == effect.name.entity }
    for (position, value) in after.enumerated() where entity?.key.contains(position) == false {
      // What only this device knew has its final value by now.
      if case .integer(let number)? = change.changed[position], number < 0 { continue }
      let wanted = change.changed[position] ?? effect.before?[position] ?? .null
      if value == wanted { continue }
      if position == city, case .text(let text) = wanted, value == .text(text.uppercased()) {
        continue
      }
      throw EffectWatch.wrong(
        effect,
        "\(entity?.attributes[position].name ?? "") is \(value.shown), should be \(wanted.shown)")
    }
  }

  /// Invariant 3: a change overwrites no value that its app had not seen.
  private func checkSight(_ effect: BusinessHistory.Effect, _ ledger: Ledger) throws {
    defer {
      if let after = effect.after {
        ledger.noteEffect(of: effect.operation, on: effect.name, after)
      }
    }
    guard let birth = ledger.births[effect.operation], birth.lineage != 0,
      let before = effect.before, birth.last.kind != .create
    else { return }
    let isDelete: Bool = birth.last.kind == .delete
    let positions = isDelete ? Array(before.indices) : birth.last.changed.keys.sorted()
    for position in positions
    where !ledger.hasSeen(before[position], position, of: effect.name, effect.operation) {
      throw SimulationFailure(
        invariant: 3,
        problem: "\(effect.operation) overwrote \(before[position].shown) of \(effect.name), "
          + "which its app had not seen")
    }
  }

  private static func wrong(
    _ effect: BusinessHistory.Effect, _ problem: String
  ) -> SimulationFailure {
    SimulationFailure(
      invariant: 2,
      problem: "the effect of \(effect.operation) on \(effect.name) is not its change: \(problem)")
  }

  /// Invariant 2: one local change has one effect, under whatever id.
  private mutating func checkOnce(
    _ reference: String, _ effect: BusinessHistory.Effect, _ ledger: Ledger
  ) throws {
    if let other = owners[reference], other != effect.operation,
      !ledger.looseReferences.contains(reference)
    {
      throw SimulationFailure(
        invariant: 2, problem: "the order \(reference) was made by \(other) and \(effect.operation)"
      )
    }
    owners[reference] = effect.operation
  }

  /// The business system may give the key of an order that was deleted to a new one: what was done
  /// under it, and under the keys of its lines, was done to other objects.
  private mutating func forgetKey(of order: BusinessHistory.Effect) {
    let lines = order.name.key.text + ","
    orders = orders.filter { changed, _ in
      let name = changed.name
      return name != order.name && !(name.entity == "Line" && name.key.text.hasPrefix(lines))
    }
  }

  /// Invariant 3: a group is one commit, where the business system has such a thing.
  private mutating func checkWhole(_ effect: BusinessHistory.Effect, _ ledger: Ledger) throws {
    guard let birth = ledger.births[effect.operation], birth.lineage != 0,
      !ledger.looseChains.contains(birth.chain)
    else { return }
    if let commit = chains[birth.chain], commit != effect.commit {
      throw SimulationFailure(
        invariant: 3, problem: "the group \(birth.chain) was performed in parts")
    }
    chains[birth.chain] = effect.commit
  }

  /// Invariant 3, at rest: of a group all was performed or nothing, and so it was told.
  func checkGroups(_ business: BusinessHistory, _ ledger: Ledger) throws {
    for chain in Set(ledger.births.values.map(\.chain)).sorted(by: { $0.text < $1.text }) {
      guard let members = ledger.members(of: chain), members.count > 1 else { continue }
      let missing = members.filter { business.performed[$0] == nil }
      guard missing.isEmpty || missing.count == members.count else {
        throw SimulationFailure(
          invariant: 3, problem: "the group \(chain) was performed without \(missing[0])")
      }
      let told = members.reduce(into: Set()) { $0.formUnion(ledger.outcomes(of: $1)) }
      guard told.contains(.replayResult),
        !told.isDisjoint(with: [.replayFailed, .notTried])
      else { continue }
      throw SimulationFailure(
        invariant: 3, problem: "the group \(chain) was told to be done and not to be done")
    }
  }

  /// Invariant 3: the effects of one device on one object come in the order of its changes. After an
  /// unknown outcome its device may have had it twice, under a temporary key and under its own: then
  /// a change of one row may come late, but overwrites no later change of the other.
  private mutating func checkOrder(
    _ effect: BusinessHistory.Effect, _ business: BusinessHistory, _ ledger: Ledger
  ) throws {
    guard let birth = ledger.births[effect.operation] else {
      throw SimulationFailure(
        invariant: 3, problem: "nobody made the operation \(effect.operation)")
    }
    guard birth.lineage != 0 else { return }
    let blocker = ledger.blocker(of: effect.operation) { id in
      business.commits[id].map { $0 <= effect.commit } ?? false
    }
    if let blocker {
      throw SimulationFailure(
        invariant: 3,
        problem: "\(effect.operation) was performed although \(blocker), before it, was not")
    }
    let name = Changed(lineage: birth.lineage, name: effect.name)
    let others = orders[name] ?? []
    let later = others.filter { $0.sequence > birth.sequence }
    guard later.allSatisfy(birth.mayFollow) else {
      throw SimulationFailure(
        invariant: 3, problem: "an earlier change of \(effect.name) came after a later one")
    }
    orders[name] = others + [birth]
  }
}
