/// The registration of an application, and its connection.
extension Session {
  func registrationStatus() throws(FerryError) -> RegistrationStatus {
    try signIn.registrationStatus()
  }

  /// Logs in as a new application, with a code that is kept until the server has accepted it.
  func register(_ credentials: Credentials) throws(FerryError) {
    try signIn.beginRegistration(credentials)
  }

  /// After a restart: a code goes on by itself, a password has to be asked for.
  func resumeRegistration() throws(FerryError) { try signIn.resumeRegistration() }

  /// The application is registered no more: no subscription, no session, no settings.
  func unregistered() throws(FerryError) { try signIn.unregistered() }

  func announce(_ status: RegistrationStatus, _ error: FerryError? = nil) {
    core.announcements.registration(status, error)
  }

  /// Nobody is logged in from now on; pending changes stay.
  func logout() throws(FerryError) { try signIn.logout() }

  /// The token of a session that the server does not know to have ended.
  func endedToken() throws(FerryError) -> String? { try core.tokens.endedToken() }

  /// The server knows that the session has ended.
  func forgetEnded(_ kept: String?) throws(FerryError) { try core.tokens.forgetEnded(kept) }

  /// Opens the connection of a registered application.
  func startConnection() throws(FerryError) {
    core.announcements.applicationUsed()
    guard !core.isConnected || !machine.isBackground else { return }
    if !core.isConnected { core.announcements.connecting() }
    setBackground(true)
    requestExchange()
  }

  /// False if it was stopped already.
  func stopConnection() -> Bool {
    guard machine.isBackground || core.isConnected else { return false }
    core.announcements.applicationUsed()
    core.announcements.connection(.disconnecting)
    setBackground(false)
    return true
  }

  func connectionStopped() { core.connectionStopped() }
}
