import FerrySQLite
import FerryWire

/// A subscription is ended, suspended, resumed, or downloaded afresh.
extension Session {
  package func unsubscribe() throws(FerryError) {
    guard try isDataWanted() else {
      observers.tell(.unsubscribeFailed(Session.notSubscribed), .lasting)
      return
    }
    try forget([.subscribed, .subscribing, .suspended, .recovering])
    happened(.channelOutdated)
    observers.tell(.unsubscribed, .lasting)
    observers.tell(.subscriptionEnded, .lasting)
  }

  package func suspendSubscription() throws(FerryError) {
    guard try isDataWanted() else {
      observers.tell(.suspendFailed(Session.notSubscribed), .lasting)
      return
    }
    try note(.suspended)
    happened(.channelOutdated)
    observers.tell(.suspended, .lasting)
  }

  package func resumeSubscription() throws(FerryError) {
    guard try isDataWanted() else {
      observers.tell(.resumeFailed(Session.notSubscribed), .lasting)
      return
    }
    try forget([.suspended])
    observers.tell(.resumed, .lasting)
    requestExchange()
  }

  package func recover() throws(FerryError) {
    guard try isDataWanted() else {
      observers.tell(.recoverFailed(Session.notSubscribed), .lasting)
      return
    }
    try inbox.restartAll()
    try note(.recovering)
    happened(.channelOutdated)
    requestExchange()
  }

  /// An exchange has ended well: perhaps it brought the last of what was asked for afresh.
  func tellRecovered() throws(FerryError) {
    guard try setting(.recovering) != nil, try inbox.isComplete() else { return }
    // Told first: after a crash in between it is told again, unless it waits for an actor by then.
    observers.tell(.recovered, .lasting)
    try forget([.recovering])
  }

  /// The server gives this user nothing any more.
  func tellSubscriptionEnd(_ error: FerryError) throws(FerryError) {
    guard try setting(.subscribed) != nil, !isEndTold else { return }
    isEndTold = true
    if try setting(.recovering) != nil {
      observers.tell(.recoverFailed(error), .lasting)
      try forget([.recovering])
    }
    observers.tell(.subscriptionEnded, .lasting)
  }

  private func isDataWanted() throws(FerryError) -> Bool {
    if try setting(.subscribed) != nil { return true }
    return try setting(.subscribing) != nil
  }

  private func note(_ name: Settings.Name) throws(FerryError) {
    try store.write { connection throws(SQLiteError) in try Settings.set(name, "yes", connection) }
  }

  private static let notSubscribed = FerryError(
    .notSubscribed, "nothing is subscribed on this device", hint: "Call subscribe first.")
}
