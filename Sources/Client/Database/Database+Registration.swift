/// The life of an application connection: registered once, then started and stopped (facts/1.2).
///
/// Each call does nothing where its state is reached already. With a `limit` of zero it returns at
/// once; `onRegistrationStatusChange` and `onConnectionStatusChange` tell what comes of it.
///
/// ```swift
/// try database.updateSynchronizationProfile { $0.user = "nancy" }
/// try await database.registerApplication(activationCode: "ABCD-EFGH-JKMN", within: .seconds(30))
/// try await database.startConnection()
/// ```
extension Database {
  /// How far the registration is, over restarts.
  public var registrationStatus: RegistrationStatus {
    get async throws(FerryError) { try await runner.registrationStatus() }
  }

  /// Registers this device with the server: by the password of the synchronization profile, a token
  /// of the `tokenSource`, or the activation code that the operator gave its user.
  ///
  /// Without a network it goes on by itself when there is one, with an activation code also after a
  /// restart of the app. `connectionProperty` where user or password is missing; then, where `limit`
  /// is not zero, `timedOut` after it, `offline` where nobody answers, and `notLoggedIn`, `notAllowed`
  /// or `deviceLocked` where the server refuses.
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

  /// Connects a registered application and keeps its data fresh, as `startBackgroundSynchronization`.
  /// `notRegistered` before `registerApplication`; else as there.
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

  /// Closes the connection: nothing is fetched by itself any more. Returns when nothing is under way,
  /// `timedOut` after `limit`.
  public func stopConnection(within limit: Duration = .seconds(30)) async throws(FerryError) {
    guard try await runner.stopConnection() else { return }
    try await runner.rest(within: limit)
    try await runner.act { session in session.connectionStopped() }
  }

  /// Takes this device out of the server's register and logs it out, with its subscription and its
  /// settings. What was downloaded and what is pending stay here until the app lets go of them.
  ///
  /// `offline` where the server does not answer: then everything is as before.
  public func unregisterApplication(within limit: Duration = .seconds(30)) async throws(FerryError)
  {
    guard try await registrationStatus != .unregistered else { return }
    try await stopConnection(within: limit)
    try await runner.unregister()
  }

  /// Ends the session of this device: nobody is logged in, at once and without a network. The server
  /// hears of it as soon as it can be reached, also after a restart, and takes the session's tokens no
  /// more. What is pending stays here, and is sent after the next login.
  public func logout() async throws(FerryError) {
    try await runner.act { session throws(FerryError) in try session.logout() }
    await runner.sendOwedLogout()
  }
}
