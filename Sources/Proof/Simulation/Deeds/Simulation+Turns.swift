import FerryWorld

/// Rare accidents that a run surely meets: of ten seeds in a row each has others, so that ten in a
/// row meet all of them. They come beside those that chance brings.
struct Turns {
  /// What is still to strike, and from which step on it may.
  var waiting: [(fault: SimulatedFault, from: Int)] = []
  /// What apps are still to do, each in its turn, and from which step on they may.
  var acts: [(act: StatedAct, from: Int)] = []
  let chance: SeededChance

  /// By the last digit of the seed. What restores the server has odd ones: one business system in
  /// four, of even seeds, does without.
  private static let rare: [[SimulatedFault]] = [
    [.outage, .nonsenseSent], [.serverRestored], [.deviceRestored, .deviceWiped],
    [.serverFailedOver],
    [.deviceSilent, .clockWrong], [.deviceCloned], [.extensionBeside, .tokensRevoked],
    [.deviceSilentLong], [.fullOverRestart, .deviceWiped], [.tokenEnded, .deviceLocked],
  ]

  /// What apps rarely do by chance, by the last digit of the seed.
  private static let rareActs: [[StatedAct]] = [
    [StatedAct(state: .submitted, act: .cancel)], [StatedAct(state: .withdrawn, act: .edit)],
    [StatedAct(state: .replayFailed, act: .cancel)],
    [StatedAct(state: .withdrawn, act: .delete)], [StatedAct(state: .wanted, act: .cancel)],
    [StatedAct(state: .submitted, act: .delete)], [StatedAct(state: .wanted, act: .delete)],
    [StatedAct(state: .withdrawn, act: .cancel)],
    [StatedAct(state: .replayFailed, act: .delete)],
    [StatedAct(state: .withdrawn, act: .delete)],
  ]

  /// What apps do to changes of unknown outcome, where there are such: one business system in four.
  private static func unknownActs(seed: UInt64) -> [StatedAct.Act] {
    guard seed % 4 == 0 else { return [] }
    return seed % 8 == 0 ? [.edit, .delete, .cancel] : [.cancel, .edit, .delete]
  }

  init(seed: UInt64) {
    chance = SeededChance(seed ^ 0x7C15)
    for fault in Turns.rare[Int(seed % 10)] {
      waiting.append((fault, 60 + chance.number(below: 180)))
    }
    acts = Turns.rareActs[Int(seed % 10)].map { ($0, 60 + chance.number(below: 180)) }
    let from = 60 + chance.number(below: 120)
    acts += Turns.unknownActs(seed: seed).map { (StatedAct(state: .unknown, act: $0), from) }
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
    try takeActs()
  }

  /// The first of what apps are still to do in each state that is due is tried until it was done.
  private func takeActs() throws {
    turns.acts.removeAll { counts.acts[$0.act, default: 0] > 0 }
    var states: Set<StatedAct.State> = []
    for turn in turns.acts where step >= turn.from && states.insert(turn.act.state).inserted {
      guard try happen(turn.act) else {
        if turn.act.state == .unknown { makeUnknown() }
        continue
      }
      try settleTroubles()
      try look()
    }
  }

  /// What is performed next ends in a time-out; where nothing comes of it for a while, once more.
  private func makeUnknown() {
    guard may(.timeoutBeforeCommit) else { return }
    struckCalls.forceTimeout()
    for place in turns.acts.indices where turns.acts[place].act.state == .unknown {
      turns.acts[place].from = step + 40
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
    case .deviceLocked: try lock(device)
    case .deviceWiped: if try !orderWipe(of: device) { putOff(place) }
    case .fullOverRestart: fill(turns.chance.happens(500) ? device.disk : server.disk)
    default: preconditionFailure("\(fault) is nobody's turn")
    }
  }

  /// A backup is to be older than what it is restored over.
  private func putOff(_ place: Int) {
    turns.waiting[place].from = step + 30 + turns.chance.number(below: 60)
  }
}
