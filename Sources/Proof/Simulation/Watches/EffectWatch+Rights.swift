import FerryModel

/// Whose rows operations change.
extension EffectWatch {
  /// Invariant 11: the row lies inside the rights of the user before and after, as the business
  /// system has it in that transaction: inside those with which the operation arrived, and inside
  /// those that its user has at that moment.
  func checkRights(_ effect: BusinessHistory.Effect, _ arrivals: Arrivals) throws {
    let arrived = arrivals.rights(of: effect.operation)
    let current = arrivals.current(effect.operation)
    for agency in effect.agencies {
      guard current.contains(agency), arrived.contains(where: { $0.contains(agency) }) else {
        let allowed = arrived.map { "\($0.sorted())" }.joined(separator: ", then ")
        throw SimulationFailure(
          invariant: 11,
          problem: "\(effect.operation) changed \(effect.name) of the agency \(agency); "
            + "it arrived with the rights for \(allowed), now they are \(current.sorted())")
      }
    }
  }

  static func agency(_ values: [AttributeValue]) -> Int64? {
    guard values.indices.contains(1), case .text(let name) = values[1] else { return nil }
    return SimulatedBusiness.agency(named: name)
  }
}
