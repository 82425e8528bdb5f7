import FerryConnector
import FerryModel
import FerryWire

/// Operations of which nobody knows whether they were performed: a person decides.
extension Operations {
  /// All that has no outcome is answered as unknown.
  func giveUp(_ id: Int64, _ reason: String) throws(ServerError) -> ReplayStep {
    guard let replay = replays[id] else { return .done }
    let machine = replay.machine
    tellUnknown(replay, reason)
    try write { transaction, _ throws(StoreError) in
      let maker = AnswerMaker(version: transaction.version, now: world.clock.now)
      let answers = zip(machine.operations, machine.outcomes).map { operation, outcome in
        outcome.map { maker.answer(operation, $0) } ?? maker.unknown(operation, reason: reason)
      }
      try store.answer(answers, transaction)
      return ((), answered(replay))
    }
    for operation in machine.operations {
      guard let key = operation.key else { continue }
      intake.readLater(
        ObjectName(entity: operation.entity.name, key: key), metAt: core.marks.moment)
    }
    queue.remove(replay.name)
    awaiting.remove(replay.name)
    count(replay)
    dropImages(replay)
    finish(replay)
    return .done
  }

  /// Members whose outcome nobody knows: their rows are read, for they may be otherwise by now.
  func tellUnknown(_ replay: ActiveReplay) {
    var reason: String?
    for (operation, outcome) in zip(replay.machine.operations, replay.machine.outcomes) {
      guard case .unknown(let text)? = outcome else { continue }
      reason = reason ?? text
      guard let key = operation.key else { continue }
      intake.readLater(
        ObjectName(entity: operation.entity.name, key: key), metAt: core.marks.moment)
    }
    if let reason { tellUnknown(replay, reason) }
  }

  /// For the operator, who decides: which operations, and the keys of the rows that may be their
  /// effect. Values of rows stay out of the log.
  func tellUnknown(_ replay: ActiveReplay, _ reason: String) {
    let (fields, outcomes) = replay.unknown(reason)
    world.log.write(.error, "the outcome of a replay is not known", fields)
    do throws(ServerError) {
      try guarded { () throws(StoreError) in try store.note(outcomes) }
    } catch {
      world.log.warn(
        "what is known of an unknown outcome cannot be kept", ("reason", error.description))
    }
  }
}

extension ActiveReplay {
  /// What the log says of members that have no outcome, and what the operator sees of them.
  fileprivate func unknown(
    _ reason: String
  ) -> (fields: [(String, String)], outcomes: [UnknownOutcome]) {
    let places = machine.operations.indices.filter { place in
      switch machine.outcomes[place] {
      case nil, .unknown?: true
      default: false
      }
    }
    let rows = places.flatMap { machine.candidates[$0] ?? [] }.map { "\($0.entity) \($0.key.text)" }
    var fields = [("reason", reason)]
    if !rows.isEmpty {
      fields += [
        ("operations", places.map { machine.operations[$0].id.text }.joined(separator: " ")),
        ("candidates", rows.joined(separator: ", ")),
      ]
    }
    let outcomes = places.map { place in
      UnknownOutcome(machine.operations[place].id, reason, machine.candidates[place] ?? [])
    }
    return (fields, outcomes)
  }
}
