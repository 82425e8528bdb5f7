import FerryModel
import FerrySQLite
import FerryWire
import FerryWorld

/// The requests under way, at most one on each lane, and what comes of them: their answers go to the
/// inbox and the import, their failures to the machine.
final class Requests {
  let core: SessionCore
  let signIn: SignIn
  let plans: PlanQueue
  let inbox: Inbox
  let importer: Import
  /// The answers, as far as they have come.
  var receptions: [SessionMachine.Lane: Reception] = [:]
  var confirms: [Confirm] = []
  /// How much of each content the server has, as it said last.
  var uploadOffsets: [BigReference: Int64] = [:]
  /// Changes that were reported to wait at the server, by group.
  var reportedWaits: [String: Set<OperationID>] = [:]
  /// The open channel asks for no rows.
  var isChannelQuiet: Bool = false
  /// A request that the driver is to end.
  private var cutLane: SessionMachine.Lane?
  /// Exchanges begun.
  var begun: Int = 0
  /// The number of the last exchange that ended well, for those who wait for one: it catches up
  /// with `begun` however many broke.
  private(set) var completed: Int = 0
  /// The data is to be destroyed; who drives the session does that.
  var wipe: WipeOrder?

  init(core: SessionCore, signIn: SignIn, plans: PlanQueue) {
    self.core = core
    self.signIn = signIn
    self.plans = plans
    inbox = Inbox(core.store)
    importer = Import(core.store)
  }

  var store: Store { core.store }

  // Requests that end before their answer.

  func takeCut() -> SessionMachine.Lane? {
    defer { cutLane = nil }
    return cutLane
  }

  func drop(_ lane: SessionMachine.Lane) { receptions[lane] = nil }

  /// Ends the synchronization that is under way.
  func cancelPlan() throws(FerryError) {
    if plans.current?.isUnderWay == true { drop(.exchange) }
    try plans.cancel()
  }

  /// The app cancels a synchronization by its number, wherever that is.
  func cancelPlan(_ number: Int) throws(FerryError) {
    if plans.cancelWaiting(number) { return }
    // While the app is asked, its answer ends it.
    guard plans.current?.number == number, plans.questions.isEmpty else { return }
    let isUnderWay = plans.current?.isUnderWay == true
    try cancelPlan()
    if isUnderWay { cutLane = .exchange }
  }

  /// The app's answer to the first question. False if the synchronization ends with it.
  func answer(_ action: SynchronizationAction) throws(FerryError) -> Bool {
    guard !plans.questions.isEmpty else { return plans.current != nil }
    if plans.answer(action) { return true }
    try cancelPlan()
    return false
  }

  /// The server did not answer in time.
  func silent(_ lane: SessionMachine.Lane) {
    drop(lane)
    guard lane == .exchange else { return }
    fail(
      lane,
      FerryError(
        .offline, "the server stopped answering", hint: "It is tried again.", isTransient: true))
    signIn.announceDelay()
  }

  /// The user has left.
  func reset() {
    (receptions, confirms, uploadOffsets) = ([:], [], [:])
    (cutLane, isChannelQuiet) = (nil, false)
  }

  // What came.

  /// The head of the answer.
  func received(status: Int, on lane: SessionMachine.Lane) {
    receptions[lane]?.status = status
  }

  /// Bytes of the answer, cut anywhere.
  func received(_ bytes: [UInt8], on lane: SessionMachine.Lane) throws(FerryError) {
    guard var reception = receptions[lane] else { return }
    guard reception.status == 200, reception.kind == .exchange || reception.kind == .channel else {
      core.happened(.heard(lane))
      reception.text.append(contentsOf: bytes.prefix(max(0, 65_536 - reception.text.count)))
      receptions[lane] = reception
      return
    }
    reception.reader.append(bytes)
    reception.restBytes += bytes.count
    if reception.restBytes >= Reception.signOfLifeBytes { hear(&reception, lane) }
    try work(&reception, lane)
  }

  /// Goes on with what came, after the app has answered what it was asked.
  func goOn(_ lane: SessionMachine.Lane) throws(FerryError) {
    guard var reception = receptions[lane] else { return }
    try work(&reception, lane)
  }

