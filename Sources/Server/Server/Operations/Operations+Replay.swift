import FerryConnector
import FerryModel
import FerryWire
import FerryWorld

/// A chain of operations that the driver brings to its end: it does what `step` says, reports, and
/// does what `Service.report` says next, until that is `.done` or `.retry`.
package struct ReplayTask: Sendable {
  package let id: Int64
  package let operations: [ConnectorOperation]
  package let step: ReplayStep
}

struct ActiveReplay {
  let id: Int64
  let name: ReplayQueue.Name
  /// Those of each operation.
  let rights: [JudgedRights]
  var machine: ReplayMachine
  var step: ReplayStep
  /// Noted before the business system was asked for the step.
  var mark: Mark
  /// Noted before it was first asked; ended with the task.
  var marks: [Mark]
  var notBefore: Timestamp?
  var attempts: Int = 0
  /// What could not be written when it was decided.
  var owed: ReplayMachine.Action?
  var areRightsJudged: Bool = true
  /// The group did not come whole in time.
  var isOver: Bool = false
}

/// Replay: operations against the business system, in order, once.
extension Operations {
  func enqueue(_ received: ReceivedOperation, missing: Set<BigReference> = []) {
    queue.add(
      received, now: world.clock.moment,
      connection: connections.position(of: received.operation.entity),
      contents: references(of: received.operation),
      missing: missing)
    core.arrivedOperations += 1
  }

  /// The next chain to perform, claimed; nil when none is ready. What a crash left comes first,
  /// with a step that asks whether it was performed.
  func nextReplay() throws(ServerError) -> ReplayTask? {
    try nextReplays(limit: 1).first
  }

  /// The next chains, claimed in one transaction. No two are about one object; they must be
  /// performed one after the other, in this order.
  func nextReplays(
    limit: Int, of connection: Int? = nil
  ) throws(ServerError) -> [ReplayTask] {
    let now = world.clock.moment
    while let parked = replays.values.filter({ replay in
      replay.notBefore.map { $0 <= now } ?? false && isReplayed(replay, over: connection)
    })
    .min(by: { $0.id < $1.id }) {
      guard mayGoOn(parked) else {
        replays[parked.id]?.notBefore = now.advanced(by: Operations.lookAtRights)
        continue
      }
      if let task = try resume(parked) { return [task] }
    }
    let isLoaded = try isLoaded()
    endIncompleteGroups(now)
    while true {
      let chains = queue.next(
        limit: limit, now: now, isLoaded: isLoaded, connection: connection,
        areRightsKnown: accounts.areRightsKnown)
      guard !chains.isEmpty else { return [] }
      do throws(ServerError) {
        let ids = chains.flatMap { $0.operations.map(\.id) }
        var received = try reading { () throws(StoreError) in try store.operations(ids)[...] }
        var begun: [ActiveReplay] = []
        for chain in chains {
          let own = Array(received.prefix(chain.operations.count))
          received = received.dropFirst(own.count)
          if let replay = try begin(chain, own) { begun.append(replay) }
        }
        let tasks = try claim(begun)
        // All of them may have been refused: then others have their turn.
        if !tasks.isEmpty { return tasks }
      } catch {
        for chain in chains { giveBack(chain) }
        throw error
      }
    }
  }

  private func endIncompleteGroups(_ now: Timestamp) {
    guard now >= nextLookForIncomplete else { return }
    let limit = limits.incompleteGroupSeconds
    nextLookForIncomplete = now.advanced(by: .seconds(max(1, limit / 24)))
    queue.end(incompleteSince: now.advanced(by: .seconds(-limit)))
  }

  /// Nil when it was only an answer that had to be written.
  private func resume(_ parked: ActiveReplay) throws(ServerError) -> ReplayTask? {
    var replay = parked
    replay.notBefore = nil
    let action = replay.owed ?? .ask(replay.step)
    replay.owed = nil
    replays[replay.id] = replay
    switch try carryOut(action, replay.id) {
    case .done, .retry: return nil
    case let step:
      return ReplayTask(id: replay.id, operations: replay.machine.operations, step: step)
    }
  }

