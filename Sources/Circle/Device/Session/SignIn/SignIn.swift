import FerryJSON
import FerryWire
import FerryWorld

/// The login of the device's user: what is sent for it, what the server says to it, and the
/// registration that goes with it.
final class SignIn {
  let core: SessionCore
  private var credentials: Credentials?
  /// Why the login of those who wait for one failed; they get it.
  private(set) var failure: FerryError?

  init(core: SessionCore) { self.core = core }

  var store: Store { core.store }

  var isUnderWay: Bool { credentials != nil }

  /// A login of another user than the database's is refused here: the server need not say it, and
  /// nothing that is under way is disturbed.
  func begin(_ credentials: Credentials) {
    if let error = otherOwner(than: credentials) {
      failure = error
      core.announcements.signInFailed(error)
      return
    }
    self.credentials = credentials
    core.happened(.loginRequested)
    core.announcements.again(.loginDelayed)
    if core.lastFailure?.code == .notLoggedIn { core.lastFailure = nil }
  }

  /// Once for each refused login.
  func takeFailure() -> FerryError? {
    defer { failure = nil }
    return failure
  }

  /// The credentials are not needed any more.
  func end() {
    credentials = nil
    core.happened(.loginEnded)
  }

  /// Another user may come.
  func reset() { failure = nil }

  // What is sent.

  func loginRequest() throws(FerryError) -> SessionRequest {
    let device = try store.setting(.device) ?? ""
    var writer = JSONWriter()
    writer.beginObject()
    let isByToken = credentials == .token
    if !isByToken {
      writer.field("user", credentials?.user)
      if let code = credentials?.code {
        writer.field("code", code)
      } else {
        writer.field("password", credentials?.password)
      }
    }
    writer.field("device", device)
    writer.field("package", store.model.id)
    core.tokens.nameKey(&writer)
    writer.endObject()
    var request = SessionRequest(lane: .exchange, path: "login", body: writer.bytes, token: nil)
    request.tokenUse = isByToken ? .login : nil
    return request
  }

  func renewalRequest() throws(FerryError) -> SessionRequest {
    var writer = JSONWriter()
    writer.beginObject()
    let refresh = try core.tokens.token(.refreshToken)
    writer.field("refreshToken", refresh)
    writer.field("device", try store.setting(.device))
    if let refresh { try core.tokens.prove(refresh, &writer) }
    writer.endObject()
    var request = SessionRequest(lane: .exchange, path: "token", body: writer.bytes, token: nil)
    request.tokenUse = .renewal
    return request
  }

  // What the server says.

  /// Seconds: a year.
  private static let longestToken: Int64 = 31_536_000

  /// The tokens of a login or a renewal. Returns why a renewal failed on this device.
  func accept(_ answer: LoginAnswer, isRenewal: Bool) throws(FerryError) -> FerryError? {
    if let error = try otherOwner(than: answer.user) {
      end()
      if core.offlineSince != nil { core.connected() }
      try refuse(error)
      return nil
    }
    // A little early, so that no request leaves with a token that ends on its way.
    let life = min(max(1, answer.expiresIn), SignIn.longestToken) - 10
    let expires = store.world.clock.now.advanced(by: .seconds(max(1, life)))
    do throws(FerryError) {
      try core.tokens.keep(
        DeviceTokens(access: answer.accessToken, refresh: answer.refreshToken), expires: expires,
        of: answer.user)
    } catch {
      guard error.code == .secrets else { throw error }
      // The app's store takes no tokens now. A renewal is tried again with the token of before, a
      // login is the user's to repeat.
      if isRenewal { return error }
      end()
      try refuse(error)
      return nil
    }
    core.happened(.succeeded(.exchange, try core.facts()))
    core.announcements.again(.deviceLocked)
    core.isLoginDemanded = false
    try core.announcements.take(lease: answer.lease, sessionExpiresIn: answer.sessionExpiresIn)
    core.connected()
    guard !isRenewal else { return nil }
    end()
    core.observers.tell(.signedIn, .lasting)
    try registered()
    return nil
  }

  /// `isRenewal`: nobody has logged in, and whoever does now may still succeed.
  func refuse(_ error: FerryError, isRenewal: Bool = false) throws(FerryError) {
    if !isRenewal { failure = error }
    if core.isLoggedIn(try core.facts()) {
      // Whoever was logged in before still is.
      core.happened(.loginRefused)
      try core.postState()
      core.announcements.signInFailed(error)
      return try registrationFailed(error)
    }
    core.happened(.stopped(.exchange))
    core.lastFailure = error
    core.serverLoaded()
    _ = core.announcements.once(.loginMissing)
    try core.postState()
    core.announcements.signInFailed(error)
    try registrationFailed(error)
    try core.announcements.subscribeFailed(core.lastFailure)
  }

  /// Without a network a login waits, perhaps for long: the app hears it once for each login.
  func announceDelay() {
    guard credentials != nil, let error = core.lastFailure,
      core.announcements.once(.loginDelayed)
    else { return }
    core.announcements.signInFailed(error)
  }

  /// Nobody is logged in from now on; pending changes stay. The server hears of it as soon as it can.
  func logout() throws(FerryError) {
    end()
    core.isLoginDemanded = false
    try core.tokens.endSession()
    core.happened(.channelOutdated)
  }

  // The owner of the database.

  /// Why these credentials are not those of the database's user. Nil if they may be, as a token of
  /// an issuer, or if nobody can tell now.
  private func otherOwner(than credentials: Credentials) -> FerryError? {
    guard let user = credentials.user else { return nil }
    do throws(FerryError) { return try otherOwner(than: user) } catch { return nil }
  }

  private func otherOwner(than user: String) throws(FerryError) -> FerryError? {
    guard let owner = try store.setting(.user), owner != user else { return nil }
    return FerryError(
      .otherOwner, "this database belongs to the user \(owner)",
      hint: "Sign \(owner) out first, or give the user \(user) a database file of their own.")
  }
}
