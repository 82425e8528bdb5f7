import FerryModel

/// Looks at what operations do to the business system.
struct EffectWatch {
  private var seen = 0
  private var owners: [String: OperationID] = [:]
  private var orders: [Changed: Int64] = [:]
  private var chains: [OperationID: Int] = [:]

  /// An object as one line of a device's history has changed it.
  private struct Changed: Hashable {
    let lineage: Int
    let name: RowName
  }

  mutating func check(_ business: BusinessHistory, _ ledger: Ledger, isTransactional: Bool) throws {
    guard seen < business.effects.count else { return }
    for effect in business.effects[seen...] {
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
      try checkOrder(effect, ledger)
      if isTransactional { try checkWhole(effect, ledger) }
    }
    seen = business.effects.count
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

  /// Invariant 3: the effects of one device on one object come in the order of its changes.
  private mutating func checkOrder(_ effect: BusinessHistory.Effect, _ ledger: Ledger) throws {
    guard let birth = ledger.births[effect.operation] else {
      throw SimulationFailure(
        invariant: 3, problem: "nobody made the operation \(effect.operation)")
    }
    guard birth.lineage != 0 else { return }
    let name = Changed(lineage: birth.lineage, name: effect.name)
    if let last = orders[name], last > birth.sequence {
      throw SimulationFailure(
        invariant: 3, problem: "an earlier change of \(effect.name) came after a later one")
    }
    orders[name] = birth.sequence
  }
}
