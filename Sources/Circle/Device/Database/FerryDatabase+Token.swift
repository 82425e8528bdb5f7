/// Login by what the synchronization profile has, or by the company's own issuer.
extension FerryDatabase {
  /// Logs in without waiting: with user and password of the synchronization profile, or if it has
  /// none with a token of the `tokenSource`. `signedIn` or `signInFailed` reports the
  /// result.
  public func beginOnlineLogin() {
    do throws(FerryError) {
      let credentials = try profileCredentials
      act { session in session.login(credentials) }
    } catch {
      act { session throws(FerryError) in try session.hasNoToken(error) }
    }
  }

  /// Logs in with user and password of the synchronization profile, or if it has none with a token
  /// of the `tokenSource`. Waits for the server's answer, at most `SessionSettings.patience`.
  /// Afterwards the session is renewed automatically; if the source has a newer token without user
  /// interaction, that is used. `notLoggedIn` if there is neither a password nor a token.
  public func onlineLogin() async throws(FerryError) {
    let credentials = try profileCredentials
    try await runner.login(credentials, within: settings.patience)
  }
}
