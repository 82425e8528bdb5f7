import FerryModel
import FerryWire

/// Groups of a business system that has no transactions: it performs them operation by operation,
/// and stops at the first that it refuses.
extension EffectWatch {
  /// Invariant 3: what stands before it in its group was performed before it.
  func checkParts(
    _ effect: BusinessHistory.Effect, _ business: BusinessHistory, _ ledger: Ledger
  ) throws {
    guard let birth = ledger.births[effect.operation], birth.lineage != 0,
      !ledger.looseChains.contains(birth.chain)
    else { return }
    for earlier in ledger.arrivals.before(effect.operation) {
      guard ledger.births[earlier]?.lineage != 0 else { continue }
      // Those of a change set have one commit.
      guard let commit = business.commits[earlier], commit <= effect.commit else {
        throw SimulationFailure(
          invariant: 3,
          problem:
            "\(effect.operation) was performed and \(earlier), before it in its group, was not"
        )
      }
    }
  }

  /// Invariant 3, at rest: of a group the first were performed; the next one was refused, and what
  /// stands behind it was not tried; and so it was told.
  func checkParts(
    _ business: BusinessHistory, _ ledger: Ledger, _ answered: [OperationID: Answer.Outcome]
  ) throws {
    for (chain, places) in ledger.arrivals.members.sorted(by: { $0.key.text < $1.key.text }) {
      let members = places.sorted { $0.key < $1.key }.map(\.value)
      guard let known = ledger.members(of: chain), Set(known) == Set(members) else { continue }
      let done = members.prefix { business.performed[$0] != nil }.count
      if let late = members.dropFirst(done).first(where: { business.performed[$0] != nil }) {
        throw SimulationFailure(
          invariant: 3,
          problem: "the group \(chain) was performed without \(members[done]), before \(late)")
      }
      guard done > 0, done < members.count else { continue }
      for (place, id) in members.enumerated() {
        let wanted: Answer.Outcome =
          place < done ? .replayResult : place == done ? .replayFailed : .notTried
        let told = ledger.outcomes(of: id).union(answered[id].map { [$0] } ?? [])
          .subtracting([.unknown])
        guard told.isSubset(of: [wanted]) else {
          throw SimulationFailure(
            invariant: 3,
            problem: "the group \(chain) was performed up to \(members[done]), and \(id) was told "
              + told.map(\.rawValue).sorted().joined(separator: ", "))
        }
      }
    }
  }
}
