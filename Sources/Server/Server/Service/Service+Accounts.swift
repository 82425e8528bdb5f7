import FerryModel
import FerryWire
import FerryWorld

/// The calls about sessions, devices and rights.
extension Service {
  /// What the tokens of issuers said of their users.
  package var tokenUsers: TokenUsers { accounts.tokenUsers }

  /// Verifies the tokens of requests; a value that may go to any thread.
  package var accessTokens: AccessTokens { accounts.accessTokens }

  /// The key files that this start has made: their tokens of before are no good any more.
  var madeKeys: [String] { accounts.madeKeys }

  /// What devices get by which they are registered.
  package var templates: Templates {
    get { accounts.templates }
    set { accounts.templates = newValue }
  }

  /// Who knows each user's rights of now; nil: those with which an operation arrived are all.
  package var provider: (any AuthenticationProvider)? {
    get { accounts.provider }
    set { accounts.provider = newValue }
  }

  /// Whether the driver calls `keepDueVisits`; without it each visit is written at once.
  var collectsVisits: Bool {
    get { accounts.collectsVisits }
    set { accounts.collectsVisits = newValue }
  }

  /// What an operator's request carries: 32 hexadecimal digits in the file `operator.key`, made
  /// the first time. Text, so that it can be put into a header by hand.
  func operatorKey() throws(ServerError) -> String {
    defer { handOut() }
    return try accounts.operatorKey()
  }

  /// Changes the keys that seal tokens. Tokens of before stay good, so nobody has to log in.
  func rotateKeys() throws(ServerError) {
    defer { handOut() }
    try accounts.rotateKeys()
  }

  /// Opens a session for a user whom an `AuthenticationProvider` has vouched for.
  package func login(
    _ record: UserRecord, device: String, package: String? = nil, key: [UInt8]? = nil
  ) throws(ServerError) -> TokenPair {
    defer { handOut() }
    return try accounts.login(record, device: device, package: package, key: key)
  }

  /// Opens a session for a user of an issuer, and keeps what the token says as the rights of now.
  package func login(
    _ login: TokenLogin, device: String, package: String? = nil, key: [UInt8]? = nil
  ) throws(ServerError) -> TokenPair {
    defer { handOut() }
    return try accounts.login(login, device: device, package: package, key: key)
  }

  /// A token of an issuer was seen: what it says are the user's rights of now, where it is the newest.
  func note(_ login: TokenLogin) throws(ServerError) {
    defer { handOut() }
    try accounts.note(login)
  }

  /// Renews a session with the user's record as it is now.
  ///
  /// Throws `revokedToken` where the session has ended or ends now: the app must log in; its pending
  /// work stays. Throws `staleRights` where the user's issuer has to give a newer token first.
  package func renew(
    _ refreshToken: String, device: String, proof: TokenProof? = nil,
    provider: any AuthenticationProvider
  ) throws(ServerError) -> TokenPair {
    defer { handOut() }
    return try accounts.renew(refreshToken, device: device, proof: proof, provider: provider)
  }

  /// What is known of the session that a refresh token names: for a simulation that judges by itself.
  package func knownSession(
    _ refreshToken: String
  ) throws(ServerError) -> (used: Int64, isOpen: Bool)? {
    defer { handOut() }
    return try accounts.knownSession(refreshToken)
  }

  /// Whether the session of a request is open. A token lives on for 15 minutes; its session may end
  /// before. Throws `revokedToken` and `staleRights`.
  package func check(_ identity: Identity) throws(ServerError) {
    defer { handOut() }
    try accounts.check(identity)
  }

  /// Ends the sessions of a user, on one device or on all, and closes their open lines. A business
  /// transaction that has begun is finished.
  package func revoke(
    user: String, device: String? = nil, reason: String = "loggedOut"
  ) throws(ServerError) {
    defer { handOut() }
    try accounts.revoke(user: user, device: device, reason: reason)
  }

  /// A device ends its own session, and leaves the register where it wants to.
  func logout(
    _ refreshToken: String, device: String, isUnregistering: Bool
  ) throws(ServerError) -> String? {
    defer { handOut() }
    return try accounts.logout(refreshToken, device: device, isUnregistering: isUnregistering)
  }

  /// An activation code for a user: who has it logs in on one device, without a password.
  func makeActivation(
    of user: String, template: String?
  ) throws(ServerError) -> (code: String, expires: Timestamp) {
    defer { handOut() }
    return try accounts.makeActivation(of: user, template: template)
  }

  /// Opens a session for who has an activation code. Throws `wrongLogin`.
  func activate(
    _ text: String, of user: String, device: String, package: String? = nil, key: [UInt8]? = nil
  ) throws(ServerError) -> (UserRecord, TokenPair) {
    defer { handOut() }
    return try accounts.activate(text, of: user, device: device, package: package, key: key)
  }

  /// All devices that were here.
  package func devices() throws(ServerError) -> [RegisteredDevice] {
    defer { handOut() }
    return try accounts.devices()
  }

  /// What an operator does with a device. Throws `badRequest` where there is no such device, or this
  /// cannot be done with it.
  package func decide(
    _ verb: DeviceVerb, _ owner: Owner, reason: String, withPending: Bool
  ) throws(ServerError) -> RegisteredDevice {
    defer { handOut() }
    return try accounts.decide(
      verb, owner, reason: reason, withPending: withPending,
      waiting: accounts.users.services.reduce(0) { $0 + $1.unanswered(of: owner) })
  }

  func unanswered(of owner: Owner) -> Int { operations.unanswered(of: owner) }

  /// Registers a device by another template; its settings travel at once.
  func assign(_ template: String, to owner: Owner) throws(ServerError) -> RegisteredDevice {
    defer { handOut() }
    return try accounts.assign(template, to: owner)
  }

  /// Says how much the app of a device logs; nil: what its template says.
  func setLogLevel(_ level: String?, of owner: Owner) throws(ServerError) -> RegisteredDevice {
    defer { handOut() }
    return try accounts.setLogLevel(level, of: owner)
  }

  /// Notes what a device says about the order to wipe itself. Throws `badRequest` where the receipt is
  /// not that of the order.
  package func take(
    _ receipt: WipeReceipt, _ text: String, from owner: Owner
  ) throws(ServerError) {
    defer { handOut() }
    try accounts.take(receipt, text, from: owner)
  }

  /// The templates have changed: open channels look whether their devices have older settings.
  func templatesChanged() {
    defer { handOut() }
    accounts.templatesChanged()
  }

  /// Writes the visits that have waited for long enough, in one transaction. Call it each second. A
  /// store that fails is heard of by `storeFailed`; the visits stay.
  func keepDueVisits() {
    defer { handOut() }
    accounts.keepDueVisits()
  }

  /// Writes all visits that wait, in one transaction.
  func keepVisits() throws(ServerError) {
    defer { handOut() }
    try accounts.keepVisits()
  }

  /// No other package of the server knows the service any more.
  func leaveOthers() { accounts.users.remove(self) }

  /// After `leaveOthers`, once the last call of the business system has returned.
  func endPerforming() { accounts.users.ended(self) }
}
