extension FerryDatabase {
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
  /// another user, at once and also without a network: sign that one out first. After both, a user
  /// who was signed in before stays so, and their changes are sent. Without a network `offline` is thrown, and all three go on
  /// by themselves. A cancelled task ends the wait only.
  public func signIn(user: String, password: String) async throws(FerryError) {
    do throws(FerryError) { try await onlineLogin(user: user, password: password) } catch {
      if error.isTransient || error.code == .cancelled { try beginWork() }
      throw error
    }
    try beginWork()
  }

  /// Not before the login has begun: until then nobody is logged in, and the app would hear that.
  private func beginWork() throws(FerryError) {
    try subscribe()
    startBackgroundSynchronization()
  }

  /// Signs the user out and deletes what this database has of them on the device: objects, pending
  /// changes, log records, tokens, parameters, subscription. Objects that only this device has are
  /// deleted, too. Afterwards any user may sign in.
  ///
  /// ```swift
  /// do throws(FerryError) { try await database.signOut() } catch {
  ///   guard error.code == .pendingChanges, await confirmLoss(error.message) else { throw error }
  ///   try await database.signOut(discardingPending: true)
  /// }
  /// ```
  /// It needs no network: the server hears of it as soon as it can be reached, also after a restart,
  /// and takes the tokens no more.
  ///
  /// `pendingChanges` while changes are not sent or not answered; nothing is deleted then. With
  /// `discardingPending` they are deleted. A change that was sent already, or is being sent now, may be
  /// performed all the same. `inUse` while another process synchronizes this database. Tasks that wait
  /// for a synchronization or an answer get `cancelled`.
  public func signOut(discardingPending: Bool = false) async throws(FerryError) {
    try await runner.signOut(discardingPending: discardingPending)
    // Deleted rows are in the file's free pages until then.
    do throws(FerryError) { try store.vacuum() } catch {
      store.world.log.warn("free pages stay in the file", ("reason", error.description))
    }
    await runner.sendOwedLogout()
  }
}
