extension FerryDatabase {
  /// The present state of the connection to the server.
  public var state: DatabaseState { runner.states.now }

  /// The state now, and each later state that differs from the one before. If several arrive while
  /// the app is busy, it gets the last one. Ends when the database is closed.
  /// ```swift
  /// for await state in database.states { banner.isHidden = state.login != .needed }
  /// ```
  public var states: AsyncStream<DatabaseState> { runner.states.follow() }
}
