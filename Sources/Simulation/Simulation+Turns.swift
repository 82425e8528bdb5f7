import FerryWorld

/// Rare accidents that a run surely meets: of ten seeds in a row each has others, so that ten in a
/// row meet all of them. They come beside those that chance brings.
struct Turns {
  /// What is still to strike, and from which step on it may.
  var waiting: [(fault: SimulatedFault, from: Int)] = []
  let chance: SeededChance

  /// By the last digit of the seed. What restores the server has odd ones: one business system in
  /// four, of even seeds, does without.
  private static let rare: [[SimulatedFault]] = [
    [.outage, .nonsenseSent], [.serverRestored], [.deviceRestored], [.serverFailedOver],
    [.deviceSilent, .clockWrong], [.deviceCloned], [.extensionBeside, .tokensRevoked],
    [.deviceSilentLong], [.fullOverRestart], [.tokenEnded],
  ]

  init(seed: UInt64) {
    chance = SeededChance(seed ^ 0x7C15)
    for fault in Turns.rare[Int(seed % 10)] {
      waiting.append((fault, 60 + chance.number(below: 180)))
    }
  }
}

extension Simulation {
  /// What is due is tried until it has struck.
  func takeTurns() throws {
    for (place, turn) in turns.waiting.enumerated().reversed() where step >= turn.from {
      if counts.faults[turn.fault, default: 0] > 0 || !may(turn.fault) {
        turns.waiting.remove(at: place)
      } else {
        try happen(turn.fault, place)
        try settleTroubles()
        try look()
      }
    }
  }

  private func happen(_ fault: SimulatedFault, _ place: Int) throws {
    let device = turns.chance.pick(devices)
    switch fault {
    case .outage: try cutAllLines()
    case .nonsenseSent: try sendNonsense(as: device)
    case .serverRestored:
      if backups.server.isEmpty {
        keepServerBackup()
        putOff(place)
      } else {
        try restoreServer()
      }
    case .deviceRestored:
      if backups.devices[device.number] == nil {
        keepBackup(of: device)
        putOff(place)
      } else {
        try restore(device)
      }
    case .serverFailedOver: failOver()
    case .deviceSilent, .deviceSilentLong: try silence(device, fault)
    case .clockWrong: setClock(device.clock)
    case .deviceCloned: try clone(device)
    case .extensionBeside: try extend(device)
    case .tokensRevoked: try revokeTokens(of: device)
    case .tokenEnded: try endToken()
    case .fullOverRestart: fill(turns.chance.happens(500) ? device.disk : server.disk)
    default: preconditionFailure("\(fault) is nobody's turn")
    }
  }

  /// A backup is to be older than what it is restored over.
  private func putOff(_ place: Int) {
    turns.waiting[place].from = step + 30 + turns.chance.number(below: 60)
  }
}
