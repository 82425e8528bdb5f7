import FerrySQLite
import FerryWire

/// A subscription is ended, suspended, resumed, or downloaded afresh.
extension Session {
  package func unsubscribe() throws(FerryError) {
    guard try isDataWanted() else {
      observers.tell(.lasting) { $0.onUnsubscribeFailure(Session.notSubscribed) }
      return
    }
    try forget([.subscribed, .subscribing, .suspended, .recovering])
    machine.channelWentAstray()
    observers.tell(.lasting) { $0.onUnsubscribeSuccess() }
    observers.tell(.lasting) { $0.onSubscriptionEnd() }
  }

  package func suspendSubscription() throws(FerryError) {
    guard try isDataWanted() else {
      observers.tell(.lasting) { $0.onSuspendSubscriptionFailure(Session.notSubscribed) }
      return
    }
    try note(.suspended)
    machine.channelWentAstray()
    observers.tell(.lasting) { $0.onSuspendSubscriptionSuccess() }
  }

  package func resumeSubscription() throws(FerryError) {
    guard try isDataWanted() else {
      observers.tell(.lasting) { $0.onResumeSubscriptionFailure(Session.notSubscribed) }
      return
    }
    try forget([.suspended])
    observers.tell(.lasting) { $0.onResumeSubscriptionSuccess() }
    requestExchange()
  }

  package func recover() throws(FerryError) {
    guard try isDataWanted() else {
      observers.tell(.lasting) { $0.onRecoverFailure(Session.notSubscribed) }
      return
    }
    try inbox.restartAll()
    try note(.recovering)
    machine.channelWentAstray()
    requestExchange()
  }

  /// An exchange has ended well: perhaps it brought the last of what was asked for afresh.
  func tellRecovered() throws(FerryError) {
    guard try setting(.recovering) != nil, try inbox.isComplete() else { return }
    // Told first: after a crash in between it is told again, unless it waits for an actor by then.
    observers.tell(.lasting) { $0.onRecoverSuccess() }
    try forget([.recovering])
  }

  /// The server gives this user nothing any more.
  func tellSubscriptionEnd(_ error: FerryError) throws(FerryError) {
    guard try setting(.subscribed) != nil, !isEndTold else { return }
    isEndTold = true
    if try setting(.recovering) != nil {
      observers.tell(.lasting) { $0.onRecoverFailure(error) }
      try forget([.recovering])
    }
    observers.tell(.lasting) { $0.onSubscriptionEnd() }
  }

  private func isDataWanted() throws(FerryError) -> Bool {
    if try setting(.subscribed) != nil { return true }
    return try setting(.subscribing) != nil
  }

  private func note(_ name: Settings.Name) throws(FerryError) {
    try store.write { connection throws(FerryError) in
      try self.store.sql { () throws(SQLiteError) in try Settings.set(name, "yes", connection) }
    }
  }

  private static let notSubscribed = FerryError(
    .notSubscribed, "nothing is subscribed on this device", hint: "Call subscribe first.")
}
