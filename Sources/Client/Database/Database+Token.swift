/// Login by the company's own issuer.
extension Database {
  /// Logs in with a token of the profile's `tokenSource`, without waiting; `onLoginSuccess` or
  /// `onLoginFailure` tells.
  public func beginOnlineLogin() { act { session in session.login(.token) } }

  /// Logs in with a token of the profile's `tokenSource` and waits for the server's word, at most
  /// `SessionSettings.patience`. Afterwards the session is renewed by itself, with a newer token
  /// where the source has one without disturbing the user. `notLoggedIn` where it has none.
  public func onlineLogin() async throws(FerryError) {
    try await runner.act { session in session.login(.token) }
    try await runner.synchronize(awaitsAnswers: false, within: settings.patience)
  }
}
