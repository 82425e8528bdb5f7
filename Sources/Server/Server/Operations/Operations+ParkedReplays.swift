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
    guard parked.owed == nil, case .recall = parked.step else { return true }
    return parked.machine.operations.allSatisfy { operation in
      operation.user.map { accounts.areRightsKnown(ExactText($0)) } ?? true
    }
  }
}
