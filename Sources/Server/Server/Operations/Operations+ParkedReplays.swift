import FerryModel
import FerryWorld

/// Replays that are tried again later.
extension Operations {
  /// When `nextReplay` may have something that it has not now; nil when nothing waits for a time.
  var nextReplayMoment: Timestamp? {
    let moments = [queue.nextMoment, replays.values.compactMap(\.notBefore).min()]
    let shift = world.clock.now.milliseconds - world.clock.moment.milliseconds
    return moments.compactMap { $0 }.min().map { Timestamp(milliseconds: $0.milliseconds + shift) }
  }

  /// How often a replay that is tried again looks whether its user's rights are known.
  static let lookAtRights: Duration = .seconds(10)

  /// What was not performed before is performed next. While it waited, the newest token of its user's
  /// issuer may have become too old: then it waits on for a newer one. What only reads goes on.
  func mayGoOn(_ parked: ActiveReplay) -> Bool {
    guard parked.owed == nil else { return true }
    switch parked.step {
    case .recall, .perform: break
    case .read, .done, .retry: return true
    }
    return parked.machine.operations.allSatisfy { operation in
      operation.user.map { accounts.areRightsKnown(ExactText($0)) } ?? true
    }
  }
}

extension ActiveReplay {
  /// What remains of a chain that was performed in parts may wait for long: what is left to do where its
  /// user was removed meanwhile, or lacks a role. Its rows the business transaction judges.
  mutating func refusedNow() -> ReplayMachine.Action? {
    guard machine.isInParts else { return nil }
    for place in machine.open {
      let operation = machine.operations[place]
      if let refusal = rights[place].refusal(for: operation.kind, of: operation.entity) {
        return machine.refuse(place, refusal)
      }
    }
    return nil
  }
}
