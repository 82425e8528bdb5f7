import FerryModel
import FerryWire

/// How replays come to their answers.
extension Operations {
  /// Rows and answers of all in one numbered transaction: accepted is never written before the
  /// cache shows it. Those whose rows were touched since go on by reading them again; the others
  /// are not kept waiting. Where the store fails, all of them are tried again later.
  func settle(_ ids: [Int64]) throws(ServerError) -> [ReplayStep] {
    let active = ids.compactMap { replays[$0] }
    guard !active.isEmpty else { return ids.map { _ in .done } }
    let touched: [Int64: [ObjectName]]
    let met: MetRows
    do throws(ServerError) { (touched, met) = try writeAnswers(active) } catch {
      // What was performed is not forgotten because the store was full or away.
      for replay in active {
        replays[replay.id]?.owed = .settle
        replays[replay.id]?.notBefore = world.clock.moment.advanced(by: Operations.storeRetry)
      }
      throw error
    }
    var steps: [Int64: ReplayStep] = [:]
    var written: Set<ObjectName> = []
    for replay in active where touched[replay.id] == nil {
      for name in replay.machine.seen.keys.sorted() { core.marks.confirm(name) }
      written.formUnion(replay.machine.seen.keys)
      queue.remove(replay.name)
      awaiting.remove(replay.name)
      finish(replay)
      count(replay)
      notes.forget(replay.machine.operations.map(\.id))
      core.performed(replay.machine.operations, replay.machine.outcomes)
      tellRefusedRights(replay)
      tellUnknown(replay)
      releaseContents(replay)
    }
    intake.settled(written, unwritten: unwritten)
    intake.tell(met)
    for (id, names) in touched.sorted(by: { $0.key < $1.key }) {
      guard var replay = replays[id] else { continue }
      let action = replay.machine.take(touched: names)
      replays[id] = replay
      steps[id] = try carryOut(action, id)
    }
    return ids.map { steps[$0] ?? .done }
  }

  /// What was seen and is not written is read again.
  func dropImages(_ replay: ActiveReplay) {
    for name in replay.machine.unwritten.sorted() {
      intake.readLater(name, metAt: core.marks.moment)
    }
  }

  /// Objects whose images of a replay are not written yet.
  var unwritten: Set<ObjectName> {
    replays.values.reduce(into: []) { $0.formUnion($1.machine.unwritten) }
  }

  /// For `/metrics`; without an outcome it is unknown.
  func count(_ replay: ActiveReplay) {
    meter.count { counts in
      for outcome in replay.machine.outcomes {
        switch outcome {
        case .accepted?: counts.accepted += 1
        case .refused(let refusal)?:
          counts.refusals[PackageMeter.reason(of: refusal.code), default: 0] += 1
        case .notTried?: break
        case .unknown?, nil: counts.unknown += 1
        }
      }
    }
  }

  private func tellRefusedRights(_ replay: ActiveReplay) {
    for (operation, outcome) in zip(replay.machine.operations, replay.machine.outcomes) {
      guard case .refused(let refusal)? = outcome, refusal.code == 403 else { continue }
      core.tell(
        .operationRefused(replay.name.owner, operation, reason: refusal.message))
    }
  }

  /// Gives what was touched by others since it was seen, by task; nothing of such a task is written.
  private func writeAnswers(
    _ active: [ActiveReplay]
  ) throws(ServerError) -> (touched: [Int64: [ObjectName]], met: MetRows) {
    try write { transaction, machine throws(StoreError) in
      var touched: [Int64: [ObjectName]] = [:]
      var met = MetRows()
      let cache = try cache.reading(
        active.flatMap { replay in
          replay.machine.seen.keys.sorted().compactMap { name in
            rules.position(of: name.entity).map { RowName($0, name.key) }
          }
        })
      // All are looked at before the first is written. They were performed one after the other, so
      // that of two images of one row the later one is the newer.
      for replay in active {
        let names = try replay.machine.outdated(
          by: core.marks, isListed: intake.isListed,
          version: { name throws(StoreError) in try cache.state(of: name).version })
        if !names.isEmpty { touched[replay.id] = names }
      }
      var answered: [AnsweredOperation] = []
      var answers: [Answer] = []
      let maker = AnswerMaker(version: transaction.version, now: world.clock.now)
      for replay in active where touched[replay.id] == nil {
        for (name, seen) in replay.machine.seen.sorted(by: { $0.key < $1.key }) {
          guard let position = rules.position(of: name.entity) else { continue }
          assert(
            intake.isListed(name) || !core.marks.isBehindLoad(name, seen.mark),
            "\(name) is written as it was before a load that has ended since")
          try met.take(seen.image, position, &machine, cache)
        }
        try met.take(merged: replay.machine.merged, &machine, cache)
        answers += maker.answers(replay.machine, notes, isOver: replay.isOver)
        answered += self.answered(replay)
      }
      try store.answer(answers, transaction)
      try intake.keep(&met)
      return ((touched, met), answered)
    }
  }

  func answered(_ replay: ActiveReplay) -> [AnsweredOperation] {
    let last = replay.machine.operations.count - 1
    return replay.machine.operations.enumerated().map { index, operation in
      AnsweredOperation(
        owner: replay.name.owner, group: operation.entity.group,
        chain: replay.name.chain, isLastOfChain: index == last)
    }
  }
}
