import FerryWorld

/// The user leaves; see `Session.signOut`.
extension SessionRunner {
  /// Ends what is under way at once, since nothing of it may arrive behind the sign-out.
  func signOut(discardingPending: Bool) throws(FerryError) {
    drain()
    guard !isStopped else { throw Store.closed(session.store.path) }
    // Another process would bring the user's rows back.
    guard try lease.take() else {
      throw FerryError(
        .inUse, "another process synchronizes the database \(session.store.path)",
        hint: "Stop its background synchronization first.", isTransient: true)
    }
    defer { run() }
    try session.signOut(discardingPending: discardingPending)
    endTasks()
    finishWaiters(.failure(Session.signedOut))
  }
}
