import FerrySQLite

/// Small values that the device keeps under a name.
package enum Settings {
  package enum Name: String, Sendable {
    case package, model, device, incarnation, server, refreshToken, accessToken, accessTokenExpires,
      user
    case subscribing, subscribed, suspended, recovering, rightsVersion, progress, uploadEra
    /// The server of which is known what it has ended of batches.
    case batchEra
    case asyncReplay, synchronization
    /// What the server's template says, and what the app has put in its place.
    case notices, applicationSettings, profileUser, profileServer, profileProtocol, profilePort,
      profilePath
    /// How far the registration is, and the activation code while it is under way.
    case registration, activationCode
    /// A session of before that the server does not know to have ended.
    case endedToken
    /// The private key with which the device proves that its refresh token is its own.
    case loginKey
    /// For how long the data may be used without the server, and when the session ends.
    case lease, sessionEnd, sessionEndTold
    /// What the server said that it takes, parted by blanks; nil before its first word.
    case takes
    /// What became of corrections of an operator, until the server has heard it.
    case corrections
  }

  package static func get(_ name: Name, _ connection: Connection) throws(SQLiteError) -> String? {
    try connection.value("SELECT value FROM ferry_setting WHERE name = ?", .text(name.rawValue))?
      .text
  }

  /// Nil removes the value.
  package static func set(
    _ name: Name, _ value: String?, _ connection: Connection
  )
    throws(SQLiteError)
  {
    if let value {
      try connection.run(
        "INSERT OR REPLACE INTO ferry_setting (name, value) VALUES (?, ?)", .text(name.rawValue),
        .text(value))
    } else {
      try connection.run("DELETE FROM ferry_setting WHERE name = ?", .text(name.rawValue))
    }
  }
}

extension Store {
  /// One value, as it is now.
  package func setting(_ name: Settings.Name) throws(FerryError) -> String? {
    try withSnapshot { transaction throws(FerryError) in try transaction.setting(name) }
  }

  /// Removes the values in one transaction.
  package func remove(_ names: [Settings.Name]) throws(FerryError) {
    try write { connection throws(SQLiteError) in
      for name in names { try Settings.set(name, nil, connection) }
    }
  }
}
