import FerryCrypto
import FerryModel
import FerryWire
import FerryWorld

/// What a device gets when it logs in or renews its session.
package struct TokenPair: Sendable, Equatable {
  package let accessToken: String
  package let accessExpires: Timestamp
  package let refreshToken: String
  package let user: String
  /// When the user has to log in again.
  package let sessionExpires: Timestamp
  /// Whether the user had no session on this device before.
  var isNewDevice: Bool = false
  /// Seconds for which the device may use its data without the server.
  var lease: Int64?

  package func answer(now: Timestamp) -> LoginAnswer {
    var answer = LoginAnswer(
      accessToken: accessToken, refreshToken: refreshToken,
      expiresIn: (accessExpires.milliseconds - now.milliseconds) / 1_000, user: user)
    answer.lease = lease
    answer.sessionExpiresIn = (sessionExpires.milliseconds - now.milliseconds) / 1_000
    return answer
  }
}

/// Sessions of users. Passwords are verified outside, on a thread of its own.
extension Accounts {
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

  /// Changes the keys that seal tokens. Tokens of before stay good, so nobody has to log in.
  func rotateKeys() throws(ServerError) {
    for keys in [tokenKeys, sessions.keys] {
      try keys.rotate(store, now: world.clock.now) { world.chance.bytes(32) }
    }
    for accounts in users.accounts where accounts !== self { try accounts.loadKeys() }
  }

  /// Another node may have changed the keys.
  func loadKeys() throws(ServerError) {
    for keys in [tokenKeys, sessions.keys] { _ = try keys.load(store, now: world.clock.now) }
  }

  /// Opens a session for a user whom an `AuthenticationProvider` has vouched for.
  func login(
    _ record: UserRecord, device: String, package: String? = nil, key: [UInt8]? = nil
  ) throws(ServerError) -> TokenPair {
    let owner = Owner(device: device, user: record.name)
    if let no = try decision(owner) { throw no }
    try enrol(owner, package: package)
    defer { users.sessions.forget(of: record.name) }
    let (session, token, isKnown, evicted) = try guarded { () throws(StoreError) in
      try store.transaction { () throws(StoreError) in
        let isKnown = try store.hasSession(user: record.name, device: device)
        let (session, token) = try sessions.begin(
          user: record.name, device: device, stamp: record.stamp, key: key)
        let evicted = try store.boundSessions(
          user: record.name, device: device, perDevice: limits.sessionsPerDevice,
          devices: limits.devicesPerUser)
        return (session, token, isKnown, evicted)
      }
    }
    for device in evicted {
      endExchanges(of: record.name, device: device)
      try forgetEvicted(Owner(device: device, user: record.name))
      core.tell(.sessionEnded(user: record.name, device: device, reason: "evicted"))
    }
    var pair = pair(record, session, token)
    pair.isNewDevice = !isKnown
    return pair
  }

  /// Opens a session for a user of an issuer, and keeps what the token says as the rights of now.
  func login(
    _ login: TokenLogin, device: String, package: String? = nil, key: [UInt8]? = nil
  ) throws(ServerError) -> TokenPair {
    try note(login)
    return try self.login(
      tokenUsers.record(of: login.record.name) ?? login.record, device: device, package: package,
      key: key)
  }

  /// A token of an issuer was seen: what it says are the user's rights of now, where it is the newest.
  func note(_ login: TokenLogin) throws(ServerError) {
    let name = login.record.name
    let before = tokenUsers.record(of: name)
    let wasKnown = tokenUsers.areRightsKnown(of: name, now: world.clock.now)
    guard tokenUsers.note(login) else { return }
    try guarded { () throws(StoreError) in
      try store.keep(
        StoredTokenUser(
          user: name, roles: login.record.roles, claims: login.record.claims,
          issued: login.issued.milliseconds, packages: login.record.packages.names))
    }
    // What waited for newer rights goes on.
    if !wasKnown {
      for accounts in users.accounts {
        accounts.core.arrivedOperations += 1
      }
      users.tellOthers(.arrived, than: self)
    }
    if let before, before != login.record { rightsChanged(of: name) }
  }

