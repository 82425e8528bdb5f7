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
        if try Settings.get(.suspended, connection) == nil {
          facts.isSubscribed = try Settings.get(.subscribed, connection) != nil
          facts.isSubscribing = try Settings.get(.subscribing, connection) != nil
        }
        facts.hasOutgoing = try self.store.hasOutgoing(connection)
        if !facts.hasOutgoing {
          facts.hasOutgoing = try self.store.hasOutgoingReport(connection)
        }
        facts.hasUnanswered = try self.store.hasUnanswered(connection)
        facts.hasUploads = try self.store.nextUpload(connection) != nil
        return facts
      }
    }
  }

  func setting(_ name: Settings.Name) throws(FerryError) -> String? {
    try store.read { connection throws(FerryError) in
      try self.store.sql { () throws(SQLiteError) in try Settings.get(name, connection) }
    }
  }
}
