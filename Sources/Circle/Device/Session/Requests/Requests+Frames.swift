import FerrySQLite
import FerryWire

/// What the server says, message by message.
extension Requests {
  func take(
    _ frame: Frame, _ reception: inout Reception, _ lane: SessionMachine.Lane
  )
    throws(FerryError) -> Message
  {
    let message: Message
    do { message = try Message(frame) } catch {
      throw FerryError(
        .protocolViolation, error.message, hint: error.hint, isTransient: true, cause: error)
    }
    store.world.log.write(
      .trace, "a message came", [("kind", "\(frame.kind)"), ("lane", "\(lane)")])
    switch message {
    case .welcome(let welcome): try take(welcome, &reception, lane)
    case .rows(let page):
      core.happened(.released)
      if let progress = try inbox.keep(page, bytes: frame.encoded(), of: reception.era) {
        core.observers.tell(progress)
        if lane == .exchange {
          let group = try inbox.group(of: page.partition)
          plans.note(page, bytes: frame.travelledBytes, in: group)
        }
      }
    case .checkpoint(let checkpoint):
      core.happened(.released)
      do throws(FerryError) { try take(checkpoint, &reception, lane) } catch {
        // A channel goes on for long: there it is told at once.
        guard lane == .exchange, error.cause is UnfitPage else { throw error }
        reception.unfit = reception.unfit ?? error
      }
    case .stored(let stored):
      try store.withTransaction { transaction throws(FerryError) in
        try OperationQueue(transaction).acknowledge(stored.ids)
        try ReportQueue(transaction).forget(stored.ids)
      }
      try AnswerTaker.take(refused: stored.refused, in: store)
      try core.observers.tellOwed(of: store)
      reception.stored += 1
      hold(reception, lane)
    case .stir(let stir): try take(stir, lane)
    case .beat: break
    case .failure(let failure) where failure.code == .replaced && lane == .channel:
      store.world.log.info("the server ended the channel", ("reason", failure.message))
      core.happened(.channelRefused)
    case .failure(let failure):
      // A message that could not be read may have been torn on the way.
      let isTransient = [.internal, .tooManyOperations, .badMessage].contains(failure.code)
      throw FerryError(
        failure.code == .otherServer ? .otherOwner : .server, failure.message, hint: failure.hint,
        isTransient: isTransient, cause: failure)
    case .hello, .pull, .confirm, .replay, .report:
      throw FerryError(
        .protocolViolation, "the server sent a \(frame.kind), which only devices send",
        hint: "Check that a Ferry server is at this address.", isTransient: true)
    }
    return message
  }

  /// Everything that the request carried is stored; the rest of the answer may take its time.
  private func hold(_ reception: Reception, _ lane: SessionMachine.Lane) {
    guard lane == .exchange, reception.mayHold, reception.stored >= reception.toStore else {
      return
    }
    core.happened(
      .held(
        mayCut: plans.current == nil
          || plans.current?.currentWait != nil && !core.isReplicationBased))
  }

  /// Operations have ended, or something else is new.
  private func take(_ stir: Stir, _ lane: SessionMachine.Lane) throws(FerryError) {
    if !stir.finished.isEmpty {
      try store.write { connection throws(SQLiteError) in
        try BatchTable.finish(operations: [], chains: stir.finished, connection)
      }
    }
    guard lane == .channel else { return }
    if let version = stir.settings {
      // The welcome of an exchange brings them.
      if try core.keptSettings().version != version { core.happened(.exchangeNeeded()) }
      return
    }
    if stir.hasCorrections { return core.happened(.exchangeNeeded()) }
    guard core.isReplicationBased else {
      // Without the background synchronization only the results of a batch are fetched.
      if core.machine.isBackground || !isChannelQuiet { core.happened(.exchangeNeeded()) }
      return
    }
    guard stir.finished.isEmpty || stir.groups?.isEmpty == false, core.machine.isBackground else {
      return
    }
    plans.notify(stir.groups)
  }

