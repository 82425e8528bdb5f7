/// The life of a subscription after `subscribe`. Each call returns at once; a callback
/// tells what came of it, after the database shows it.
extension FerryDatabase {
  /// Ends the subscription: nothing more is downloaded (the reference's `unsubscribe`). Data stays
  /// on the device until `cleanAllData`, and so do pending changes; submitted changes are sent and
  /// answered as before. The server has no register of subscriptions, so it need not be asked.
  ///
  /// `unsubscribed` and `subscriptionEnded` report the end, or `unsubscribeFailed` if
  /// nothing was subscribed. A later `subscribe` continues from the same data.
  public func unsubscribe() { act { session throws(FerryError) in try session.unsubscribe() } }

  /// Downloads nothing until `resumeSubscription`, also over restarts. Submitted changes are still
  /// sent and answered; an answer brings its rows.
  ///
  /// `suspended` reports it, or `suspendFailed` if nothing is
  /// subscribed. A second call has no further effect.
  public func suspendSubscription() {
    act { session throws(FerryError) in try session.suspendSubscription() }
  }

  /// Continues a suspended subscription from its last state, and fetches at once.
  ///
  /// `resumed` reports it, or `resumeFailed` if nothing is
  /// subscribed.
  public func resumeSubscription() {
    act { session throws(FerryError) in try session.resumeSubscription() }
  }

  /// Downloads everything again (the reference's `recover`). The visible data stays until the new
  /// data is complete; pending changes are kept. It is not needed in normal use: checksums find
  /// differences by themselves.
  ///
  /// `recovered` reports when all data is visible, also after lost connections and restarts;
  /// `recoverFailed` if nothing is subscribed, or the server gives this user no data.
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
