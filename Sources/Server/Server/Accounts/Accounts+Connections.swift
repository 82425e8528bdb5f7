import FerryModel
import FerryWorld

/// What became of the wish to register a connection.
package enum RegisteredOutcome: Sendable, Equatable {
  case registered(StoredConnection)
  /// The same user has registered the same application under this id before.
  case known(StoredConnection)
  /// The id belongs to somebody else, or to another application.
  case taken
}

/// What an activation code is good for.
package enum ActivationVerdict: Sendable, Equatable {
  case good
  /// Nobody made it, or it is too old.
  case unknown
  case otherDevice, otherUser
}

/// Application connections in the register of devices.
extension Accounts {
  /// The connection of this id; notes now and then that it is in use.
  func connection(_ id: String) throws(ServerError) -> StoredConnection? {
    try guarded { () throws(StoreError) in
      guard let connection = try store.connection(id) else { return nil }
      let now = world.clock.now.milliseconds
      if var device = try store.registeredDevice(connection.owner),
        now - device.lastSeen > Accounts.useMilliseconds
      {
        device.lastSeen = now
        try store.keep(device)
      }
      return connection
    }
  }

  /// A connection that is used leaves the register no sooner than one that synchronizes.
  private static let useMilliseconds: Int64 = 3_600_000

  /// Registers it, where nobody else has its id. A device of the user keeps what is known of it.
  func register(_ connection: StoredConnection) throws(ServerError) -> RegisteredOutcome {
    if let no = try decision(connection.owner) { throw no }
    let outcome = try guarded { () throws(StoreError) -> RegisteredOutcome in
      if try store.add(connection) {
        return .registered(try store.connection(connection.id) ?? connection)
      }
      guard let known = try store.connection(connection.id),
        known.user.hasBytes(of: connection.user),
        known.application.hasBytes(of: connection.application)
      else { return .taken }
      return .known(known)
    }
    for accounts in users.accounts { accounts.registered[connection.owner] = nil }
    return outcome
  }

  /// A connection leaves the register with its payloads, and its sessions end; false where it is not
  /// there. What an operator decided about the device stays. Throws `deviceLocked` and `deviceWiped`.
  func unregister(_ connection: StoredConnection) throws(ServerError) -> Bool {
    if let no = try decision(connection.owner) { throw no }
    let isThere = try guarded { () throws(StoreError) in
      try store.connection(connection.id)?.user.hasBytes(of: connection.user) ?? false
    }
    guard isThere else { return false }
    try revoke(
      user: connection.user, device: connection.id, reason: Sessions.Ending.loggedOut)
    try forgetEvicted(connection.owner)
    for accounts in users.accounts { accounts.registered[connection.owner] = nil }
    return true
  }

  /// Uses an activation code for a connection. The connection that used it first may send it again,
  /// for the answer may have been lost.
  func useActivation(
    _ text: String, of user: String, for id: String
  ) throws(ServerError) -> ActivationVerdict {
    guard let code = ActivationCode(text) else { return .unknown }
    let place = Owner(device: code.device, user: user)
    return try guarded { () throws(StoreError) in
      guard var activation = try store.registeredDevice(place), activation.state == .activating,
        world.clock.now < activationEnd(activation)
      else {
        let isOthers = try store.registeredDevices().contains {
          $0.state == .activating && $0.device.hasBytes(of: code.device)
            && !$0.user.hasBytes(of: user)
        }
        return isOthers ? .otherUser : .unknown
      }
      guard activation.incarnation.isEmpty || activation.incarnation.hasBytes(of: id) else {
        return .otherDevice
      }
      activation.incarnation = id
      try store.keep(activation)
      return .good
    }
  }
}