  /// Nil when the chain was answered without asking the business system.
  private func begin(
    _ chain: ReplayQueue.Chain, _ received: [ReceivedOperation]
  ) throws(ServerError) -> ActiveReplay? {
    var operations: [ConnectorOperation] = []
    var rights: [JudgedRights] = []
    for received in received {
      let judged = judgedRights(received)
      rights.append(judged)
      operations.append(try connectorOperation(received, judged))
    }
    core.lastTask += 1
    let mark = core.marks.begin(
      clock: try reading { () throws(StoreError) in try store.clock() })
    var machine = ReplayMachine(
      operations, mayHaveRun: chain.mayHaveRun, readBackKeys: limits.readBackKeys)
    for entity in package.entities { machine.entities[entity.name] = entity }
    machine.rest = chain.rest
    var replay = ActiveReplay(
      id: core.lastTask, name: chain.name, rights: rights, machine: machine, step: .done,
      mark: mark,
      marks: [mark], attempts: chain.attempts)
    replay.isOver = chain.isOver
    replays[replay.id] = replay
    if !chain.mayHaveRun, try refuse(&replay) != nil {
      _ = try carryOut(.settle, replay.id)
      return nil
    }
    replay.areRightsJudged = !chain.mayHaveRun || chain.wasJudged
    // Known before it is claimed, so that a claim which fails is given back with all that it holds.
    replays[replay.id] = replay
    return replay
  }

  private func claim(_ begun: [ActiveReplay]) throws(ServerError) -> [ReplayTask] {
    guard !begun.isEmpty else { return [] }
    try guarded { () throws(StoreError) in
      try store.claim(begun.map { ($0.machine.operations.map(\.id), $0.mark) })
    }
    for replay in begun {
      if let task = held.removeValue(forKey: replay.name) {
        core.claims.pass(from: task, to: replay.id)
      } else {
        claim(
          replay.machine.operations.map { ($0.entity.name, $0.kind, $0.key) }, task: replay.id,
          mayHaveRun: replay.machine.mayHaveRun)
      }
    }
    var tasks: [ReplayTask] = []
    for begun in begun {
      var replay = begun
      let action = replay.machine.start()
      replays[replay.id] = replay
      let step = try carryOut(action, replay.id)
      guard step != .done else { continue }
      tasks.append(ReplayTask(id: replay.id, operations: replay.machine.operations, step: step))
    }
    return tasks
  }

  /// Takes what the business system said to the task's last step, and says what to do next.
  func report(_ task: ReplayTask, _ report: ReplayReport) throws(ServerError) -> ReplayStep {
    try self.report([(task, report)])[0]
  }

  /// The same for several, in the order in which they were performed; those that come to their
  /// answers are answered in one numbered transaction.
  func report(
    _ reports: [(task: ReplayTask, report: ReplayReport)]
  ) throws(ServerError) -> [ReplayStep] {
    var steps = [ReplayStep](repeating: .done, count: reports.count)
    var ready: [(place: Int, id: Int64)] = []
    var failure: ServerError?
    for (place, (task, report)) in reports.enumerated() {
      guard var replay = replays[task.id] else { continue }
      let action = replay.machine.take(report, during: replay.step, mark: replay.mark)
      replays[replay.id] = replay
      intake.noteReported(replay.id, unwritten: replay.machine.unwritten)
      if action == .settle {
        ready.append((place, replay.id))
        continue
      }
      do throws(ServerError) { steps[place] = try carryOut(action, replay.id) } catch {
        failure = error
      }
    }
    do throws(ServerError) {
      for (entry, step) in zip(ready, try settle(ready.map(\.id))) { steps[entry.place] = step }
    } catch {
      failure = error
    }
    guard let failure else { return steps }
    // The caller hears of the failure only: what the others are to do next is asked for again.
    for (entry, step) in zip(reports, steps) where step != .done {
      if replays[entry.task.id]?.notBefore == nil {
        replays[entry.task.id]?.notBefore = world.clock.moment
      }
    }
    throw failure
  }

