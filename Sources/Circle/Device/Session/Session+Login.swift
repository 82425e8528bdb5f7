import FerryJSON
import FerryModel
import FerrySQLite
import FerryWire
import FerryWorld

/// What comes of a login, of a renewed token, and of a server that says no to who asks.
extension Session {
  func connected() {
    offlineSince = nil
    // What is better now is no failure any more.
    if lastFailure?.code == .offline || lastFailure?.code == .notLoggedIn { lastFailure = nil }
    guard !isConnected else { return }
    isConnected = true
    isConnecting = false
    observers.tell(.connected)
    observers.tell(.connectionChanged(.connected))
  }

  func loggedIn(_ reception: Reception) throws(FerryError) {
    guard let answer = LoginAnswer(reception.text) else {
      fail(
        .exchange,
        FerryError(
          .protocolViolation, "the answer to the login cannot be read",
          hint: "Check that a Ferry server is at this address.", isTransient: true))
      return
    }
    if let error = try otherOwner(than: answer.user) {
      credentials = nil
      happened(.loginEnded)
      if offlineSince != nil { connected() }
      try refuseLogin(error)
      return
    }
    // A little early, so that no request leaves with a token that ends on its way.
    let life = min(max(1, answer.expiresIn), Session.longestToken) - 10
    let expires = store.world.clock.now.advanced(by: .seconds(max(1, life)))
    do throws(FerryError) {
      try keep(
        DeviceTokens(access: answer.accessToken, refresh: answer.refreshToken), expires: expires,
        of: answer.user)
    } catch {
      guard error.code == .secrets else { throw error }
      try cannotKeep(error, reception.kind)
      return
    }
    happened(.succeeded(.exchange, try facts()))
    (isLockTold, isLoginDemanded) = (false, false)
    try take(lease: answer.lease, sessionExpiresIn: answer.sessionExpiresIn)
    connected()
    guard reception.kind == .login else { return }
    credentials = nil
    happened(.loginEnded)
    observers.tell(.signedIn, .lasting)
    try registered()
  }

  /// The app's store takes no tokens now. A renewal is tried again with the token of before, a
  /// login is the user's to repeat.
  private func cannotKeep(_ error: FerryError, _ kind: Reception.Kind) throws(FerryError) {
    guard kind == .login else { return fail(.exchange, error) }
    credentials = nil
    happened(.loginEnded)
    try refuseLogin(error)
  }

  /// Seconds: a year.
  private static let longestToken: Int64 = 31_536_000

  func refused(_ lane: SessionMachine.Lane, _ reception: Reception) throws(FerryError) {
    let error = Session.serverError(reception.text, status: reception.status)
    let (message, hint) = (error.message, error.hint)
    let code = Session.code(reception.text)
    // A no of the server is an answer.
    if offlineSince != nil, reception.status < 500, code != nil { connected() }
    if lane == .channel, code == "tooManyChannels" {
      happened(.channelRefused)
      return
    }
    if let order = WipeOrder((try? JSONNode.parse(reception.text))?["wipe"]), try isOurs(order) {
      wipe = order
      happened(.stopped(lane))
      return
    }
    if code == "deviceLocked" {
      // The subscription stays: the operator may unlock the device at any time.
      let locked = FerryError(.deviceLocked, message, hint: hint)
      fail(lane, locked)
      try tellState()
      if !isLockTold { observers.tell(.signInFailed(locked), .lasting) }
      isLockTold = true
      try registrationFailed(locked)
      return
    }
    if code == "ambiguousTemplate", reception.kind == .login {
      credentials = nil
      happened(.loginEnded)
      try refuseLogin(FerryError(.notAllowed, message, hint: hint))
      return
    }
    guard reception.status == 401 else {
      fail(lane, error)
      if reception.status == 403 {
        try tellSubscribeFailure()
        if let lastFailure { try tellSubscriptionEnd(lastFailure) }
      }
      return
    }
    switch reception.kind {
    case .exchange, .channel, .upload:
      // The token ended or was revoked: renew it.
      try forget([.accessToken, .accessTokenExpires])
      happened(.tokenEnded(lane))
    case .token where code == "staleRights" || code == "refusedToken":
      // The issuer must let the user in again; the session itself goes on then.
      isLoginDemanded = true
      try refuseLogin(FerryError(.notLoggedIn, message, hint: hint), isRenewal: true)
    case .token:
      try forgetTokens()
      try refuseLogin(FerryError(.notLoggedIn, message, hint: hint), isRenewal: true)
    case .login:
      credentials = nil
      happened(.loginEnded)
      try refuseLogin(FerryError(.notLoggedIn, message, hint: hint))
    }
  }

