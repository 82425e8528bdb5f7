import Ferry

/// What goes wrong in a run.
package enum SimulatedFault: String, Sendable, CaseIterable {
  // The network.
  case requestLost, requestDoubled, requestDelayed, responseCut, frameLost, frameDoubled
  case framesExchanged, halfOpen, outage, wrongServer
  // Disks and processes.
  case deviceKilled, devicePowerCut, serverKilled, serverPowerCut, deviceStopped, serverStopped
  case diskFull, diskBroken, fullOverRestart
  // Copies.
  case serverRestored, serverFailedOver, deviceRestored, deviceCloned, extensionBeside
  // A session while its database's channel is open; time that goes on over replays in hand.
  case channelBeside, serverStalled
  // The business system.
  case businessAway, timeoutBeforeCommit, timeoutAfterCommit, changedByOthers
  // The same, if it notes changes: it commits after the line broke; others give a row another key.
  case committedLater, keyChanged
  case loadTorn, loadTruncated
  // Transactions of the app; those that were replayed as one, and in which one was refused; chains
  // whose answers were committed together.
  case transaction, group, refusedInGroup, answeredTogether
  // Time and rights.
  case deviceSilent, deviceSilentLong, dayPassed, clockWrong, compaction
  case rightsChanged, tokensRevoked, tokenEnded
  // What an operator decides about a device.
  case deviceLocked, deviceWiped
  // Contents of big values.
  case contentWritten, contentSent, pieceTorn, contentAsked, contentCut, contentDownloaded
  // What only some seeds have: devices that choose other parameters; a row that goes to another
  // agency while its big value is under way; an old backup of a device that goes on beside it for
  // long; a server that is set back to before a batch was sent; days of visits that come and go.
  case parametersChanged, movedUnderWay, backupBeside, restoredWithBatch, windowMoved
  // Clients that do not keep to the rules.
  case nonsenseSent

  /// Whether a run can do without it: the others are work and what comes of other faults.
  package var isOptional: Bool {
    switch self {
    case .channelBeside, .serverStalled, .transaction, .group, .refusedInGroup,
      .answeredTogether, .loadTorn, .loadTruncated, .contentWritten, .contentSent, .contentAsked,
      .contentDownloaded:
      false
    default: true
    }
  }
}

/// Something that an app does to an object of which a change is in some state.
package struct StatedAct: Sendable, Hashable, CustomStringConvertible {
  /// In the life of a change: waiting; waiting and to be sent when something else is answered; to be
  /// sent; sent at least once; refused; of unknown outcome; cancelled after it was submitted.
  package enum State: String, Sendable, CaseIterable {
    case waiting, wanted, submitted, sent, replayFailed, unknown, withdrawn
  }

  /// What the app does.
  package enum Act: String, Sendable, CaseIterable { case edit, delete, cancel }

  /// Of a change of the object before.
  package let state: State
  /// What was done.
  package let act: Act

  /// `submitted cancel`.
  package var description: String { "\(state) \(act)" }

  /// All that can be.
  package static let all: [StatedAct] = State.allCases.flatMap { state in
    Act.allCases.map { StatedAct(state: state, act: $0) }
  }
}

/// What happened in a run, counted.
package struct SimulationCounts: Sendable, Equatable {
  package var steps = 0
  /// Time that passed step by step; whole days that were skipped are not in it.
  package var simulatedMilliseconds = 0
  package var commits = 0
  package var imports = 0
  package var accepted = 0
  package var refused = 0
  /// Operations whose outcome the device was told is unknown.
  package var unknown = 0
  package var cancelled = 0
  /// Sessions of replication-based devices that ended, and those that their apps cancelled.
  package var sessions = 0
  package var sessionsCancelled = 0
  /// Processes and machines that died, at any write or sync.
  package var crashes = 0
  /// Starts after the first one.
  package var restarts = 0
  /// Partitions that the server made a device download afresh.
  package var resets = 0
  package var faults: [SimulatedFault: Int] = [:]
  /// How often apps did something to an object of which a change was in some state.
  package var acts: [StatedAct: Int] = [:]
  /// How often which deed met which state of the changes of an object.
  package var reach: [ReachedPair: Int] = [:]
  var devices = 0
  var references = 0
  var skippedMilliseconds = 0

  mutating func add(_ fault: SimulatedFault) { faults[fault, default: 0] += 1 }
}
