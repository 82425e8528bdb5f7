import FerryModel
import FerryWire
import FerryWorld

/// Knows all stages of the device and moves the data between them. It does not wait: it is asked
/// for the next step and told what came of it, so a simulation drives the very same session.
///
/// Its work is in rooms: `SignIn`, `PlanQueue` and `Requests` on a `SessionCore`, and `TokenStore` and
/// `Announcements` below that. Here are the calls of the driver. Not for two threads at one time.
package final class Session {
  package enum Step {
    case send(SessionRequest)
    case cancel(SessionMachine.Lane)
    case wait(until: Timestamp?)
  }

  let core: SessionCore
  let signIn: SignIn
  let plans: PlanQueue
  let requests: Requests

  package init(
    store: Store, observers: Observers, settings: SessionSettings, secrets: DatabaseSecrets? = nil
  ) {
    core = SessionCore(store: store, observers: observers, settings: settings, secrets: secrets)
    signIn = SignIn(core: core)
    plans = PlanQueue(core: core)
    requests = Requests(core: core, signIn: signIn, plans: plans)
    // A file that cannot be read now is told by the first step.
    try? core.postState()
  }

  var store: Store { core.store }
  package var observers: Observers { core.observers }
  package var states: StateBoard { core.states }
  package var machine: SessionMachine { core.machine }
  /// Counts changes of the profile and of the application settings.
  var profileVersion: Int { core.profileVersion }
  /// Why the last exchange ended, if not well.
  package var lastFailure: FerryError? { core.lastFailure }
  package var isServerLoading: Bool { core.isServerLoading }
  /// The number of exchanges that were begun.
  package var begunExchanges: Int { requests.begun }
  /// The number of the last exchange that ended well, for those who wait for one.
  package var completedExchanges: Int { requests.completed }
  /// The data is to be destroyed; who drives the session does that.
  package var wipe: WipeOrder? { requests.wipe }

  // What the app asks for.

  package func login(_ credentials: Credentials) { signIn.begin(credentials) }

  /// Once for each refused login.
  func takeLoginFailure() -> FerryError? { signIn.takeFailure() }

  package func requestExchange(awaitingAnswers: Bool = false) {
    core.requestExchange(awaitingAnswers: awaitingAnswers)
  }

  package func setBackground(_ isOn: Bool) {
    // It brings rows from now on.
    if isOn, requests.isChannelQuiet, !core.isReplicationBased { core.happened(.channelOutdated) }
    core.happened(.background(isOn: isOn))
    core.announcements.again(.loginMissing)
  }

  /// The network may be back.
  package func wake() { core.happened(.woken) }

  /// Whether a caller in this process waits for the answers to sent operations.
  func awaitsAnswers(_ isAwaited: Bool) { core.happened(.answersAwaited(isAwaited)) }

  /// Callbacks that were owed when the app ended.
  package func tellOwed() throws(FerryError) { try observers.tellOwed(of: store) }

  // The steps.

  package func facts() throws(FerryError) -> SessionMachine.Facts { try core.facts() }

  /// For who does not ask for the next step, as while another process synchronizes.
  func postState() throws(FerryError) { try core.postState() }

  package func next() throws(FerryError) -> Step {
    if let lane = requests.takeCut() { return .cancel(lane) }
    let facts = try core.facts()
    core.postState(facts)
    try core.announcements.lease()
    try plans.takeUp(facts)
    let clock = store.world.clock
    let now = clock.moment
    switch core.next(facts, now: now) {
    case .wait(let until):
      rest(facts, now)
      // The machine counts moments; who waits asks the clock.
      let shift = clock.now.milliseconds - now.milliseconds
      return .wait(until: until.map { Timestamp(milliseconds: $0.milliseconds + shift) })
    case .giveUp(let lane):
      requests.drop(lane)
      plans.giveUp()
      return .cancel(lane)
    case .cancel(let lane):
      requests.silent(lane)
      return .cancel(lane)
    case .login: return .send(try requests.loginRequest())
    case .renewToken: return .send(try requests.renewalRequest())
    case .exchange: return .send(try requests.exchange())
    case .openChannel: return .send(try requests.exchangeRequest(.channel))
    case .upload:
      guard let request = try requests.nextUpload() else { return try next() }
      return .send(request)
    }
  }

  /// Nothing can be done now: the app hears what is missing for more.
  private func rest(_ facts: SessionMachine.Facts, _ now: Timestamp) {
    announceMissingLogin(facts, now)
    let hasToken = core.hasToken(facts, now)
    if machine.isBackground, hasToken, !facts.isSubscribed, !facts.isSubscribing,
      !facts.isSuspended
    {
      core.announcements.nothingSubscribed()
    }
    if !hasToken, !signIn.isUnderWay, !machine.isExchanging { plans.end(core.loginMissing) }
    core.postState(facts)
  }

  /// Whoever wanted to exchange and has no token hears it once.
  private func announceMissingLogin(_ facts: SessionMachine.Facts, _ now: Timestamp) {
    let wants =
      machine.isExchangeWanted || facts.hasOutgoing || facts.hasUploads || machine.isBackground
    guard wants, !core.hasToken(facts, now), !signIn.isUnderWay, !machine.isExchanging,
      core.announcements.once(.loginMissing)
    else { return }
    core.lastFailure = core.loginMissing
    core.serverLoaded()
    core.postState(facts)
    core.announcements.signInFailed(core.loginMissing)
  }

  // What came.

  /// The head of the answer.
  package func received(status: Int, on lane: SessionMachine.Lane) {
    requests.received(status: status, on: lane)
  }

  /// Bytes of the answer, cut anywhere.
  package func received(_ bytes: [UInt8], on lane: SessionMachine.Lane) throws(FerryError) {
    try requests.received(bytes, on: lane)
  }

  /// Goes on with what came, after the app has answered what it was asked.
  package func goOn(_ lane: SessionMachine.Lane) throws(FerryError) { try requests.goOn(lane) }

  /// The answer is whole, or the connection broke.
  package func ended(_ lane: SessionMachine.Lane, _ failure: FerryError?) throws(FerryError) {
    try requests.ended(lane, failure)
  }

  /// The app's token source has no token for a login.
  func hasNoToken(_ error: FerryError) throws(FerryError) { try requests.hasNoToken(error) }

  /// The app hears how far a content is.
  func tell(_ progress: BigValueProgress) { core.tell(progress) }

  // Tokens and small values.

  func token(_ name: Settings.Name) throws(FerryError) -> String? { try core.tokens.token(name) }

  /// Moves tokens that the database has to the store that the app gives now.
  package func moveTokens() throws(FerryError) { try core.tokens.move() }

  /// The server does not accept the access token any more.
  func forgetAccessToken() throws(FerryError) { try core.tokens.forgetAccess() }

  func setting(_ name: Settings.Name) throws(FerryError) -> String? { try store.setting(name) }

  func announceSessionEnd() throws(FerryError) { try core.announcements.sessionEnd() }

  /// The channel was opened for other notices.
  func noticesChanged() { core.noticesChanged() }

  /// Contents of a process that has ended, or of another model.
  package func tidyContents() throws(FerryError) {
    try Contents(store).discardOldDrafts()
    try Contents(store).sweep()
  }
}
