import FerrySQLite

extension Store {
  /// Notes that a subscription waits for the server's word. False when it does already or was
  /// accepted: subscribing twice asks once (sync/M23).
  package func beginSubscription() throws(FerryError) -> Bool {
    try write { connection throws(FerryError) in
      try self.sql { () throws(SQLiteError) in
        guard try Settings.get(.subscribed, connection) == nil,
          try Settings.get(.subscribing, connection) == nil
        else { return false }
        try Settings.set(.subscribing, "yes", connection)
        return true
      }
    }
  }

  /// The server has accepted; false when nothing waited for that.
  func endSubscription() throws(FerryError) -> Bool {
    try write { connection throws(FerryError) in
      try self.sql { () throws(SQLiteError) in
        guard try Settings.get(.subscribing, connection) != nil else { return false }
        try Settings.set(.subscribing, nil, connection)
        try Settings.set(.subscribed, "yes", connection)
        return true
      }
    }
  }

  /// Whether data is or will be asked for.
  func wantsData() throws(FerryError) -> Bool {
    try read { connection throws(FerryError) in
      try self.sql { () throws(SQLiteError) in
        guard try Settings.get(.suspended, connection) == nil else { return false }
        let subscribed = try Settings.get(.subscribed, connection)
        let subscribing = try Settings.get(.subscribing, connection)
        return subscribed != nil || subscribing != nil
      }
    }
  }
}

extension Session {
  /// Something else is asked for: an open channel was opened for what was asked before.
  package func parametersChanged() throws(FerryError) {
    machine.channelWentAstray()
    if try facts().isSubscribed { requestExchange() }
  }
}
