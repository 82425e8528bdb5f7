extension Database {
  /// Signs the user in, subscribes, and starts the background synchronization: from here on data
  /// arrives and changes are sent by themselves. Waits for the server's answer, at most
  /// `SessionSettings.patience`.
  ///
  /// ```swift
  /// if database.state.login == .needed {
  ///   try await database.signIn(user: "nancy", password: password)
  /// } else {
  ///   database.startBackgroundSynchronization()
  /// }
  /// ```
  /// The password is kept in memory until the server has answered. Afterwards the device has a token
  /// that is renewed by itself, also after a restart.
  ///
  /// `notLoggedIn` if the server refuses user or password; `otherOwner` if the database belongs to
  /// another user. Without a network `offline` is thrown, and the login goes
  /// on by itself. A cancelled task ends the wait only.
  public func signIn(user: String, password: String) async throws(FerryError) {
    startBackgroundSynchronization()
    try await onlineLogin(user: user, password: password)
    try subscribe()
  }
}
