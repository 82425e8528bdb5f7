import FerrySQLite
import FerryWorld

/// What the database says of the session's state.
extension Session {
  package func facts() throws(FerryError) -> SessionMachine.Facts {
    try store.read { connection throws(FerryError) in
      try self.store.sql { () throws(SQLiteError) in
        var facts = SessionMachine.Facts()
        facts.hasRefreshToken = try Settings.get(.refreshToken, connection) != nil
        if let expires = try Settings.get(.accessTokenExpires, connection),
          let number = Int64(expires)
        {
          facts.accessTokenExpires = Timestamp(milliseconds: number)
        }
        facts.isSubscribed = try Settings.get(.subscribed, connection) != nil
        facts.hasOutgoing = try self.store.hasOutgoing(connection)
        facts.hasUnanswered = try !self.store.unanswered(connection).isEmpty
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
