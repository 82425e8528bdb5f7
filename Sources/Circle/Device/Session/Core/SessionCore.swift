import FerrySQLite
import FerryWire
import FerryWorld

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What the rooms of a session share: the database, the machine, and the state that the app sees.
final class SessionCore {
  let store: Store
  let observers: Observers
  let tokens: TokenStore
  let announcements: Announcements
  let states = StateBoard()
  private(set) var machine: SessionMachine
  private(set) var isConnected: Bool = false
  /// The first request since the last answer that did not reach the server.
  var offlineSince: Timestamp?
  /// The server renews the tokens that are here only after a new login.
  var isLoginDemanded: Bool = false
  /// The server has not read all of this user's data from its business system.
  private(set) var isServerLoading: Bool = false
  /// How far it is, as it said last.
  private var serverLoad: ServerLoad?
  /// As `settings` say, unless the app has chosen otherwise since.
  private(set) var isReplicationBased: Bool
  private let isReplicationBasedAtFirst: Bool
  /// Counts changes of the profile and of the application settings.
  private(set) var profileVersion: Int = 0
  /// Why the last exchange ended, if not well.
  var lastFailure: FerryError?

  init(
    store: Store, observers: Observers, settings: SessionSettings, secrets: DatabaseSecrets?
  ) {
    self.store = store
    self.observers = observers
    tokens = TokenStore(store, secrets: secrets)
    announcements = Announcements(store, observers)
    machine = SessionMachine(settings: settings)
    isReplicationBased = settings.synchronization == .replicationBased
    isReplicationBasedAtFirst = isReplicationBased
    observers.events.judge { [states] in states.now.login == .needed }
  }

  // The machine.

  func happened(_ event: SessionMachine.Event) {
    machine.take(event, now: store.world.clock.moment)
  }

  func next(_ facts: SessionMachine.Facts, now: Timestamp) -> SessionMachine.Step {
    machine.next(facts, now: now)
  }

  func requestExchange(awaitingAnswers: Bool = false) {
    happened(.exchangeRequested(awaitingAnswers: awaitingAnswers))
    announcements.again(.loginMissing)
  }

  // Facts.

  static let notLoggedIn = FerryError(
    .notLoggedIn, "nobody is logged in on this device", hint: "Call signIn.")

  /// What the database says of the session's state.
  func facts() throws(FerryError) -> SessionMachine.Facts {
    var refresh: String?
    var facts = try store.withSnapshot { transaction throws(FerryError) in
      var facts = SessionMachine.Facts()
      refresh = try transaction.setting(.refreshToken)
      facts.hasRefreshToken = refresh != nil
      let expires = try transaction.setting(.accessTokenExpires).flatMap { Int64($0) }
      let clock = self.store.world.clock
      facts.accessTokenExpires = expires.map {
        Timestamp(milliseconds: $0 - clock.now.milliseconds + clock.moment.milliseconds)
      }
      facts.isSuspended = try SubscriptionSettings(transaction).isSuspended()
      if !facts.isSuspended {
        facts.isSubscribed = try transaction.setting(.subscribed) != nil
        facts.isSubscribing = try transaction.setting(.subscribing) != nil
      }
      let queue = OperationQueue(transaction)
      facts.hasOutgoing = try queue.hasOutgoing()
      if !facts.hasOutgoing { facts.hasOutgoing = try ReportQueue(transaction).hasOutgoing() }
      facts.hasUnanswered = try queue.hasUnanswered()
      facts.hasBatches = try transaction.sql { connection throws(SQLiteError) in
        try BatchTable.isWaiting(connection)
      }
      self.note(kind: try transaction.setting(.synchronization))
      facts.isReplicationBased = self.isReplicationBased
      if self.isReplicationBased { facts.hasOutgoing = false }
      facts.hasUploads = try Uploads(transaction).next() != nil
      return facts
    }
    if !tokens.areReadable(refresh) {
      facts.hasRefreshToken = false
      facts.accessTokenExpires = nil
    }
    return facts
  }

  /// How operations and rows travel, perhaps as another process has chosen it.
  private func note(kind: String?) {
    let isNow =
      kind.map { $0 == SynchronizationKind.replicationBased.rawValue } ?? isReplicationBasedAtFirst
    guard isNow != isReplicationBased else { return }
    isReplicationBased = isNow
    happened(.channelOutdated)
  }

  func hasToken(_ facts: SessionMachine.Facts, _ now: Timestamp) -> Bool {
    facts.hasRefreshToken || facts.accessTokenExpires.map { now < $0 } ?? false
  }

  /// Whether requests go on without a login.
  func isLoggedIn(_ facts: SessionMachine.Facts) -> Bool {
    !isLoginDemanded && hasToken(facts, store.world.clock.moment)
  }

  /// Why nobody is logged in.
  var loginMissing: FerryError { tokens.failure ?? SessionCore.notLoggedIn }

  // The state that the app sees.

  func postState() throws(FerryError) { postState(try facts()) }

  func postState(_ facts: SessionMachine.Facts) {
    var state = DatabaseState()
    state.isConnected = isConnected
    state.login = machine.hasCredentials ? .inProgress : isLoggedIn(facts) ? .done : .needed
    state.subscription =
      facts.isSuspended
      ? .suspended
      : facts.isSubscribed ? .accepted : facts.isSubscribing ? .inProgress : .none
    state.isServerLoading = isServerLoading
    state.serverLoad = serverLoad
    state.dataClosesAt = store.lease.withLock { $0 }.map {
      Date(Timestamp(milliseconds: $0.end))
    }
    state.offlineSince = offlineSince.map { Date($0) }
    state.failure = lastFailure
    states.post(state)
  }

  func connected() {
    offlineSince = nil
    // What is better now is no failure any more.
    if lastFailure?.code == .offline || lastFailure?.code == .notLoggedIn { lastFailure = nil }
    guard !isConnected else { return }
    isConnected = true
    announcements.connected()
  }

  /// The connection broke, or nobody answered.
  func disconnected(_ error: FerryError) {
    offlineSince = offlineSince ?? store.world.clock.now
    announcements.connectionFailed(error, wasConnected: isConnected)
    isConnected = false
  }

  func connectionStopped() {
    isConnected = false
    announcements.connectionStopped()
  }

  /// The server loads its data; `load`: how far it is.
  func serverLoads(_ load: ServerLoad?) {
    if !isServerLoading { store.world.log.info("the server loads its data") }
    (isServerLoading, serverLoad) = (true, load)
  }

  func serverLoaded() { (isServerLoading, serverLoad) = (false, nil) }

  /// The profile or the application settings have changed.
  func profileChanged() { profileVersion += 1 }

  /// The user has left.
  func reset() {
    happened(.signedOut)
    serverLoaded()
    isLoginDemanded = false
    lastFailure = nil
    profileChanged()
    announcements.reset()
  }
}
