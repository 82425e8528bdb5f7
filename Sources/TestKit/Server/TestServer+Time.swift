import Ferry

/// Time that a test lets pass.
extension TestServer {
  /// Lets time pass for the server and for all devices that it made.
  ///
  /// What depends on time happens as it would in the field: access tokens end after 15 minutes, a
  /// session after 60 days, a lease closes the data, outcomes of operations are forgotten after 30
  /// days, and the server removes what is too old. Longer times pass in steps of a day, each with
  /// the server's daily work. Returns when the server has done that; devices go on by themselves.
  ///
  /// ```swift
  /// await server.setReachable(false)
  /// await server.advance(by: .seconds(61 * 86_400))
  /// await server.setReachable(true)
  /// // The session has ended: the app must ask the user to log in again.
  /// ```
  ///
  /// Limits of calls that wait (`within:`) count the time of the test, not this one. `duration` must
  /// not be negative: the clocks of Ferry never go back.
  public func advance(by duration: Duration) async {
    precondition(duration >= .zero, "time does not go back")
    var rest = duration
    while rest > .zero {
      let step = min(rest, .seconds(86_400))
      clock.advance(by: step)
      rest -= step
      await host.timeHasPassed()
      for database in openDatabases { database.timeHasPassed() }
    }
  }
}
