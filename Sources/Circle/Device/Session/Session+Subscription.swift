import FerrySQLite
import FerryWire

/// A subscription is ended, suspended, resumed, or downloaded afresh.
extension Session {
  package func subscribe() throws(FerryError) {
    let isNew = try store.withTransaction { transaction throws(FerryError) in
      try SubscriptionSettings(transaction).begin()
    }
    if isNew { requestExchange() }
  }

  package func unsubscribe() throws(FerryError) {
    guard try isDataWanted() else {
      observers.tell(.unsubscribeFailed(Session.notSubscribed), .lasting)
      return
    }
    try store.remove([.subscribed, .subscribing, .suspended, .recovering])
    core.happened(.channelOutdated)
    observers.tell(.unsubscribed, .lasting)
    observers.tell(.subscriptionEnded, .lasting)
  }

  package func suspendSubscription() throws(FerryError) {
    guard try isDataWanted() else {
      observers.tell(.suspendFailed(Session.notSubscribed), .lasting)
      return
    }
    try note(.suspended)
    core.happened(.channelOutdated)
    observers.tell(.suspended, .lasting)
  }

  package func resumeSubscription() throws(FerryError) {
    guard try isDataWanted() else {
      observers.tell(.resumeFailed(Session.notSubscribed), .lasting)
      return
    }
    try store.remove([.suspended])
    observers.tell(.resumed, .lasting)
    requestExchange()
  }

  package func recover() throws(FerryError) {
    guard try isDataWanted() else {
      observers.tell(.recoverFailed(Session.notSubscribed), .lasting)
      return
    }
    try requests.inbox.restartAll()
    try note(.recovering)
    core.happened(.channelOutdated)
    requestExchange()
  }

  private func isDataWanted() throws(FerryError) -> Bool {
    if try store.setting(.subscribed) != nil { return true }
    return try store.setting(.subscribing) != nil
  }

  private func note(_ name: Settings.Name) throws(FerryError) {
    try store.write { connection throws(SQLiteError) in try Settings.set(name, "yes", connection) }
  }

  /// Something else is asked for: an open channel was opened for what was asked before.
  package func parametersChanged() throws(FerryError) {
    core.happened(.channelOutdated)
    if try core.facts().isSubscribed { requestExchange() }
  }

  /// The next request goes by the profile as it is now; an open channel went by the one before.
  func profileChanged(isOtherKind: Bool) throws(FerryError) {
    core.profileChanged()
    core.happened(.channelOutdated)
    core.happened(.woken)
    guard isOtherKind, try core.facts().isSubscribed, !core.isReplicationBased else { return }
    requestExchange()
  }

  package func adoptServer() throws(FerryError) {
    try store.withTransaction { transaction throws(FerryError) in
      try ServerAdoption(transaction).run()
    }
    // What is still under way with the old server is of an era that nothing here is of any more.
    core.happened(.channelOutdated)
  }

  private static let notSubscribed = FerryError(
    .notSubscribed, "nothing is subscribed on this device", hint: "Call subscribe first.")
}
