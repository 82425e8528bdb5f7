import FerryModel
import FerrySQLite
import FerryWire
import FerryWorld

/// Synchronizations that the app asked for, one after the other, and those that fetch the results of
/// operations that the server has replayed meanwhile.
final class PlanQueue {
  private let core: SessionCore
  /// The synchronization that is under way or next.
  private(set) var current: SynchronizationPlan?
  private var waiting: [SynchronizationPlan] = []
  private var ended: [EndedPlan] = []
  private var lastNumber: Int = 0
  /// The questions that the app answers before anything else happens.
  private(set) var questions: [SynchronizationContext.Status] = [] {
    didSet { core.happened(.questionsChanged(areOpen: !questions.isEmpty)) }
  }
  /// Who began the synchronization whose operations a batch has, while this process runs.
  private var batchSessions: [Int64: SynchronizationSession] = [:]
  /// Batches whose results are here. They stay noted until the app has heard of it: a process that
  /// ends before fetches them once more, and says so.
  private var fetched: [Int64] = []
  /// Groups with something new on the server; the app decides whether to fetch them.
  private var notified: Set<String> = []

  init(core: SessionCore) { self.core = core }

  private var store: Store { core.store }

  /// Queues a synchronization behind those that were asked for before.
  func begin(_ plan: SynchronizationPlan) {
    waiting.append(plan)
    core.happened(.planRequested)
  }

  /// A number for a plan, unique in this process.
  func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  /// Takes up the next plan when the one before has ended and the app knows that.
  func takeUp(_ facts: SessionMachine.Facts) throws(FerryError) {
    try choose(facts)
    core.happened(
      .planChanged(
        at: current.map { $0.notBefore ?? Timestamp(milliseconds: 0) },
        isBehind: current?.isUnderWay == false))
  }

  private func choose(_ facts: SessionMachine.Facts) throws(FerryError) {
    guard current == nil, ended.isEmpty else { return }
    for batch in fetched { remove(batch) }
    fetched = []
    if !waiting.isEmpty {
      current = waiting.removeFirst()
    } else if facts.hasBatches, !core.machine.isResting, let batch = try finishedBatch() {
      current = SynchronizationPlan(
        number: nextNumber(), groups: batch.groups, origin: .completion(batch: batch.number),
        session: batchSessions[batch.number])
    } else if !notified.isEmpty, !core.machine.isResting, facts.isSubscribed {
      let groups = store.model.groups.map(\.name).filter(notified.contains)
      notified = []
      current = SynchronizationPlan(number: nextNumber(), groups: groups, origin: .notification)
    }
    if let current, current.session?.isCancelled == true, current.origin == .app {
      end(PlanQueue.cancelled)
      return
    }
    guard let current, !current.isUploadOnly, !facts.isSubscribed, !facts.isSubscribing else {
      return
    }
    guard case .app = current.origin else {
      // The app did not ask for it, and hears nothing of it.
      end(PlanQueue.cancelled)
      _ = ended.popLast()
      return
    }
    end(PlanQueue.notSubscribed(isSuspended: facts.isSuspended))
  }

  private func finishedBatch() throws(FerryError) -> (number: Int64, groups: [String])? {
    try store.read { connection throws(SQLiteError) in
      try BatchTable.finished(but: self.current?.batch, connection)
    }
  }