  /// An order counts only for this copy of this device, from its own server.
  private func isOurs(_ order: WipeOrder) throws(FerryError) -> Bool {
    let own = [
      (try setting(.server), order.server), (try setting(.device), order.device),
      (try setting(.incarnation), order.incarnation),
    ]
    return own.allSatisfy { $0.0 == $0.1 }
  }

  /// The app's token source has nothing for a login.
  func hasNoToken(_ error: FerryError) throws(FerryError) {
    lanes[.exchange] = nil
    credentials = nil
    happened(.loginEnded)
    try refuseLogin(error)
  }

  /// Without a network a login waits, perhaps for long: the app hears it once for each login.
  func tellLoginDelay() {
    guard credentials != nil, !isLoginDelayTold, let error = lastFailure else { return }
    isLoginDelayTold = true
    observers.tell(.signInFailed(error), .lasting)
  }

  /// What an answer with an error says. Whatever stands at the address may be another server
  /// tomorrow; only a no is a no.
  static func serverError(_ text: [UInt8], status: Int) -> FerryError {
    let node = try? JSONNode.parse(text)
    if status == 503, node?["message"] == nil {
      return FerryError(
        .server, "the server is not ready (status 503)",
        hint: "The server is starting, or its proxy cannot reach it. Ferry tries again by itself.",
        isTransient: true)
    }
    return FerryError(
      status == 403 ? .notAllowed : .server,
      node?["message"]?.string ?? "the server answered with status \(status)",
      hint: node?["hint"]?.string ?? "The server's log has the reason.", isTransient: status != 403)
  }

  private static func code(_ text: [UInt8]) -> String? {
    (try? JSONNode.parse(text))?["code"]?.string
  }

  /// Why these credentials are not those of the database's user; nil where they may be, as a token
  /// of an issuer, or where nobody can tell now.
  func otherOwner(than credentials: Credentials) -> FerryError? {
    guard let user = credentials.user else { return nil }
    do throws(FerryError) { return try otherOwner(than: user) } catch { return nil }
  }

  func otherOwner(than user: String) throws(FerryError) -> FerryError? {
    guard let owner = try setting(.user), owner != user else { return nil }
    return FerryError(
      .otherOwner, "this database belongs to the user \(owner)",
      hint: "Sign \(owner) out first, or give the user \(user) a database file of their own.")
  }

  /// A login that never began.
  func refuseOther(_ error: FerryError) {
    loginFailure = error
    observers.tell(.signInFailed(error), .lasting)
  }

  /// `isRenewal`: nobody has logged in, and whoever does now may still succeed.
  func refuseLogin(_ error: FerryError, isRenewal: Bool = false) throws(FerryError) {
    if !isRenewal { loginFailure = error }
    if isLoggedIn(try facts()) {
      // Whoever was logged in before still is.
      happened(.loginRefused)
      try tellState()
      observers.tell(.signInFailed(error), .lasting)
      return try registrationFailed(error)
    }
    happened(.stopped(.exchange))
    lastFailure = error
    isServerLoading = false
    isLoginTold = true
    try tellState()
    observers.tell(.signInFailed(error), .lasting)
    try registrationFailed(error)
    try tellSubscribeFailure()
  }

  package func subscribe() throws(FerryError) {
    let isNew = try store.withTransaction { transaction throws(FerryError) in
      try SubscriptionSettings(transaction).begin()
    }
    if isNew { requestExchange() }
  }

  func tellSubscribeFailure() throws(FerryError) {
    guard let error = lastFailure, try setting(.subscribing) != nil else { return }
    try forget([.subscribing])
    observers.tell(.subscribeFailed(error), .lasting)
  }

  func forget(_ names: [Settings.Name]) throws(FerryError) {
    try store.write { connection throws(SQLiteError) in
      for name in names { try Settings.set(name, nil, connection) }
    }
  }
}
