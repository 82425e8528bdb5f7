import FerryModel
import FerrySQLite

/// A user leaves the device for good.
extension Session {
  /// Ends the user's session, and deletes their data and everything that belongs to them, in one
  /// transaction. A change that was saved before it stops it, unless pending changes are discarded.
  func signOut(discardingPending: Bool) throws(FerryError) {
    try store.withTransaction { transaction throws(FerryError) in
      if !discardingPending { try PendingCount(transaction).checkNone() }
      try signIn.logout()
      for name in Session.userSettings { try transaction.set(name, nil) }
      for table in ["ferry_parameter_set", "ferry_personalization"] {
        try transaction.run("DELETE FROM \(table)")
      }
      try store.cleanAllData()
    }
    try store.keepLease(nil)
    try Contents(store).sweep()
    try store.write { connection throws(SQLiteError) in
      try SharedChanges.forgetContents(connection)
    }
    // What was under way belongs to nobody now.
    plans.endAll(Session.signedOut)
    core.reset()
    signIn.reset()
    plans.reset()
    requests.reset()
    try core.postState()
  }

  /// Who waits for something of a user that has left.
  static let signedOut = FerryError(
    .cancelled, "the user has signed out", hint: "Sign in, and ask again.")

  /// What the database knows of its user.
  private static let userSettings: [Settings.Name] = [
    .user, .subscribing, .subscribed, .suspended, .recovering, .rightsVersion, .progress,
    .registration, .activationCode, .applicationSettings, .profileUser, .lease, .sessionEnd,
    .sessionEndTold,
  ]
}
