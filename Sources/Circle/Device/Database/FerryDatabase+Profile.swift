import FerrySQLite
import FerryWire

/// The profile may change at any time.
extension FerryDatabase {
  /// The present user, server and kind of synchronization.
  public var synchronizationProfile: SynchronizationProfile {
    get throws(FerryError) {
      try store.withSnapshot { transaction throws(FerryError) in try self.profile(transaction) }
    }
  }

  /// Changes the profile completely or not at all; the next request uses it. `badAddress` for an
  /// address that is not allowed, such as `http` to another machine.
  public func updateSynchronizationProfile(
    _ change: (inout SynchronizationProfile) throws(FerryError) -> Void
  ) throws(FerryError) {
    let (old, profile) = try store.withTransaction { transaction throws(FerryError) in
      let old = try self.profile(transaction)
      var new = old
      try change(&new)
      try self.keep(new, before: old, transaction)
      return (old, new)
    }
    password.withLock { $0 = profile.password }
    let isOtherKind = old.synchronization != profile.synchronization
    act { session throws(FerryError) in try session.profileChanged(isOtherKind: isOtherKind) }
  }

  /// Whether this database is message-based or replication-based by now.
  var synchronizationKind: SynchronizationKind {
    get throws(FerryError) {
      let stored = try store.read { connection throws(SQLiteError) in
        try Settings.get(.synchronization, connection)
      }
      return stored.flatMap(SynchronizationKind.init) ?? settings.synchronization
    }
  }

  /// What `onlineLogin()` logs in with.
  var profileCredentials: Credentials {
    get throws(FerryError) {
      let profile = try synchronizationProfile
      if let user = profile.user, let password = profile.password {
        return Credentials(user: user, password: password)
      }
      guard connection.tokenSource == nil else { return .token }
      throw FerryError(
        .notLoggedIn, "the synchronization profile has no user or no password",
        hint: "Set both with updateSynchronizationProfile.")
    }
  }

  private func profile(_ transaction: Transaction) throws(FerryError) -> SynchronizationProfile {
    let address = ServerAddress(connection.server)
      .overridden(by: AddressParts(try ApplicationSettings.kept(transaction)))
      .overridden(by: try AddressParts(transaction))
    return SynchronizationProfile(
      user: try transaction.setting(.profileUser), password: password.withLock { $0 },
      serverName: address.name, networkProtocol: address.networkProtocol,
      portNumber: address.port ?? (address.networkProtocol == .http ? 80 : 443),
      path: address.path,
      asyncReplay: try transaction.setting(.asyncReplay).map { $0 == "yes" }
        ?? settings.asyncReplay,
      synchronization: try transaction.setting(.synchronization)
        .flatMap(SynchronizationKind.init) ?? settings.synchronization)
  }

  /// Keeps what the app has changed; everything else goes on following the template.
  private func keep(
    _ new: SynchronizationProfile, before old: SynchronizationProfile, _ transaction: Transaction
  ) throws(FerryError) {
    if new.isReset {
      for name in [Settings.Name.profileServer, .profileProtocol, .profilePort, .profilePath] {
        try transaction.set(name, nil)
      }
    }
    if new.serverName != old.serverName { try transaction.set(.profileServer, new.serverName) }
    if new.networkProtocol != old.networkProtocol {
      try transaction.set(.profileProtocol, new.networkProtocol.rawValue)
    }
    if new.portNumber != old.portNumber {
      guard (1...65_535).contains(new.portNumber) else {
        throw FerryError(
          .badAddress, "\(new.portNumber) is not a port number", hint: "Write one from 1 to 65535.")
      }
      try transaction.set(.profilePort, String(new.portNumber))
    }
    if new.path != old.path { try transaction.set(.profilePath, new.path) }
    if new.user != old.user { try transaction.set(.profileUser, new.user) }
    if new.asyncReplay != old.asyncReplay {
      try transaction.set(.asyncReplay, new.asyncReplay ? "yes" : "no")
    }
    if new.synchronization != old.synchronization {
      try transaction.set(.synchronization, new.synchronization.rawValue)
    }
    let parts = try AddressParts(transaction)
    guard !parts.isEmpty else { return }
    try connection.check(
      ServerAddress(connection.server)
        .overridden(by: AddressParts(try ApplicationSettings.kept(transaction)))
        .overridden(by: parts).text)
  }
}