  /// Takes what has come whole, up to where the app is asked whether its synchronization goes on.
  private func work(
    _ reception: inout Reception, _ lane: SessionMachine.Lane
  ) throws(FerryError) {
    do {
      while plans.questions.isEmpty || lane == .channel, let frame = try nextFrame(&reception) {
        hear(&reception, lane)
        if lane == .exchange, let status = plans.status(before: frame.kind) {
          reception.asked = frame
          plans.ask(status)
          break
        }
        let sizeBytes = frame.travelledBytes
        core.observers.tell(.messageBegan(sizeBytes: sizeBytes), .passing)
        let message = try take(frame, &reception, lane)
        // An import may take long; what the line brought meanwhile waits, and it was not silent.
        hear(&reception, lane)
        if lane == .exchange, let status = plans.status(after: message) { plans.ask(status) }
      }
    } catch {
      receptions[lane] = nil
      try cannotTake(error, on: lane)
    }
    if receptions[lane] != nil { receptions[lane] = reception }
  }

  private func cannotTake(
    _ error: FerryError, on lane: SessionMachine.Lane
  ) throws(FerryError) -> Never {
    fail(lane, error)
    if let failure = error.cause as? WireFailure, !error.isTransient {
      store.world.log.warn(
        "the server refuses this device", ("code", failure.code.rawValue),
        ("reason", error.description))
      try core.announcements.subscribeFailed(core.lastFailure)
    }
    core.observers.tell(.messageFailed(error))
    if (error.cause as? SQLiteError)?.isFull == true { core.observers.space(isLow: true) }
    throw error
  }

  private func hear(_ reception: inout Reception, _ lane: SessionMachine.Lane) {
    reception.restBytes = 0
    core.happened(.heard(lane))
  }

  private func nextFrame(_ reception: inout Reception) throws(FerryError) -> Frame? {
    if let asked = reception.asked {
      reception.asked = nil
      return asked
    }
    do { return try reception.reader.next() } catch {
      throw FerryError(
        .protocolViolation, error.message, hint: error.hint, isTransient: true, cause: error)
    }
  }

  /// The answer is whole, or the line broke.
  func ended(_ lane: SessionMachine.Lane, _ failure: FerryError?) throws(FerryError) {
    guard let reception = receptions.removeValue(forKey: lane) else { return }
    if let failure {
      fail(lane, failure)
      if reception.kind == .login { signIn.announceDelay() }
      return
    }
    guard reception.status == 200 || reception.kind == .upload else {
      try refused(lane, reception)
      return
    }
    switch reception.kind {
    case .upload: try uploaded(reception)
    case .login, .token: try loggedIn(reception)
    case .exchange, .channel:
      do { try reception.reader.finish() } catch {
        fail(
          lane,
          FerryError(.offline, error.message, hint: error.hint, isTransient: true, cause: error))
        return
      }
      if let unfit = reception.unfit { try cannotTake(unfit, on: lane) }
      if reception.isServerLoading {
        waitForLoading(reception.serverLoad)
        return
      }
      succeed(lane)
      if lane == .exchange {
        try plans.advance()
        try announceRecovery()
      }
    }
  }

  private func succeed(_ lane: SessionMachine.Lane) {
    let facts = (try? core.facts()) ?? SessionMachine.Facts()
    core.happened(.succeeded(lane, facts))
    guard lane == .exchange else { return }
    // There is one at a time, so the last one begun is the one that ended.
    completed = begun
    core.lastFailure = nil
    core.serverLoaded()
    core.announcements.recovered()
  }

  /// Whoever waits for this exchange must not believe that all is visible: it is asked again.
  private func waitForLoading(_ load: ServerLoad?) {
    core.serverLoads(load)
    core.happened(
      .failed(.exchange, chance: store.world.chance.next(), longest: Requests.loadingRetry))
    core.happened(.exchangeNeeded(pulls: true))
    core.lastFailure = FerryError(
      .server, "The server has not loaded all of this user's data yet",
      hint: "The session asks again by itself.", isTransient: true)
  }

  /// The longest time between two questions whether the server has loaded.
  private static let loadingRetry: Duration = .seconds(5)

  /// An exchange has ended well: perhaps it brought the last of what was asked for afresh.
  private func announceRecovery() throws(FerryError) {
    guard try store.setting(.recovering) != nil, try inbox.isComplete() else { return }
    // Told first: after a crash in between it is told again, unless it waits for an actor by then.
    core.observers.tell(.recovered, .lasting)
    try store.remove([.recovering])
  }
}
