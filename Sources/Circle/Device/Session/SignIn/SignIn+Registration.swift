import FerrySQLite

/// The steps of the registration, and what the app hears of it (facts/1.2).
extension SignIn {
  private static let registeringText = "registering"
  private static let registeredText = "registered"

  func registrationStatus() throws(FerryError) -> RegistrationStatus {
    switch try store.setting(.registration) {
    case SignIn.registeredText: .registered
    case .some: .registering
    case nil: .unregistered
    }
  }

  /// Keeps the code until the server has accepted it.
  func beginRegistration(_ credentials: Credentials) throws(FerryError) {
    core.announcements.applicationUsed()
    let (user, code) = (credentials.user, credentials.code)
    try store.withTransaction { transaction throws(FerryError) in
      try transaction.set(.registration, SignIn.registeringText)
      try transaction.set(.activationCode, code)
      if let user { try transaction.set(.profileUser, user) }
    }
    core.announcements.registration(.registering)
    if !core.isConnected { core.announcements.connecting() }
    begin(credentials)
    core.requestExchange()
  }

  /// After a restart: a code goes on by itself, a password has to be asked for.
  func resumeRegistration() throws(FerryError) {
    guard try registrationStatus() == .registering, let user = try store.setting(.profileUser),
      let code = try store.setting(.activationCode)
    else { return }
    core.announcements.applicationUsed()
    begin(Credentials(user: user, code: code))
    core.requestExchange()
  }

  /// The server has accepted the login.
  func registered() throws(FerryError) {
    guard try registrationStatus() == .registering else { return }
    try store.withTransaction { transaction throws(FerryError) in
      try transaction.set(.registration, SignIn.registeredText)
      try transaction.set(.activationCode, nil)
    }
    core.announcements.registration(.registered)
    // The settings come with the first welcome.
    core.requestExchange()
  }

  /// The server has refused the login: nothing is tried again.
  func registrationFailed(_ error: FerryError) throws(FerryError) {
    guard try registrationStatus() == .registering else { return }
    try store.remove([.registration, .activationCode])
    core.announcements.connectingEnded()
    core.announcements.registration(.registrationError, error)
  }

  /// The application is registered no more: no subscription, no session, no settings.
  func unregistered() throws(FerryError) {
    try core.tokens.forget()
    try store.remove([
      .registration, .activationCode, .subscribed, .subscribing, .suspended, .recovering,
      .applicationSettings,
    ])
    core.profileChanged()
    core.announcements.registration(.unregistered)
  }
}
