import FerryModel

/// Whose rows operations change.
extension EffectWatch {
  /// Invariant 11: the row lies inside the rights of the user before and after. What it becomes is
  /// in the change itself. What it was is judged by the cache as it stood when the operation was
  /// given out or later: others may have moved the row in the business system since.
  func checkRights(
    _ effect: BusinessHistory.Effect, _ oracle: Oracle, _ arrivals: Arrivals
  ) throws {
    let rights = arrivals.rights(of: effect.operation)
    switch effect.name.entity {
    case "Order":
      let before = effect.before.flatMap(EffectWatch.agency)
      if let before, !rights.contains(where: { $0.contains(before) }) {
        try check([before], ofOrder: effect.name, effect, rights, oracle, arrivals)
      }
      guard let after = effect.after.flatMap(EffectWatch.agency), after != before else { return }
      if rights.contains(where: { $0.contains(after) }) { return }
      throw EffectWatch.forbidden(effect, [after], rights)
    case "Line":
      guard let values = effect.after ?? effect.before else { return }
      let order = RowName(entity: "Order", key: Key([values[0]]))
      try check([], ofOrder: order, effect, rights, oracle, arrivals)
    default: return
    }
  }

  /// `found`: in the business system, outside of the rights.
  private func check(
    _ found: Set<Int64>, ofOrder name: RowName, _ effect: BusinessHistory.Effect,
    _ rights: [Set<Int64>], _ oracle: Oracle, _ arrivals: Arrivals
  ) throws {
    let since = arrivals.claimed(effect.operation)
    var agencies = oracle.agencies(ofOrder: name, since: since)
    // An order that the same group has made.
    if agencies.isEmpty, found.isEmpty { agencies = oracle.business.agencies(ofOrder: name) }
    if rights.contains(where: { !$0.isDisjoint(with: agencies) }) { return }
    throw EffectWatch.forbidden(effect, agencies.isEmpty ? found : agencies, rights)
  }

  static func agency(_ values: [Value]) -> Int64? {
    guard values.indices.contains(1), case .integer(let agency) = values[1] else { return nil }
    return agency
  }

  private static func forbidden(
    _ effect: BusinessHistory.Effect, _ agencies: Set<Int64>, _ rights: [Set<Int64>]
  ) -> SimulationFailure {
    let allowed = rights.map { "\($0.sorted())" }.joined(separator: ", then ")
    return SimulationFailure(
      invariant: 11,
      problem: "\(effect.operation) changed \(effect.name) of the agency "
        + "\(agencies.sorted().map(String.init).joined(separator: ", ")); "
        + "it arrived with the rights for \(allowed)")
  }
}