  /// Renews a session with the user's record as it is now.
  ///
  /// Throws `revokedToken` where the session has ended or ends now: the app must log in; its pending
  /// work stays. Throws `staleRights` where the user's issuer has to give a newer token first.
  func renew(
    _ refreshToken: String, device: String, proof: TokenProof? = nil,
    provider: any AuthenticationProvider
  ) throws(ServerError) -> TokenPair {
    let known = try guarded { () throws(StoreError) in
      try sessions.session(ofToken: refreshToken)
    }
    if let known, known.device.hasBytes(of: device), known.ended == nil,
      !provider.areRightsKnown(of: known.user, now: world.clock.now)
    {
      throw Accounts.staleRights
    }
    defer { if let known { users.sessions.forget(of: known.user) } }
    switch try guarded({ () throws(StoreError) in
      try sessions.renew(refreshToken, device: device, proof: proof)
    }) {
    case .renewed(var session, let token, let isRepeat):
      if isRepeat { core.tell(.tokenRepeated(user: session.user, device: session.device)) }
      guard let record = provider.record(of: session.user) else {
        try revoke(user: session.user, reason: Sessions.Ending.userRemoved)
        throw Accounts.ended
      }
      if session.stamp.isEmpty, !record.stamp.isEmpty {
        session.stamp = record.stamp
        try guarded { () throws(StoreError) in try store.keep(session) }
      }
      guard session.stamp.hasBytes(of: record.stamp) else {
        try revoke(
          user: session.user, device: session.device, reason: Sessions.Ending.credentialsChanged)
        throw Accounts.ended
      }
      return pair(record, session, token)
    case .reused(let session):
      endExchanges(of: session.user, device: session.device)
      core.tell(
        .sessionEnded(user: session.user, device: session.device, reason: Sessions.Ending.reused))
      throw Accounts.ended
    case .over(let session):
      throw try decision(Owner(device: session.device, user: session.user)) ?? Accounts.ended
    case .unknown: throw Accounts.ended
    }
  }

  /// What is known of the session that a refresh token names: for a simulation that judges by itself.
  func knownSession(
    _ refreshToken: String
  ) throws(ServerError) -> (used: Int64, isOpen: Bool)? {
    let session = try guarded { () throws(StoreError) in
      try sessions.session(ofToken: refreshToken)
    }
    return session.map { ($0.used, $0.ended == nil && !sessions.isTooOld($0)) }
  }

  /// Whether the session of a request is open. A token lives on for 15 minutes; its session may end
  /// before. Throws `revokedToken` and `staleRights`.
  func check(_ identity: Identity) throws(ServerError) {
    guard let id = identity.session else { return }
    if let provider {
      guard provider.areRightsKnown(of: identity.user, now: world.clock.now) else {
        throw Accounts.staleRights
      }
    }
    guard let session = try session(id, of: identity.user) else { throw Accounts.ended }
    guard session.ended == nil, !sessions.isTooOld(session) else {
      throw try decision(Owner(device: session.device, user: session.user)) ?? Accounts.ended
    }
    guard let record = provider?.record(of: identity.user), !session.stamp.isEmpty,
      !session.stamp.hasBytes(of: record.stamp)
    else { return }
    try revoke(
      user: session.user, device: session.device, reason: Sessions.Ending.credentialsChanged)
    throw Accounts.ended
  }

  /// Whether the user may use this package now.
  func mayUsePackage(_ identity: Identity) -> Bool { packages(of: identity).include(package.name) }

  /// As the user's record says now. Who has none is refused where the session is looked at.
  func packages(of identity: Identity) -> AllowedPackages {
    provider?.record(of: identity.user)?.packages ?? identity.packages
  }

  /// As it was at the last look at the store, where that was not long ago.
  private func session(_ id: String, of user: String) throws(ServerError) -> StoredSession? {
    if core.hasRecentView, let known = users.sessions.session(id, of: user) { return known }
    let session = try guarded { () throws(StoreError) in try store.session(id) }
    if let session { users.sessions.note(session) }
    return session
  }

  static let ended = ServerError(
    .revokedToken, "the session has ended",
    hint: "Log in again. Pending changes stay on the device.")

  static let staleRights = ServerError(
    .staleRights, "the newest issuer token of this user is too old",
    hint: "Send a newer one with the login or the renewal. Pending changes wait.")

  /// Ends the sessions of a user, on one device or on all, and closes their open lines. A business
  /// transaction that has begun is finished.
  func revoke(
    user: String, device: String? = nil, reason: String = "loggedOut"
  ) throws(ServerError) {
    defer { users.sessions.forget(of: user) }
    try guarded { () throws(StoreError) in
      try store.endSessions(user: user, device: device, reason: reason)
    }
    endExchanges(of: user, device: device)
    core.tell(.sessionEnded(user: user, device: device, reason: reason))
  }

  /// Their lines look at the rights again.
  func rightsChanged(of user: String) { users.tellAll(.rightsChanged(user: user)) }

  /// In all packages of the server.
  func endExchanges(of user: String, device: String?) {
    users.tellAll(.accessEnded(user: user, device: device))
  }

  private func pair(_ record: UserRecord, _ session: StoredSession, _ refresh: String) -> TokenPair
  {
    let access = accessTokens.issue(
      record, device: session.device, session: session.id, now: world.clock.now)
    var pair = TokenPair(
      accessToken: access.text, accessExpires: access.expires, refreshToken: refresh,
      user: record.name, sessionExpires: sessions.end(of: session))
    pair.lease = limits.leaseDays.map { $0 * 86_400 }
    return pair
  }
}