  private func take(
    _ welcome: Welcome, _ reception: inout Reception, _ lane: SessionMachine.Lane
  ) throws(FerryError) {
    confirms.removeFirst(min(reception.confirms, confirms.count))
    reception.confirms = 0
    guard try inbox.take(welcome, to: reception.place) else {
      store.world.log.debug("a welcome is for where the device stood", ("era", welcome.era))
      reception.era = nil
      if lane == .channel {
        core.happened(.channelOutdated)
      } else {
        core.happened(.exchangeNeeded(pulls: true))
      }
      return
    }
    reception.era = welcome.era
    try core.announcements.notedContact()
    try store.withTransaction { transaction throws(FerryError) in
      try transaction.set(.takes, welcome.takes.joined(separator: " "))
      try ParameterTable(transaction).take(welcome.keys, sent: reception.changedKeys)
      try Uploads(transaction).ask(in: welcome.era)
      try transaction.sql { connection throws(SQLiteError) in
        try BatchTable.ask(in: welcome.era, connection)
      }
      let queue = OperationQueue(transaction)
      for operation in welcome.operations {
        guard operation.state == .neverSeen else {
          try queue.acknowledge([operation.id])
          continue
        }
        try queue.neverSeen(operation.id)
        try transaction.sql { connection throws(SQLiteError) in
          try BatchTable.reopen(operation.id, connection)
        }
      }
      let answered = welcome.operations.filter { $0.state == .answered }.map(\.id)
      try transaction.sql { connection throws(SQLiteError) in
        try BatchTable.finish(operations: answered, connection)
      }
    }
    if let settings = welcome.settings { try core.take(settings) }
    try take(welcome.corrections, sent: reception.receipts)
    if lane == .exchange { plans.note(expectedRows: Int(welcome.expectedRows)) }
    hold(reception, lane)
    let isAccepted = try store.withTransaction { transaction throws(FerryError) in
      try SubscriptionSettings(transaction).end()
    }
    core.connected()
    if isAccepted {
      core.observers.tell(.subscribed, .lasting)
    }
  }

  /// What operators want done with refused changes; the server hears in the next exchange what became
  /// of it.
  private func take(_ corrections: [Correction], sent: [OperationID]) throws(FerryError) {
    guard !corrections.isEmpty || !sent.isEmpty else { return }
    let isToBeSent = try store.withTransaction { transaction throws(FerryError) in
      try Corrections(transaction).take(corrections, sent: sent)
    }
    guard isToBeSent else { return }
    try core.observers.tellOwed(of: store)
    core.happened(.exchangeNeeded())
  }

  private func take(
    _ checkpoint: Checkpoint, _ reception: inout Reception, _ lane: SessionMachine.Lane
  ) throws(FerryError) {
    guard checkpoint.unavailable.isEmpty, let batch = try inbox.close(checkpoint) else {
      store.world.log.debug(
        "a checkpoint does not close what is here", ("version", String(checkpoint.version)),
        ("unavailable", "\(checkpoint.unavailable)"))
      if checkpoint.unavailable.isEmpty {
        if lane == .channel {
          core.happened(.channelOutdated)
        } else {
          core.happened(.exchangeNeeded())
        }
      } else if lane == .exchange {
        reception.isServerLoading = true
        reception.serverLoad = ServerLoad(checkpoint.load)
      }
      return
    }
    let group = checkpoint.group
    core.observers.tell(.importBegins(group: group))
    switch try importer.run(batch) {
    case .imported(let changes):
      if lane == .exchange { plans.note(checkpoint.currency, age: checkpoint.age, of: group) }
      core.observers.space(isLow: false)
      store.world.log.debug("imported", ("version", String(changes.version)))
      if !changes.confirmed.isEmpty {
        confirms.append(
          Confirm(group: changes.group, version: changes.version, answers: changes.confirmed))
        // The channel only brings; what the server may forget goes in an exchange of its own.
        if core.machine.isChannelOpen { core.happened(.exchangeNeeded()) }
      }
      try core.observers.tellOwed(of: store)
      try tell(checkpoint.waiting, of: group)
      if changes.isReset { core.observers.tell(.downloadedAgain(group: group)) }
    case .restarted: core.happened(.exchangeNeeded())
    }
  }
}
