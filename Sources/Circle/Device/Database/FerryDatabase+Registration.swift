/// The life of an application connection: registered once, then started and stopped.
///
/// Each call does nothing where its state is reached already. With a `limit` of zero it returns at
/// once; `registrationChanged` and `connectionChanged` tell what comes of it.
///
/// ```swift
/// try database.updateSynchronizationProfile { $0.user = "nancy" }
/// try await database.registerApplication(activationCode: "ABCD-EFGH-JKMN", within: .seconds(30))
/// try await database.startConnection()
/// ```
extension FerryDatabase {
  /// The state of the registration; it is kept over restarts.
  public var registrationStatus: RegistrationStatus {
    get async throws(FerryError) { try await runner.registrationStatus() }
  }

  /// Registers this device with the server, with the password of the synchronization profile, a
  /// token of the `tokenSource`, or the activation code that the operator gave the user.
  ///
  /// Without a network it continues by itself as soon as there is one; with an activation code also
  /// after a restart of the app. Errors: `connectionProperty` if user or password is missing. If
  /// `limit` is not zero, also `timedOut` after it, `offline` if the server does not answer, and
  /// `notLoggedIn`, `notAllowed` or `deviceLocked` if it refuses.
  public func registerApplication(
    activationCode: String? = nil, within limit: Duration = .zero
  ) async throws(FerryError) {
    guard try await registrationStatus != .registered else { return }
    let credentials = try registrationCredentials(activationCode)
    try await runner.act { session throws(FerryError) in try session.register(credentials) }
    guard limit > .zero else { return }
    try await runner.synchronize(awaitsAnswers: false, within: limit)
  }

  private func registrationCredentials(_ code: String?) throws(FerryError) -> Credentials {
    let profile = try synchronizationProfile
    if code == nil, connection.tokenSource != nil, profile.password == nil { return .token }
    guard let user = profile.user, !user.isEmpty else {
      throw FerryError(
        .connectionProperty, "the synchronization profile names no user",
        hint: "Set it with updateSynchronizationProfile.")
    }
    if let code {
      guard !code.isEmpty else {
        throw FerryError(
          .connectionProperty, "the activation code is empty",
          hint: "Ask the administrator for one.")
      }
      return Credentials(user: user, code: code)
    }
    guard let password = profile.password else {
      throw FerryError(
        .connectionProperty, "the synchronization profile has no password",
        hint: "Set it with updateSynchronizationProfile, or give an activation code.")
    }
    return Credentials(user: user, password: password)
  }

  /// Connects a registered application and keeps its data fresh, as
  /// `startBackgroundSynchronization` does. `notRegistered` before `registerApplication`; otherwise
  /// the errors of that call.
  public func startConnection(within limit: Duration = .zero) async throws(FerryError) {
    guard try await registrationStatus == .registered else {
      throw FerryError(
        .notRegistered, "the application is not registered on this device",
        hint: "Call registerApplication first.")
    }
    try await runner.act { session throws(FerryError) in try session.startConnection() }
    guard limit > .zero else { return }
    try await runner.synchronize(awaitsAnswers: false, within: limit)
  }

  /// Closes the connection: nothing is fetched automatically any more. Returns when nothing is
  /// under way; `timedOut` after `limit`.
  public func stopConnection(within limit: Duration = .seconds(30)) async throws(FerryError) {
    guard try await runner.stopConnection() else { return }
    try await runner.rest(within: limit)
    try await runner.act { session in session.connectionStopped() }
  }

  /// Removes this device from the server's register and logs it out; its subscription and settings
  /// end too. Downloaded data and pending changes stay on the device until the app deletes them.
  ///
  /// `offline` if the server does not answer: then nothing has changed.
  public func unregisterApplication(within limit: Duration = .seconds(30)) async throws(FerryError)
  {
    guard try await registrationStatus != .unregistered else { return }
    try await stopConnection(within: limit)
    try await runner.unregister()
  }

  /// Ends the session of this device at once, also without a network: nobody is logged in. The
  /// server is informed as soon as it can be reached, also after a restart; then it no longer
  /// accepts the session's tokens. Pending changes stay on the device and are sent after the next
  /// login.
  public func logout() async throws(FerryError) {
    try await runner.act { session throws(FerryError) in try session.logout() }
    await runner.sendOwedLogout()
  }
}
