import FerrySQLite
import FerryWorld

/// What the database says of the session's state.
extension Session {
  package func facts() throws(FerryError) -> SessionMachine.Facts {
    try store.read { connection throws(FerryError) in
      try self.store.sql { () throws(SQLiteError) in
        var facts = SessionMachine.Facts()
        facts.hasRefreshToken = try Settings.get(.refreshToken, connection) != nil
        let expires = try Settings.get(.accessTokenExpires, connection).flatMap { Int64($0) }
        let clock = self.store.world.clock
        facts.accessTokenExpires = expires.map {
          Timestamp(milliseconds: $0 - clock.now.milliseconds + clock.moment.milliseconds)
        }
        facts.isSuspended = try Settings.get(.suspended, connection) != nil
        if !facts.isSuspended {
          facts.isSubscribed = try Settings.get(.subscribed, connection) != nil
          facts.isSubscribing = try Settings.get(.subscribing, connection) != nil
        }
        facts.hasOutgoing = try self.store.hasOutgoing(connection)
        if !facts.hasOutgoing {
          facts.hasOutgoing = try self.store.hasOutgoingReport(connection)
        }
        facts.hasUnanswered = try self.store.hasUnanswered(connection)
        facts.hasBatches = try BatchTable.isWaiting(connection)
        facts.isReplicationBased = self.isReplicationBased
        if self.isReplicationBased { facts.hasOutgoing = false }
        facts.hasUploads = try self.store.nextUpload(connection) != nil
        return facts
      }
    }
  }

  /// For who does not ask for the next step, as while another process synchronizes.
  func tellState() throws(FerryError) { tellState(try facts()) }

  func tellState(_ facts: SessionMachine.Facts) {
    let now = store.world.clock.moment
    let hasToken = facts.hasRefreshToken || facts.accessTokenExpires.map { now < $0 } ?? false
    var state = DatabaseState()
    state.isConnected = isConnected
    state.login = credentials != nil ? .underWay : hasToken ? .done : .needed
    state.subscription =
      facts.isSuspended
      ? .suspended
      : facts.isSubscribed ? .accepted : facts.isSubscribing ? .underWay : .none
    state.isServerLoading = isServerLoading
    state.failure = lastFailure
    states.post(state)
  }

  func setting(_ name: Settings.Name) throws(FerryError) -> String? {
    try store.read { connection throws(FerryError) in
      try self.store.sql { () throws(SQLiteError) in try Settings.get(name, connection) }
    }
  }
}
