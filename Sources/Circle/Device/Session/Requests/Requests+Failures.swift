import FerryJSON
import FerryWire
import FerryWorld

/// What comes of requests that fail, and of a server that refuses them.
extension Requests {
  func fail(_ lane: SessionMachine.Lane, _ error: FerryError) {
    if lane == .exchange || !error.isTransient { core.serverLoaded() }
    // A disk that is away may come back: what waits must not wait for the app to ask again.
    if error.isTransient || error.code == .store || error.code == .readOnly {
      core.happened(.failed(lane, chance: store.world.chance.next()))
    } else {
      core.happened(.stopped(lane))
    }
    core.lastFailure = error
    core.announcements.need(of: error)
    if lane == .exchange, plans.current != nil {
      plans.end(error)
      if core.isReplicationBased { core.happened(.exchangeDropped) }
    }
    if core.isConnected || lane == .exchange, error.code == .offline {
      core.disconnected(error)
    } else if error.code != .offline {
      store.world.log.warn("the session was interrupted", ("reason", error.description))
    }
  }

  /// The answer to a login or a renewal.
  func loggedIn(_ reception: Reception) throws(FerryError) {
    guard let answer = LoginAnswer(reception.text) else {
      fail(
        .exchange,
        FerryError(
          .protocolViolation, "the answer to the login cannot be read",
          hint: "Check that a Ferry server is at this address.", isTransient: true))
      return
    }
    if let error = try signIn.accept(answer, isRenewal: reception.kind == .token) {
      fail(.exchange, error)
    }
  }

  /// The app's token source has no token for a login.
  func hasNoToken(_ error: FerryError) throws(FerryError) {
    drop(.exchange)
    signIn.end()
    try signIn.refuse(error)
  }

  func refused(_ lane: SessionMachine.Lane, _ reception: Reception) throws(FerryError) {
    let error = Requests.serverError(reception.text, status: reception.status)
    let (message, hint) = (error.message, error.hint)
    let code = Requests.code(reception.text)
    // A no of the server is an answer.
    if core.offlineSince != nil, reception.status < 500, code != nil { core.connected() }
    if lane == .channel, code == "tooManyChannels" {
      core.happened(.channelRefused)
      return
    }
    if let order = WipeOrder((try? JSONNode.parse(reception.text))?["wipe"]), try isOurs(order) {
      wipe = order
      core.happened(.stopped(lane))
      return
    }
    if code == "deviceLocked" {
      // The subscription stays: the operator may unlock the device at any time.
      let locked = FerryError(.deviceLocked, message, hint: hint)
      fail(lane, locked)
      try core.postState()
      core.announcements.locked(locked)
      try signIn.registrationFailed(locked)
      return
    }
    if code == "ambiguousTemplate", reception.kind == .login {
      signIn.end()
      try signIn.refuse(FerryError(.notAllowed, message, hint: hint))
      return
    }
    guard reception.status == 401 else {
      fail(lane, error)
      if reception.status == 403 {
        try core.announcements.subscribeFailed(core.lastFailure)
        if let failure = core.lastFailure { try core.announcements.subscriptionEnded(failure) }
      }
      return
    }
    switch reception.kind {
    case .exchange, .channel, .upload:
      // The token ended or was revoked: renew it.
      try core.tokens.forgetAccess()
      core.happened(.tokenEnded(lane))
    case .token where code == "staleRights" || code == "refusedToken":
      // The issuer must let the user in again; the session itself goes on then.
      core.isLoginDemanded = true
      try signIn.refuse(FerryError(.notLoggedIn, message, hint: hint), isRenewal: true)
    case .token:
      try core.tokens.forget()
      try signIn.refuse(FerryError(.notLoggedIn, message, hint: hint), isRenewal: true)
    case .login:
      signIn.end()
      try signIn.refuse(FerryError(.notLoggedIn, message, hint: hint))
    }
  }

  /// An order counts only for this copy of this device, from its own server.
  private func isOurs(_ order: WipeOrder) throws(FerryError) -> Bool {
    let own = [
      (try store.setting(.server), order.server), (try store.setting(.device), order.device),
      (try store.setting(.incarnation), order.incarnation),
    ]
    return own.allSatisfy { $0.0 == $0.1 }
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
}