  /// What a plan's request sends and asks for. In the transaction that makes the request.
  func messages(
    of plan: inout SynchronizationPlan, _ position: DevicePosition, _ transaction: Transaction
  ) throws(FerryError) -> [Message] {
    var messages: [Message] = []
    (plan.uploads, plan.isUploadReported, plan.isDownloading) = (0, false, false)
    var isLast = true
    let sends = plan.currentWait == nil || !core.isReplicationBased
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

  /// A plan's request is ready, with so many bytes: what the app hears before it leaves.
  func ask(_ plan: SynchronizationPlan, sentBytes: Int) {
    var plan = plan
    plan.progress.sentBytes += sentBytes
    var asked = plan.isBegun ? [] : plan.opening
    if plan.uploads > 0 { asked.append(.uploading) }
    questions = plan.currentWait == nil ? asked : []
    plan.isBegun = true
    plan.isUnderWay = true
    plan.isUnsent = true
    current = plan
  }

  func ask(_ status: SynchronizationContext.Status) { questions.append(status) }

  /// What a handler hears of the current status.
  func context(_ status: SynchronizationContext.Status) -> SynchronizationContext {
    current?.context(status) ?? SynchronizationContext(status: status)
  }

  /// The app's answer to the first of `questions`. False if the synchronization is to end with it.
  func answer(_ action: SynchronizationAction) -> Bool {
    questions.removeFirst()
    core.happened(.heard(.exchange))
    return action != .cancel && current?.session?.isCancelled != true
  }

  /// Everything was asked; the request leaves.
  func leave() {
    current?.isUnsent = false
    current?.hasSent = true
  }

  /// Ends the plan that is under way: what was sent stays sent, pages stay for the next one, and
  /// nothing that did not come whole is shown.
  func cancel() throws(FerryError) {
    guard let current else { return }
    if current.isUnderWay { core.happened(.cancelled(.exchange)) }
    if current.isUnsent { try takeBack(current) }
    end(PlanQueue.cancelled)
  }

  /// Cancels a plan that has not begun. False if there is none with this number.
  func cancelWaiting(_ number: Int) -> Bool {
    guard let index = waiting.firstIndex(where: { $0.number == number }) else { return false }
    ended.append(EndedPlan(plan: waiting.remove(at: index), error: PlanQueue.cancelled))
    return true
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
    guard let current, current.isUnderWay, current.currentWait == nil, current.pulls,
      !current.isDownloading, kind == .rows || kind == .checkpoint
    else { return nil }
    self.current?.isDownloading = true
    return .downloading
  }

  /// What the app hears after a message of the server was taken.
  func status(after message: Message) -> SynchronizationContext.Status? {
    guard let current, current.isUnderWay, current.currentWait == nil else { return nil }
    switch message {
    case .stored where current.uploads > 0 && !current.isUploadReported:
      self.current?.isUploadReported = true
      return current.awaitsAnswers ? nil : .asyncReplayUploaded
    case .rows where current.pulls: return .downloading
    default: return nil
    }
  }

  func note(_ page: RowsPage, bytes: Int, in group: String?) {
    current?.progress.receivedRows += page.rowCount
    current?.progress.receivedBytes += bytes
    current?.progress.group = group
    current?.progress.entity = page.firstEntity
  }

  /// The server will send so many rows.
  func note(expectedRows: Int) { current?.progress.expectedRows = expectedRows }

  /// `age`: of rows that are not current, in milliseconds.
  func note(_ currency: FerryWire.Currency?, age: Int64?, of group: String) {
    current?.currencies[group] = currency.map { GroupCurrency(word: $0, age: age) }
  }

  /// The server has something new, and the app decides whether to fetch it. Nil: in any group.
  func notify(_ groups: [String]?) {
    let known = store.model.groups.map(\.name)
    notified.formUnion(groups.map { Set($0).intersection(known) } ?? Set(known))
  }

  /// The request under way is given up: the plan goes on with the next one.
  func giveUp() { current?.isUnderWay = false }

  /// A request of the plan has ended well: goes on with it, or ends it.
  func advance() throws(FerryError) {
    guard var plan = current, plan.isUnderWay else { return }
    plan.isUnderWay = false
    let (hasMore, isOpen) = try store.withSnapshot { transaction throws(FerryError) in
      try self.rest(of: plan, transaction)
    }
    guard hasMore || isOpen else {
      current = plan
      end(nil)
      return
    }
    // A server that holds its answer has waited already; one that does not is asked less and less.
    plan.waits += 1
    if isOpen {
      let pause = core.machine.answerPause(plan.waits)
      plan.notBefore = store.world.clock.moment.advanced(by: pause)
    }
    current = plan
  }

  /// Whether the plan has more to send, and whether it waits for answers.
  private func rest(
    of plan: SynchronizationPlan, _ transaction: Transaction
  ) throws(FerryError) -> (hasMore: Bool, isOpen: Bool) {
    let queue = OperationQueue(transaction)
    var hasMore = false
    if plan.currentWait == nil || !core.isReplicationBased {
      hasMore = try queue.hasOutgoing(of: plan.groups)
    }
    guard plan.awaitsAnswers, !hasMore else { return (hasMore, false) }
    guard plan.isUploadOnly else { return (false, try queue.hasUnanswered(of: plan.groups)) }
    guard let batch = plan.batch else { return (false, false) }
    let isFinished = try transaction.sql { connection throws(SQLiteError) in
      try BatchTable.isFinished(batch, connection)
    }
    return (false, !isFinished)
  }

  // How it ends.

  /// The plan is over; whoever drives the session reports that to the app.
  func end(_ error: FerryError?) {
    guard var plan = current else { return }
    plan.isUnderWay = false
    current = nil
    questions = []
    if let batch = plan.batch, plan.session != nil { batchSessions[batch] = plan.session }
    if case .completion(let batch) = plan.origin, error == nil || error?.code == .cancelled {
      batchSessions[batch] = nil
      fetched.append(batch)
    }
    plan.session?.note(plan.currencies)
    ended.append(EndedPlan(plan: plan, error: error))
  }

  private func remove(_ batch: Int64) {
    do throws(FerryError) {
      try store.write { connection throws(SQLiteError) in
        try BatchTable.remove(batch, connection)
      }
    } catch {
      // It is fetched once more.
      store.world.log.warn("a finished batch stays noted", ("reason", error.description))
    }
  }

  var hasEnded: Bool { !ended.isEmpty }

  /// What has ended since the last call, for the app.
  func takeEnded() -> [EndedPlan] {
    defer { ended = [] }
    return ended
  }

  /// Nobody goes on with a plan.
  func endAll(_ error: FerryError) {
    for end in ended { end.plan.session?.end(end.error) }
    for plan in [current].compactMap(\.self) + waiting { plan.session?.end(error) }
    (current, waiting, ended, questions, fetched) = (nil, [], [], [], [])
  }

  /// The user has left.
  func reset() { (batchSessions, notified) = ([:], []) }

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