  /// Does what was decided; where the store cannot take it, it is owed, and done when it can.
  func carryOut(
    _ action: ReplayMachine.Action, _ id: Int64
  ) throws(ServerError) -> ReplayStep {
    do throws(ServerError) { return try act(action, id) } catch {
      // It may have come further than to what it began with: then that is owed.
      if replays[id]?.owed == nil { replays[id]?.owed = action }
      replays[id]?.notBefore = world.clock.moment.advanced(by: Operations.storeRetry)
      throw error
    }
  }

  /// How long a store that failed is left alone.
  static let storeRetry: Duration = .seconds(1)

  /// The store could not take the claim: nothing was performed, and it is as if it had not begun.
  private func giveBack(_ chain: ReplayQueue.Chain) {
    // What has begun keeps its place, with what it owes.
    guard !replays.values.contains(where: { $0.name == chain.name && $0.owed != nil }) else {
      return
    }
    for replay in replays.values where replay.name == chain.name { finish(replay) }
    queue.release(
      chain.name, notBefore: world.clock.moment.advanced(by: Operations.storeRetry),
      mayHaveRun: chain.mayHaveRun, wasAskedFor: false)
  }

  func act(_ action: ReplayMachine.Action, _ id: Int64) throws(ServerError) -> ReplayStep {
    guard var replay = replays[id] else { return .done }
    switch action {
    case .ask(let step):
      if case .perform = step, !replay.areRightsJudged {
        replay.areRightsJudged = true
        if let next = try refuse(&replay) { return try carryOut(next, id) }
      }
      if case .perform = step, let next = replay.refusedNow() {
        replays[id] = replay
        return try carryOut(next, id)
      }
      replay.step = step
      try note(&replay)
      replays[id] = replay
      return step
    case .settle: return try settle([id])[0]
    case .giveUp(let reason): return try giveUp(id, reason)
    case .release(let reason, _) where !queue.holds(replay.name):
      // An operator asked for it: there is no chain to give back.
      return try act(.park(.perform(replay.machine.operations), reason: reason), id)
    case .release(let reason, let mayHaveRun):
      let wait: Duration =
        replay.machine.rest == .kept
        ? .zero : retry(replay.attempts, reason, isAway: replay.machine.awaited == nil)
      try guarded { () throws(StoreError) in
        try store.release(replay.machine.operations.map(\.id), mayHaveRun: mayHaveRun)
      }
      queue.release(
        replay.name, notBefore: world.clock.moment.advanced(by: wait), mayHaveRun: mayHaveRun)
      dropImages(replay)
      // What waits for its device holds nothing up meanwhile, for however long that is away.
      finish(replay, mayHaveRun: mayHaveRun && replay.machine.rest != .kept)
      note(replay.machine.awaited, of: replay)
      return .retry(after: wait)
    case .park(let step, let reason, let until):
      let wait: Duration
      if let until {
        wait = .milliseconds(max(0, until.milliseconds - world.clock.moment.milliseconds))
        world.log.info(
          "an operation may still arrive at the business system; asked again later",
          ("seconds", String(wait.components.seconds)))
      } else {
        wait = retry(replay.attempts, reason, isAway: replay.machine.awaited == nil)
      }
      replay.step = step
      replay.attempts += 1
      replay.notBefore = world.clock.moment.advanced(by: wait)
      replays[id] = replay
      note(replay.machine.awaited, of: replay)
      return .retry(after: wait)
    }
  }

  /// `mayHaveRun`: a part of it was performed, and it will be given out again.
  func finish(_ replay: ActiveReplay, mayHaveRun: Bool = false) {
    for mark in replay.marks { core.marks.end(mark) }
    if mayHaveRun { held[replay.name] = replay.id } else { core.claims.release(task: replay.id) }
    replays[replay.id] = nil
    intake.noteReported(replay.id, unwritten: replay.machine.unwritten)
  }

