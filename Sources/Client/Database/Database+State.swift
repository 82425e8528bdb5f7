extension Database {
  /// How the database stands with its server now.
  public var state: DatabaseState { runner.states.now }

  /// The state now, and each one that differs from the one before; of several that come while the
  /// app is busy, the last. It ends when the database is closed.
  ///
  /// ```swift
  /// for await state in database.states { banner.isHidden = state.login != .needed }
  /// ```
  public var states: AsyncStream<DatabaseState> { runner.states.follow() }
}
