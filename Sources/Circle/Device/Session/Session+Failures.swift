import FerryWorld

/// What comes of requests that fail, and of work that cannot begin.
extension Session {
  func fail(_ lane: SessionMachine.Lane, _ error: FerryError) {
    if lane == .exchange || !error.isTransient { isServerLoading = false }
    // A disk that is away may come back: what waits must not wait for the app to ask again.
    if error.isTransient || error.code == .store || error.code == .readOnly {
      happened(.failed(lane, chance: store.world.chance.next()))
    } else {
      happened(.stopped(lane))
    }
    lastFailure = error
    tellNeed(of: error)
    if lane == .exchange, plan != nil {
      failPlan(error)
      if isReplicationBased { happened(.exchangeDropped) }
    }
    if isConnected || lane == .exchange, error.code == .offline {
      offlineSince = offlineSince ?? store.world.clock.now
      if isConnected {
        observers.tell(.disconnected(error))
        if !isApplicationUsed { observers.tell(.connectionChanged(.disconnected)) }
      }
      tellConnectionError()
      isConnected = false
    } else if error.code != .offline {
      store.world.log.warn("the session was interrupted", ("reason", error.description))
    }
  }

  /// The app hears of what does not pass by itself: once, and not at each attempt.
  private func tellNeed(of error: FerryError) {
    // A locked device is told of as a login that failed.
    guard error.needsSomebody, error.code != .deviceLocked, toldFailure != error.description else {
      return
    }
    toldFailure = error.description
    observers.tell(.helpNeeded(error), .lasting)
  }

  /// Background work without a subscription brings nothing, and nothing else would say so.
  func noteMissingSubscription(_ facts: SessionMachine.Facts, _ now: Timestamp) {
    guard machine.isBackground, hasToken(facts, now), !isSubscriptionMissed,
      !facts.isSubscribed, !facts.isSubscribing, !facts.isSuspended
    else { return }
    isSubscriptionMissed = true
    store.world.log.warn(
      "the background synchronization brings nothing, because nothing is subscribed",
      ("hint", "Call subscribe, or signIn, which subscribes."))
  }
}
