import FerryModel
import FerrySQLite
import FerryWire
import FerryWorld

/// Synchronizations that the app asked for, one after the other, and those that fetch the results of
/// operations that the server has replayed meanwhile.
extension Session {
  /// Queues a synchronization behind those that were asked for before.
  package func begin(_ plan: SynchronizationPlan) {
    plans.append(plan)
    happened(.planRequested)
  }

  /// A number for a plan, unique in this process.
  package func nextPlanNumber() -> Int {
    lastPlan += 1
    return lastPlan
  }

  /// Takes up the next plan when the one before has ended and the app knows that.
  func takeUpPlan(_ facts: SessionMachine.Facts) throws(FerryError) {
    guard plan == nil, endedPlans.isEmpty else { return }
    if !plans.isEmpty {
      plan = plans.removeFirst()
    } else if facts.hasBatches, !machine.isResting, let batch = try finishedBatch() {
      plan = SynchronizationPlan(
        number: nextPlanNumber(), groups: batch.groups, origin: .completion(batch: batch.number),
        session: batchSessions[batch.number])
    } else if !notified.isEmpty, !machine.isResting, facts.isSubscribed {
      let groups = store.model.groups.map(\.name).filter(notified.contains)
      notified = []
      plan = SynchronizationPlan(
        number: nextPlanNumber(), groups: groups, origin: .notification)
    }
    if let plan, plan.session?.isCancelled == true, plan.origin == .app {
      endPlan(Session.cancelled)
      return
    }
    guard let plan, !plan.isUploadOnly, !facts.isSubscribed, !facts.isSubscribing else { return }
    guard case .app = plan.origin else {
      try dropPlan()
      return
    }
    endPlan(Session.notSubscribed(isSuspended: facts.isSuspended))
  }

  private func finishedBatch() throws(FerryError) -> (number: Int64, groups: [String])? {
    try store.read { connection throws(SQLiteError) in
      try BatchTable.finished(but: self.plan?.batch, connection)
    }
  }

  /// What a plan's request sends and asks for. In the transaction that makes the request.
  func messages(
    of plan: inout SynchronizationPlan, _ position: DevicePosition, _ transaction: Transaction
  ) throws(FerryError) -> [Message] {
    var messages: [Message] = []
    (plan.uploads, plan.isUploadReported, plan.isDownloading) = (0, false, false)
    var isLast = true
    let sends = plan.currentWait == nil || !isReplicationBased
    if sends, let replay = try OperationQueue(transaction).outgoing(of: plan.groups) {
      messages.append(.replay(replay.message))
      plan.uploads = replay.ids.count
      plan.progress.sentOperations += replay.ids.count
      isLast = replay.isLast
      if plan.currentWait == nil, !plan.awaitsAnswers || plan.isUploadOnly {
        let batch: Int64
        if let known = plan.batch {
          batch = known
        } else {
          let (groups, notifies) = (plan.groups, !plan.awaitsAnswers)
          batch = try transaction.sql { connection throws(SQLiteError) in
            try BatchTable.begin(of: groups, notifies: notifies, connection)
          }
        }
        plan.batch = batch
        let earlier = try transaction.sql { connection throws(SQLiteError) in
          try BatchTable.add(replay.ids, to: batch, connection)
        }
        plan.earlierBatches.merge(earlier) { first, _ in first }
      }
    }
    plan.pulls = !plan.isUploadOnly && isLast
    if plan.pulls {
      let pulls = Dictionary(
        position.pulls.map { ($0.group, $0) }, uniquingKeysWith: { first, _ in first })
      messages += plan.groups.compactMap { pulls[$0] }.map(Message.pull)
    }
    return messages
  }

  // What the app is asked.

  /// A plan's request is ready: what the app hears before it leaves.
  func ask(_ plan: inout SynchronizationPlan) {
    questions = plan.isBegun ? [] : plan.opening
    if plan.uploads > 0 { questions.append(.uploading) }
    if plan.currentWait != nil { questions = [] }
    plan.isBegun = true
    plan.isUnderWay = true
    plan.isUnsent = true
    happened(.questionsChanged(areOpen: !questions.isEmpty))
  }

  /// What a handler hears of the current status.
  package func context(_ status: SynchronizationContext.Status) -> SynchronizationContext {
    plan?.context(status) ?? SynchronizationContext(status: status)
  }

  /// The app's answer to the first of `questions`. False where the synchronization ends with it.
  package func answer(_ action: SynchronizationAction) throws(FerryError) -> Bool {
    guard !questions.isEmpty else { return plan != nil }
    questions.removeFirst()
    happened(.questionsChanged(areOpen: !questions.isEmpty))
    happened(.heard(.exchange))
    guard action == .cancel || plan?.session?.isCancelled == true else { return true }
    try cancelPlan()
    return false
  }

  /// Everything was asked; the request leaves.
  package func leave() {
    plan?.isUnsent = false
    plan?.hasSent = true
  }

  /// Ends the plan that is under way: what was sent stays sent, pages stay for the next one, and
  /// nothing that did not come whole is shown.
  package func cancelPlan() throws(FerryError) {
    guard let plan else { return }
    if plan.isUnderWay {
      lanes[.exchange] = nil
      happened(.cancelled(.exchange))
    }
    if plan.isUnsent { try takeBack(plan) }
    endPlan(Session.cancelled)
  }

