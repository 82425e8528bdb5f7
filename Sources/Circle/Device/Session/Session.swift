import FerryCrypto
import FerryJSON
import FerryModel
import FerrySQLite
import FerryWire
import FerryWorld

/// Knows all stages of the device and moves the data between them. It does not wait: it is asked
/// for the next step and told what came of it, so a simulation drives the very same session.
///
/// Not for two threads at one time.
package final class Session {
  package enum Step {
    case send(SessionRequest)
    case cancel(SessionMachine.Lane)
    case wait(until: Timestamp?)
  }

  let store: Store
  let inbox: Inbox
  let importer: Import
  package let observers: Observers
  package private(set) var machine: SessionMachine
  var credentials: Credentials?
  var lanes: [SessionMachine.Lane: Reception] = [:]
  /// How far the server has what is being sent, by its own word.
  var uploadOffsets: [BigReference: Int64] = [:]
  var confirms: [Confirm] = []
  var isConnected = false
  /// The first request since the last answer that did not reach the server.
  var offlineSince: Timestamp?
  /// The app registers, starts and stops its connection: it hears each status of it.
  var isApplicationUsed = false
  /// The app heard that its data closes soon, and that it is closed.
  var isLeaseTold = false
  var isLeaseEndTold = false
  /// The highest time that the database has.
  var storedHighest: Int64?
  /// The app heard that the connection begins.
  var isConnecting = false
  var isLoginTold = false
  /// The server renews the tokens that are here only after somebody has logged in.
  var isLoginDemanded = false
  /// Why the login of those who wait for one came to nothing; they get it.
  package internal(set) var loginFailure: FerryError?
  /// The app was told that the device is locked.
  var isLockTold = false
  /// The app was told that its login waits for the network.
  var isLoginDelayTold = false
  /// The server has not read all of this user's data from its business system.
  package internal(set) var isServerLoading = false {
    didSet { if !isServerLoading { serverLoad = nil } }
  }
  /// What it said of that last.
  private(set) var serverLoad: ServerLoad?
  package let states = StateBoard()
  /// The synchronization that is under way or next; see `Session+Plans`.
  package var plan: SynchronizationPlan?
  var plans: [SynchronizationPlan] = []
  var endedPlans: [EndedPlan] = []
  var lastPlan = 0
  /// What the app is to be asked before anything else happens.
  package var questions: [SynchronizationContext.Status] = []
  /// A request that is to be ended.
  var cutLane: SessionMachine.Lane?
  /// Who began the synchronization whose operations a batch has, while this process runs.
  var batchSessions: [Int64: SynchronizationSession] = [:]
  /// The server has something new, and the app decides whether to fetch it.
  var notified: Set<String> = []
  /// The open channel asks for no rows.
  var isChannelQuiet = false
  /// As `settings` say, unless the app has chosen otherwise since.
  var isReplicationBased: Bool
  private let isReplicationBasedAtFirst: Bool
  /// Counts changes of the profile and of the application settings.
  var profileVersion = 0
  /// The app was told that the server gives it nothing any more.
  var isEndTold = false
  /// The number of the last exchange that ended well, for those who wait for one: it catches up
  /// with `begunExchanges` however many broke.
  package private(set) var completedExchanges = 0
  /// The data is to be destroyed; who drives the session does that.
  package var wipe: WipeOrder?
  /// Exchanges begun.
  package private(set) var begunExchanges = 0
  /// The failure that the app heard of last, where it needs somebody.
  var toldFailure: String?
  /// The log has that nothing is subscribed.
  var isSubscriptionMissed = false
  /// Why the last exchange ended, if not well.
  package internal(set) var lastFailure: FerryError?

  /// Where the app keeps the tokens; nil: in the database.
  let secrets: DatabaseSecrets?
  /// What was read from there.
  var knownTokens: (mark: String, tokens: DeviceTokens)?
  /// As it was read last: the app's store may be locked later.
  var knownLoginKey: P256Key?
  /// Why the tokens cannot be read.
  var secretsFailure: FerryError?

  package init(
    store: Store, observers: Observers, settings: SessionSettings, secrets: DatabaseSecrets? = nil
  ) {
    self.store = store
    self.secrets = secrets
    self.observers = observers
    inbox = Inbox(store)
    importer = Import(store)
    machine = SessionMachine(settings: settings)
    isReplicationBased = settings.synchronization == .replicationBased
    isReplicationBasedAtFirst = isReplicationBased
    observers.events.judge { [states] in states.now.login == .needed }
    // A file that cannot be read now is told by the first step.
    try? tellState()
  }

  /// What the database says, perhaps by the word of another process.
  func note(kind: String?) {
    let isNow =
      kind.map { $0 == SynchronizationKind.replicationBased.rawValue } ?? isReplicationBasedAtFirst
    guard isNow != isReplicationBased else { return }
    isReplicationBased = isNow
    happened(.channelOutdated)
  }

  func happened(_ event: SessionMachine.Event) {
    machine.take(event, now: store.world.clock.moment)
  }

  // What the app asks for.

  /// A login of another user than the database's is refused here: the server need not say it, and
  /// nothing that is under way is disturbed.
  package func login(_ credentials: Credentials) {
    if let error = otherOwner(than: credentials) { return refuseOther(error) }
    self.credentials = credentials
    happened(.loginRequested)
    isLoginDelayTold = false
    if lastFailure?.code == .notLoggedIn { lastFailure = nil }
  }

  /// Once for each refused login.
  func takeLoginFailure() -> FerryError? {
    defer { loginFailure = nil }
    return loginFailure
  }

  package func requestExchange(awaitingAnswers: Bool = false) {
    happened(.exchangeRequested(awaitingAnswers: awaitingAnswers))
    isLoginTold = false
  }

  package func setBackground(_ isOn: Bool) {
    // It brings rows from now on.
    if isOn, isChannelQuiet, !isReplicationBased { happened(.channelOutdated) }
    happened(.background(isOn: isOn))
    isLoginTold = false
  }

  /// The network may be back.
  package func wake() { happened(.woken) }

  /// Callbacks that were owed when the app ended.
  package func tellOwed() throws(FerryError) { try observers.tellOwed(of: store) }

  // The steps.

  package func next() throws(FerryError) -> Step {
    if let lane = cutLane {
      cutLane = nil
      return .cancel(lane)
    }
    let facts = try facts()
    tellState(facts)
    try tellLease()
    try takeUpPlan(facts)
    happened(
      .planChanged(
        at: plan.map { $0.notBefore ?? Timestamp(milliseconds: 0) },
        isBehind: plan != nil && plan?.isUnderWay == false))
    let clock = store.world.clock
    let now = clock.moment
    switch machine.next(facts, now: now) {
    case .wait(let until):
      tellMissingLogin(facts, now)
      noteMissingSubscription(facts, now)
      if plan != nil, !hasToken(facts, now), credentials == nil, !machine.isExchanging {
        failPlan(secretsFailure ?? Session.notLoggedIn)
      }
      tellState(facts)
      // The machine counts moments; who waits asks the clock.
      let shift = clock.now.milliseconds - now.milliseconds
      return .wait(until: until.map { Timestamp(milliseconds: $0.milliseconds + shift) })
    case .giveUp(let lane):
      lanes[lane] = nil
      plan?.isUnderWay = false
      return .cancel(lane)
    case .cancel(let lane):
      lanes[lane] = nil
      if lane == .exchange {
        fail(
          lane,
          FerryError(
            .offline, "the server stopped answering", hint: "It is tried again.", isTransient: true)
        )
        tellLoginDelay()
      }
      return .cancel(lane)
    case .login: return .send(try loginRequest())
    case .renewToken: return .send(try tokenRequest())
    case .exchange:
      begunExchanges += 1
      let request = try exchangeRequest(.exchange)
      happened(.sent(bytes: request.body.count))
      return .send(request)
    case .openChannel: return .send(try exchangeRequest(.channel))
    case .upload: return try nextUpload()
    }
  }

  func hasToken(_ facts: SessionMachine.Facts, _ now: Timestamp) -> Bool {
    facts.hasRefreshToken || facts.accessTokenExpires.map { now < $0 } ?? false
  }

  static let notLoggedIn = FerryError(
    .notLoggedIn, "nobody is logged in on this device", hint: "Call signIn.")

  /// Whoever wanted to exchange and has no token hears it once.
  private func tellMissingLogin(_ facts: SessionMachine.Facts, _ now: Timestamp) {
    let hasToken = hasToken(facts, now)
    let wants =
      machine.isExchangeWanted || facts.hasOutgoing || facts.hasUploads || machine.isBackground
    guard wants, !hasToken, credentials == nil, !isLoginTold, !machine.isExchanging else { return }
    isLoginTold = true
    let error = secretsFailure ?? Session.notLoggedIn
    lastFailure = error
    isServerLoading = false
    tellState(facts)
    observers.tell(.signInFailed(error), .lasting)
  }

  // What came.

  /// The head of the answer.
  package func received(status: Int, on lane: SessionMachine.Lane) {
    lanes[lane]?.status = status
  }

  /// Bytes of the answer, cut anywhere.
  package func received(_ bytes: [UInt8], on lane: SessionMachine.Lane) throws(FerryError) {
    guard var reception = lanes[lane] else { return }
    guard reception.status == 200, reception.kind == .exchange || reception.kind == .channel else {
      happened(.heard(lane))
      reception.text.append(contentsOf: bytes.prefix(max(0, 65_536 - reception.text.count)))
      lanes[lane] = reception
      return
    }
    reception.reader.append(bytes)
    reception.restBytes += bytes.count
    if reception.restBytes >= Reception.signOfLifeBytes { hear(&reception, lane) }
    try work(&reception, lane)
  }

  /// Goes on with what came, after the app has answered what it was asked.
  package func goOn(_ lane: SessionMachine.Lane) throws(FerryError) {
    guard var reception = lanes[lane] else { return }
    try work(&reception, lane)
  }

  /// Takes what has come whole, up to where the app is asked whether its synchronization goes on.
  private func work(
    _ reception: inout Reception, _ lane: SessionMachine.Lane
  ) throws(FerryError) {
    do {
      while questions.isEmpty || lane == .channel, let frame = try nextFrame(&reception) {
        hear(&reception, lane)
        if lane == .exchange, let status = status(before: frame.kind) {
          reception.asked = frame
          put(status)
          break
        }
        let sizeBytes = frame.travelledBytes
        observers.tell(.messageBegan(sizeBytes: sizeBytes), .passing)
        let message = try take(frame, &reception, lane)
        // An import may take long; what the line brought meanwhile waits, and it was not silent.
        hear(&reception, lane)
        if lane == .exchange, let status = status(after: message) { put(status) }
      }
    } catch {
      lanes[lane] = nil
      try cannotTake(error, on: lane)
    }
    if lanes[lane] != nil { lanes[lane] = reception }
  }

  private func cannotTake(
    _ error: FerryError, on lane: SessionMachine.Lane
  ) throws(FerryError) -> Never {
    fail(lane, error)
    if let failure = error.cause as? WireFailure, !error.isTransient {
      store.world.log.warn(
        "the server refuses this device", ("code", failure.code.rawValue),
        ("reason", error.description))
      try tellSubscribeFailure()
    }
    observers.tell(.messageFailed(error))
    if (error.cause as? SQLiteError)?.isFull == true { observers.space(isLow: true) }
    throw error
  }

  private func hear(_ reception: inout Reception, _ lane: SessionMachine.Lane) {
    reception.restBytes = 0
    happened(.heard(lane))
  }

  private func put(_ status: SynchronizationContext.Status) {
    questions.append(status)
    happened(.questionsChanged(areOpen: true))
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
  package func ended(_ lane: SessionMachine.Lane, _ failure: FerryError?) throws(FerryError) {
    guard let reception = lanes.removeValue(forKey: lane) else { return }
    if let failure {
      fail(lane, failure)
      if reception.kind == .login { tellLoginDelay() }
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
        try advancePlan()
        try tellRecovered()
      }
    }
  }

  private func succeed(_ lane: SessionMachine.Lane) {
    let facts = (try? facts()) ?? SessionMachine.Facts()
    happened(.succeeded(lane, facts))
    guard lane == .exchange else { return }
    // There is one at a time, so the last one begun is the one that ended.
    completedExchanges = begunExchanges
    lastFailure = nil
    toldFailure = nil
    isServerLoading = false
    isEndTold = false
  }

  /// Whoever waits for this exchange must not believe that all is visible: it is asked again.
  private func waitForLoading(_ load: ServerLoad?) {
    if !isServerLoading { store.world.log.info("the server loads its data") }
    isServerLoading = true
    serverLoad = load
    happened(
      .failed(.exchange, chance: store.world.chance.next(), longest: Session.loadingRetry))
    happened(.exchangeNeeded(pulls: true))
    lastFailure = FerryError(
      .server, "The server has not loaded all of this user's data yet",
      hint: "The session asks again by itself.", isTransient: true)
  }

  /// The longest time between two questions whether the server has loaded.
  private static let loadingRetry: Duration = .seconds(5)
}
