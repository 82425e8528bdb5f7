import FerrySQLite
import FerryWorld

/// How the registration of the application goes on, and what the app hears of it (facts/1.2).
extension Session {
  private static let isUnderWay = "registering"
  private static let isDone = "registered"

  func registrationStatus() throws(FerryError) -> RegistrationStatus {
    switch try setting(.registration) {
    case Session.isDone: .registered
    case .some: .registering
    case nil: .unregistered
    }
  }

  /// Logs in as a new application, with a code that is kept until it was taken.
  func register(_ credentials: Credentials) throws(FerryError) {
    isApplicationUsed = true
    let (user, code) = (credentials.user, credentials.code)
    try store.withTransaction { transaction throws(FerryError) in
      try transaction.set(.registration, Session.isUnderWay)
      try transaction.set(.activationCode, code)
      if let user { try transaction.set(.profileUser, user) }
    }
    tell(.registering)
    tellConnecting()
    login(credentials)
    requestExchange()
  }

  /// After a restart: a code goes on by itself, a password has to be asked for.
  func resumeRegistration() throws(FerryError) {
    guard try registrationStatus() == .registering, let user = try setting(.profileUser),
      let code = try setting(.activationCode)
    else { return }
    isApplicationUsed = true
    login(Credentials(user: user, code: code))
    requestExchange()
  }

  /// The server has taken the login.
  func registered() throws(FerryError) {
    guard try registrationStatus() == .registering else { return }
    try store.withTransaction { transaction throws(FerryError) in
      try transaction.set(.registration, Session.isDone)
      try transaction.set(.activationCode, nil)
    }
    tell(.registered)
    // The settings come with the first welcome.
    requestExchange()
  }

  /// The server has refused the login: nothing is tried again.
  func registrationFailed(_ error: FerryError) throws(FerryError) {
    guard try registrationStatus() == .registering else { return }
    try forget([.registration, .activationCode])
    isConnecting = false
    tell(.registrationError, error)
  }

  func tell(_ status: RegistrationStatus, _ error: FerryError? = nil) {
    observers.tell(.registrationChanged(status, error), .lasting)
  }

  func tellConnection(_ status: ConnectionStatus) {
    observers.tell(.connectionChanged(status), .lasting)
  }

  func tellConnecting() {
    guard !isConnected, !isConnecting else { return }
    isConnecting = true
    tellConnection(.connecting)
  }

  /// The line broke, or nobody answered; it is tried again by itself.
  func tellConnectionError() {
    guard isApplicationUsed, isConnected || isConnecting else { return }
    isConnecting = false
    tellConnection(.connectionError)
  }

  /// Opens the connection of a registered application.
  func startConnection() throws(FerryError) {
    isApplicationUsed = true
    guard !isConnected || !machine.isBackground else { return }
    tellConnecting()
    setBackground(true)
    requestExchange()
  }

  /// False where it was stopped already.
  func stopConnection() -> Bool {
    guard machine.isBackground || isConnected else { return false }
    isApplicationUsed = true
    tellConnection(.disconnecting)
    setBackground(false)
    return true
  }

  func connectionStopped() {
    (isConnected, isConnecting) = (false, false)
    tellConnection(.disconnected)
  }

  /// Nobody is logged in from now on; what is pending stays. The server hears of it as soon as it can.
  func logout() throws(FerryError) {
    credentials = nil
    happened(.loginEnded)
    isLoginDemanded = false
    try store.withTransaction { transaction throws(FerryError) in
      if let token = try transaction.setting(.refreshToken) {
        try transaction.set(.endedToken, token)
      }
      for name in [Settings.Name.refreshToken, .accessToken, .accessTokenExpires] {
        try transaction.set(name, nil)
      }
    }
    happened(.channelOutdated)
  }

  /// The token of a session that the server does not know to have ended.
  func endedToken() throws(FerryError) -> String? {
    try shown(try setting(.endedToken), .refreshToken)
  }

  /// The server knows.
  func forgetEnded(_ kept: String?) throws(FerryError) {
    guard try setting(.endedToken) == kept else { return }
    try forget([.endedToken])
    guard try setting(.refreshToken) == nil else { return }
    try forgetTokens()
  }

  /// The application is registered no more: no subscription, no session, no settings.
  func unregistered() throws(FerryError) {
    try forgetTokens()
    try forget([
      .registration, .activationCode, .subscribed, .subscribing, .suspended, .recovering,
      .applicationSettings,
    ])
    profileVersion += 1
    tell(.unregistered)
  }
}