  /// The app cancels a plan by its number, wherever that is.
  func cancelPlan(_ number: Int) throws(FerryError) {
    if let place = plans.firstIndex(where: { $0.number == number }) {
      endedPlans.append(EndedPlan(plan: plans.remove(at: place), error: Session.cancelled))
      return
    }
    // While the app is asked, its answer ends it.
    guard plan?.number == number, questions.isEmpty else { return }
    let isUnderWay = plan?.isUnderWay == true
    try cancelPlan()
    if isUnderWay { cutLane = .exchange }
  }

  /// Nothing of the plan has left, so its operations do not belong to its batch.
  private func takeBack(_ plan: SynchronizationPlan) throws(FerryError) {
    guard let batch = plan.batch, plan.uploads > 0, !plan.hasSent else { return }
    try store.write { connection throws(SQLiteError) in
      try BatchTable.takeBack(batch, earlier: plan.earlierBatches, connection)
    }
  }

  // What comes.

  /// What the app hears before a message of the server is taken.
  func status(before kind: Frame.Kind) -> SynchronizationContext.Status? {
    guard let plan, plan.isUnderWay, plan.currentWait == nil, plan.pulls, !plan.isDownloading,
      kind == .rows || kind == .checkpoint
    else { return nil }
    self.plan?.isDownloading = true
    return .downloading
  }

  /// What the app hears after a message of the server was taken.
  func status(after message: Message) -> SynchronizationContext.Status? {
    guard let plan, plan.isUnderWay, plan.currentWait == nil else { return nil }
    switch message {
    case .stored where plan.uploads > 0 && !plan.isUploadReported:
      self.plan?.isUploadReported = true
      return plan.awaitsAnswers ? nil : .asyncReplayUploaded
    case .rows where plan.pulls: return .downloading
    default: return nil
    }
  }

  func note(_ page: RowsPage, bytes: Int, in group: String?) {
    plan?.progress.receivedRows += page.rowCount
    plan?.progress.receivedBytes += bytes
    plan?.progress.group = group
    plan?.progress.entity = page.firstEntity
  }

  /// A request of the plan has ended well: goes on with it, or ends it.
  func advancePlan() throws(FerryError) {
    guard var plan, plan.isUnderWay else { return }
    plan.isUnderWay = false
    let (groups, batch) = (plan.groups, plan.batch)
    let awaits = plan.awaitsAnswers
    let isUploadOnly = plan.isUploadOnly
    let sends = plan.currentWait == nil || !isReplicationBased
    let (hasMore, isOpen) = try store.withSnapshot { transaction throws(FerryError) in
      let queue = OperationQueue(transaction)
      var hasMore = false
      if sends { hasMore = try queue.hasOutgoing(of: groups) }
      guard awaits, !hasMore else { return (hasMore, false) }
      guard isUploadOnly else { return (false, try queue.hasUnanswered(of: groups)) }
      guard let batch else { return (false, false) }
      let isFinished = try transaction.sql { connection throws(SQLiteError) in
        try BatchTable.isFinished(batch, connection)
      }
      return (false, !isFinished)
    }
    guard hasMore || isOpen else {
      self.plan = plan
      endPlan(nil)
      return
    }
    // A server that holds its answer has waited already; one that does not is asked less and less.
    plan.waits += 1
    if isOpen {
      plan.notBefore = store.world.clock.moment.advanced(by: machine.answerPause(plan.waits))
    }
    self.plan = plan
  }

  /// The plan is over; whoever drives the session reports that to the app.
  func endPlan(_ error: FerryError?) {
    guard var plan else { return }
    plan.isUnderWay = false
    self.plan = nil
    questions = []
    happened(.questionsChanged(areOpen: false))
    if let batch = plan.batch, plan.session != nil { batchSessions[batch] = plan.session }
    if case .completion(let batch) = plan.origin, error == nil || error?.code == .cancelled {
      batchSessions[batch] = nil
      removeBatch(batch)
    }
    plan.session?.note(plan.currencies)
    endedPlans.append(EndedPlan(plan: plan, error: error))
  }

  private func removeBatch(_ batch: Int64) {
    do throws(FerryError) {
      try store.write { connection throws(SQLiteError) in
        try BatchTable.remove(batch, connection)
      }
    } catch {
      // It is fetched once more.
      store.world.log.warn("a finished batch stays noted", ("reason", error.description))
    }
  }

  private func dropPlan() throws(FerryError) {
    endPlan(Session.cancelled)
    _ = endedPlans.popLast()
  }

  /// The plan cannot go on.
  func failPlan(_ error: FerryError) {
    guard plan != nil else { return }
    endPlan(error)
  }

  var hasEndedPlans: Bool { !endedPlans.isEmpty }

  /// What has ended since the last call, for the app.
  package func takeEndedPlans() -> [EndedPlan] {
    defer { endedPlans = [] }
    return endedPlans
  }

  /// The database is closed: nobody goes on with a plan.
  func endAllPlans(_ error: FerryError) {
    for ended in endedPlans { ended.plan.session?.end(ended.error) }
    for plan in [plan].compactMap(\.self) + plans { plan.session?.end(error) }
    (plan, plans, endedPlans, questions) = (nil, [], [], [])
  }

  static let cancelled = FerryError(
    .cancelled, "the app cancelled the synchronization",
    hint: "Sent operations stay sent; synchronize again to fetch the other data.")

  static func notSubscribed(isSuspended: Bool) -> FerryError {
    FerryError(
      .notSubscribed,
      isSuspended
        ? "the subscription of this device is suspended" : "nothing is subscribed on this device",
      hint: isSuspended ? "Call resumeSubscription first." : "Call subscribe first.")
  }
}
