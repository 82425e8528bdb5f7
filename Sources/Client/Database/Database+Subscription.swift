/// The life of a subscription after `subscribe` (facts/1.4). Each call returns at once; a callback
/// tells what came of it, after the database shows it.
extension Database {
  /// Ends the subscription: nothing more is downloaded (the reference's `unsubscribe`). What is here
  /// stays until `cleanAllData`, what is pending too, and what is submitted is sent and answered as
  /// before. The server keeps no register of subscriptions that it would have to be asked about.
  ///
  /// `onUnsubscribeSuccess` and `onSubscriptionEnd` tell, or `onUnsubscribeFailure` where nothing is
  /// subscribed. `subscribe` begins again where it ended.
  public func unsubscribe() { act { session throws(FerryError) in try session.unsubscribe() } }

  /// Downloads nothing until `resumeSubscription`, over restarts; what is submitted goes on being
  /// sent and answered. An answer still brings its rows.
  ///
  /// `onSuspendSubscriptionSuccess` tells, or `onSuspendSubscriptionFailure` where nothing is
  /// subscribed. Suspending twice is like suspending once.
  public func suspendSubscription() {
    act { session throws(FerryError) in try session.suspendSubscription() }
  }

  /// Goes on with a subscription that was suspended, from where it stood, and asks at once.
  ///
  /// `onResumeSubscriptionSuccess` tells, or `onResumeSubscriptionFailure` where nothing is
  /// subscribed.
  public func resumeSubscription() {
    act { session throws(FerryError) in try session.resumeSubscription() }
  }

  /// Downloads everything afresh (the reference's `recover`); what is shown stays until all of it
  /// has come, what is pending stays altogether. Nobody needs it in good order: sums tell by
  /// themselves what differs.
  ///
  /// `onRecoverSuccess` tells when all is visible, after any number of broken lines and restarts;
  /// `onRecoverFailure` where nothing is subscribed, or the server gives this user nothing.
  public func recover() { act { session throws(FerryError) in try session.recover() } }

  /// Whether the subscription is suspended.
  public var isSubscriptionSuspended: Bool {
    get throws(FerryError) {
      try store.withSnapshot { transaction throws(FerryError) in
        try SubscriptionSettings(transaction).isSuspended()
      }
    }
  }
}
