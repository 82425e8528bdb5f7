import FerrySQLite
import FerryWorld

/// What the database says of the session's state.
extension Session {
  package func facts() throws(FerryError) -> SessionMachine.Facts {
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
    judgeTokens(&facts, refresh)
    return facts
  }

  /// For who does not ask for the next step, as while another process synchronizes.
  func tellState() throws(FerryError) { tellState(try facts()) }

  func tellState(_ facts: SessionMachine.Facts) {
    var state = DatabaseState()
    state.isConnected = isConnected
    state.login = credentials != nil ? .inProgress : isLoggedIn(facts) ? .done : .needed
    state.subscription =
      facts.isSuspended
      ? .suspended
      : facts.isSubscribed ? .accepted : facts.isSubscribing ? .inProgress : .none
    state.isServerLoading = isServerLoading
    state.serverLoad = serverLoad
    state.dataClosesAt = store.lease.withLock { $0 }.map { Timestamp(milliseconds: $0.end) }
    state.offlineSince = offlineSince
    state.failure = lastFailure
    states.post(state)
  }

  /// Whether requests go on without a login.
  func isLoggedIn(_ facts: SessionMachine.Facts) -> Bool {
    !isLoginDemanded && hasToken(facts, store.world.clock.moment)
  }

  func setting(_ name: Settings.Name) throws(FerryError) -> String? {
    try store.withSnapshot { transaction throws(FerryError) in try transaction.setting(name) }
  }
}