  /// A new mark, before the business system is asked again. The first one stays active: images
  /// of the perform may still be waiting.
  private func note(_ replay: inout ActiveReplay) throws(ServerError) {
    let mark = core.marks.begin(clock: try clock())
    replay.mark = mark
    replay.marks.append(mark)
  }

  private func retry(_ attempts: Int, _ reason: String, isAway: Bool) -> Duration {
    let seconds = min(
      limits.firstRetrySeconds << Int64(min(attempts, 16)), limits.longestRetrySeconds)
    if isAway {
      world.log.warn(
        "the business system is unavailable; tried again later", ("reason", reason),
        ("seconds", String(seconds)))
    }
    return .seconds(seconds)
  }

  /// What is left to do where the model or the user's rights forbid what is to be performed of the
  /// chain; the task holds the refusal then. Nil where nothing forbids it.
  private func refuse(
    _ replay: inout ActiveReplay
  ) throws(ServerError) -> ReplayMachine.Action? {
    let operations = replay.machine.operations
    let open = Set(replay.machine.open)
    var rights = ReplayRights(
      cache: cache, rights: replay.rights)
    let found = try reading { () throws(StoreError) -> (Int, Refusal)? in
      if let refusal = connections.refusal(of: operations) { return refusal }
      if !world.has(.rightsIgnored), let refusal = try rights.refusal(operations, open: open) {
        return refusal
      }
      return try wrongContent(operations, open: open, user: replay.name.owner.user.text)
    }
    guard let (index, refusal) = found else { return nil }
    let next = replay.machine.refuse(index, refusal)
    replays[replay.id] = replay
    return next
  }

  /// What it may be judged by: the claims with which it arrived, and its user's record at the time.
  func judgedRights(_ received: ReceivedOperation) -> JudgedRights {
    let (rules, user, provider) = (rules, received.user, accounts.provider)
    let arrival = Rights(
      rules: rules, user: user, roles: received.roles, claims: received.claims)
    guard let provider, !world.has(.rightsOfThen) else {
      return JudgedRights(rules: rules, arrival: arrival, now: { arrival })
    }
    return JudgedRights(rules: rules, arrival: arrival) {
      guard let record = provider.record(of: user), record.packages.include(rules.package.name)
      else { return nil }
      return Rights(rules: rules, user: user, roles: record.roles, claims: record.claims)
    }
  }

  private func judge(
    of entity: Entity, for kind: OperationKind, _ rights: JudgedRights
  ) -> RowJudge? {
    world.has(.rightsIgnored) ? nil : rights.judge(of: entity, for: kind)
  }

  func connectorOperation(
    _ received: ReceivedOperation, _ rights: JudgedRights
  ) throws(ServerError) -> ConnectorOperation {
    let operation = received.operation
    guard let entity = package.entity(named: operation.entity) else {
      throw ServerError(
        .damagedStore,
        "an operation names the entity \(operation.entity), which the model does not have",
        hint: "Restore the store from a backup.")
    }
    // Where the business system makes the key, the app's own values for it are a stand-in by which
    // later operations of the group know the object.
    let isStandIn = operation.kind == .create && operation.key == nil
    let values = isStandIn ? entity.key.compactMap { operation.changed[$0] } : []
    let isWhole = values.count == entity.key.count && !values.contains(.null)
    let temporaryKey = isWhole ? ObjectKey(values) : nil
    return notes.attached(
      to: ConnectorOperation(
        id: operation.id, entity: entity, kind: operation.kind, key: operation.key,
        changed: operation.changed, base: operation.base, temporaryKey: temporaryKey,
        contents: try contents(of: operation, user: received.user),
        judge: judge(of: entity, for: operation.kind, rights), user: received.user,
        sentAt: received.sentAt), policy: core.cacheGroups.policy(of: entity, operation.kind),
      rules: core.cacheGroups.conflictRules(of: entity))
  }
}
