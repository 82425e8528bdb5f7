import Ferry

/// Time that a test lets pass.
extension TestServer {
  /// Lets time pass for the server and for all devices that it made.
  ///
  /// Everything that depends on time happens as in production. Access tokens expire after 15
  /// minutes, and sessions after 60 days. An expired lease closes the data. Outcomes of operations
  /// are forgotten after 30 days. The server removes data that is too old.
  ///
  /// A duration of more than a day passes in steps of one day. In each step the server does its
  /// daily work. Returns when that work is done, but does not wait for the work of devices.
  ///
  /// ```swift
  /// await server.setReachable(false)
  /// await server.advance(by: .seconds(61 * 86_400))
  /// await server.setReachable(true)
  /// // The session has ended: the app must ask the user to log in again.
  /// ```
  ///
  /// Timeouts (`within:`) measure real time, which this call does not change. `duration` must not
  /// be negative: the clocks of Ferry never go back.
  public func advance(by duration: Duration) async {
    precondition(duration >= .zero, "time does not go back")
    var rest = duration
    while rest > .zero {
      let step = min(rest, .seconds(86_400))
      clock.advance(by: step)
      rest -= step
      await host.timeHasPassed()
      // Each device looks again at what is due.
      for database in openDatabases { database.store.bell.ring() }
    }
  }
}
