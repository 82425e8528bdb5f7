import FerryCrypto
import FerryModel
import FerryWire
import FerryWorld

/// What a device gets when it logs in or renews its session.
public struct TokenPair: Sendable, Equatable {
  public let accessToken: String
  public let accessExpires: Timestamp
  public let refreshToken: String
  public let user: String
  /// Whether the user had no session on this device before.
  var isNewDevice: Bool = false

  package func answer(now: Timestamp) -> LoginAnswer {
    LoginAnswer(
      accessToken: accessToken, refreshToken: refreshToken,
      expiresIn: (accessExpires.milliseconds - now.milliseconds) / 1_000, user: user)
  }
}

/// Sessions of users. Passwords are verified outside, on a thread of its own.
extension Service {
  /// What an operator's request carries: 32 hexadecimal digits in the file `operator.key`, made
  /// the first time. Text, so that it can be put into a header by hand.
  func operatorKey() throws(ServerError) -> String {
    let bytes = try secret("operator.key") { Array(hexadecimal(world.chance.bytes(16)).utf8) }
    return String(decoding: bytes, as: UTF8.self)
  }

  func secret(_ name: String, _ make: () -> [UInt8]) throws(ServerError) -> [UInt8] {
    try store.secret(name) {
      madeKeys.append(name)
      return make()
    }
  }

  /// Opens a session for a user whom an `AuthenticationProvider` has vouched for.
  public func login(_ record: UserRecord, device: String) throws(ServerError) -> TokenPair {
    let (refresh, isKnown) = try guarded { () throws(StoreError) in
      try store.transaction { () throws(StoreError) in
        let isKnown = try store.hasSession(user: record.name, device: device)
        let token = try refreshTokens.issue(user: record.name, device: device)
        try store.boundSessions(
          user: record.name, device: device, perDevice: limits.sessionsPerDevice,
          devices: limits.devicesPerUser)
        return (token, isKnown)
      }
    }
    var pair = pair(record, device, refresh)
    pair.isNewDevice = !isKnown
    return pair
  }

  /// Renews a session with the user's record as it is now.
  ///
  /// Throws `revokedToken` for a token that is unknown, too old, of another device, or whose
  /// successor was used already: the app must log in; its pending work stays.
  public func renew(
    _ refreshToken: String, device: String, provider: any AuthenticationProvider
  ) throws(ServerError) -> TokenPair {
    let rotated = try guarded { () throws(StoreError) in
      try refreshTokens.rotate(refreshToken, device: device)
    }
    guard let rotated, let record = provider.record(of: rotated.user) else {
      if let rotated { try revoke(user: rotated.user) }
      throw ServerError(
        .revokedToken, "the session has ended",
        hint: "Log in again. Pending changes stay on the device.")
    }
    return pair(record, device, rotated.next)
  }

  /// The user as the provider has it; with a planted bug as it was at the first login.
  private func plantedRecord(_ record: UserRecord) -> UserRecord {
    guard world.has(.staleClaims) else { return record }
    let user = ExactText(record.name)
    let first = firstRecords[user] ?? record
    firstRecords[user] = first
    return UserRecord(name: record.name, roles: record.roles, claims: first.claims)
  }

  /// Ends the sessions of a user, on one device or on all. Access tokens end by themselves within
  /// 15 minutes.
  public func revoke(user: String, device: String? = nil) throws(ServerError) {
    try guarded { () throws(StoreError) in
      try store.endSessions(user: user, device: device)
    }
  }

  private func pair(_ record: UserRecord, _ device: String, _ refresh: String) -> TokenPair {
    let record = plantedRecord(record)
    let access = accessTokens.issue(record, device: device, now: world.clock.now)
    return TokenPair(
      accessToken: access.text, accessExpires: access.expires, refreshToken: refresh,
      user: record.name)
  }
}
