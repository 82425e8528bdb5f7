/// Login by what the synchronization profile has, or by the company's own issuer.
extension Database {
  /// Logs in with user and password of the synchronization profile, or where it has none with a token
  /// of the `tokenSource`, without waiting; `onLoginSuccess` or `onLoginFailure` tells (sync/I4).
  public func beginOnlineLogin() {
    do throws(FerryError) {
      let credentials = try profileCredentials
      act { session in session.login(credentials) }
    } catch {
      act { session throws(FerryError) in try session.hasNoToken(error) }
    }
  }

  /// Logs in with user and password of the synchronization profile, or where it has none with a token
  /// of the `tokenSource`, and waits for the server's word, at most
  /// `SessionSettings.patience`. Afterwards the session is renewed by itself, with a newer token
  /// where the source has one without disturbing the user. `notLoggedIn` where there is none of
  /// them.
  public func onlineLogin() async throws(FerryError) {
    let credentials = try profileCredentials
    try await runner.act { session in session.login(credentials) }
    try await runner.synchronize(awaitsAnswers: false, within: settings.patience)
  }
}
