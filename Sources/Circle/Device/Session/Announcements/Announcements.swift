import FerryWorld

/// What the app hears of its session: each thing once, and not at each attempt.
final class Announcements {
  /// Announced once, until it may be announced again.
  enum Topic: Hashable {
    /// The data closes soon.
    case leaseEnds
    case leaseEnded
    /// Nobody is logged in, and something waits for it.
    case loginMissing
    /// A login waits for the network.
    case loginDelayed
    case deviceLocked
    /// The server gives nothing any more.
    case subscriptionEnded
    /// In the log alone.
    case nothingSubscribed
  }

  let store: Store
  let observers: Observers
  var announced: Set<Topic> = []
  /// The failure that the app heard last, of those that need the user or the operator.
  private var announcedFailure: String?
  /// The highest time that the database has.
  var storedHighest: Int64?
  /// The app heard that the connection begins.
  private var isConnecting: Bool = false
  /// The app registers, starts and stops its connection: it hears each status of it.
  private var isApplicationUsed: Bool = false

  init(_ store: Store, _ observers: Observers) {
    self.store = store
    self.observers = observers
  }

  /// Whether it was not announced yet; from now on it was.
  func once(_ topic: Topic) -> Bool { announced.insert(topic).inserted }

  /// It may be announced again.
  func again(_ topic: Topic) { announced.remove(topic) }

  /// Another user hears everything anew.
  func reset() {
    announced.formIntersection([.nothingSubscribed])
    storedHighest = nil
  }

  // Failures.

  func signInFailed(_ error: FerryError) { observers.tell(.signInFailed(error), .lasting) }

  func locked(_ error: FerryError) { if once(.deviceLocked) { signInFailed(error) } }

  /// Something that does not pass by itself.
  func need(of error: FerryError) {
    // A locked device is announced as a login that failed.
    guard error.needsSomebody, error.code != .deviceLocked, announcedFailure != error.description
    else { return }
    announcedFailure = error.description
    observers.tell(.helpNeeded(error), .lasting)
  }

  /// An exchange has ended well: a failure that comes after it is a new one.
  func recovered() {
    announcedFailure = nil
    again(.subscriptionEnded)
  }

  // The subscription.

  /// Background work without a subscription brings nothing, and nothing else would say so.
  func nothingSubscribed() {
    guard once(.nothingSubscribed) else { return }
    store.world.log.warn(
      "the background synchronization brings nothing, because nothing is subscribed",
      ("hint", "Call subscribe, or signIn, which subscribes."))
  }

  /// A request for a subscription ends with this failure, if there is one.
  func subscribeFailed(_ error: FerryError?) throws(FerryError) {
    guard let error, try store.setting(.subscribing) != nil else { return }
    try store.remove([.subscribing])
    observers.tell(.subscribeFailed(error), .lasting)
  }

  /// The server gives this user nothing any more.
  func subscriptionEnded(_ error: FerryError) throws(FerryError) {
    guard try store.setting(.subscribed) != nil, once(.subscriptionEnded) else { return }
    if try store.setting(.recovering) != nil {
      observers.tell(.recoverFailed(error), .lasting)
      try store.remove([.recovering])
    }
    observers.tell(.subscriptionEnded, .lasting)
  }

  // The registration and the connection.

  func registration(_ status: RegistrationStatus, _ error: FerryError? = nil) {
    observers.tell(.registrationChanged(status, error), .lasting)
  }

  func connection(_ status: ConnectionStatus) {
    observers.tell(.connectionChanged(status), .lasting)
  }

  /// From now on the app hears each status of its connection.
  func applicationUsed() { isApplicationUsed = true }

  func connecting() {
    guard !isConnecting else { return }
    isConnecting = true
    connection(.connecting)
  }

  func connected() {
    isConnecting = false
    observers.tell(.connected)
    observers.tell(.connectionChanged(.connected))
  }

  /// The registration failed, so no connection begins.
  func connectingEnded() { isConnecting = false }

  /// The connection broke, or nobody answered; it is tried again by itself.
  func connectionFailed(_ error: FerryError, wasConnected: Bool) {
    if wasConnected {
      observers.tell(.disconnected(error))
      if !isApplicationUsed { observers.tell(.connectionChanged(.disconnected)) }
    }
    guard isApplicationUsed, wasConnected || isConnecting else { return }
    isConnecting = false
    connection(.connectionError)
  }

  func connectionStopped() {
    isConnecting = false
    connection(.disconnected)
  }
}
