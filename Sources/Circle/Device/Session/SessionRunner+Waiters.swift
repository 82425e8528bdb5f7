import FerryWorld

/// Those who wait for an exchange, or for a login.
extension SessionRunner {
  struct Waiter {
    let number: Int
    let after: Int
    let awaitsAnswers: Bool
    /// For a login, and what it brings.
    let isLogin: Bool
    /// On the clock's uptime.
    let deadline: Duration
    let continuation: CheckedContinuation<Result<Void, FerryError>, Never>
  }

  /// Logs in and returns after an exchange that began later has ended well.
  func login(_ credentials: Credentials, within limit: Duration) async throws(FerryError) {
    try await synchronize(awaitsAnswers: false, within: limit) { session in
      session.login(credentials)
    }
  }

  /// Does `login`, and returns after an exchange that began later has ended well. Whoever is cancelled
  /// stops waiting; the exchange goes on.
  func synchronize(
    awaitsAnswers: Bool, within limit: Duration, after login: (@Sendable (Session) -> Void)? = nil
  ) async throws(FerryError) {
    drain()
    guard !isStopped else { throw Store.closed(session.store.path) }
    login?(session)
    if let failure = session.takeLoginFailure() { throw failure }
    session.requestExchange(awaitingAnswers: awaitsAnswers)
    let after = session.begunExchanges
    waitersSoFar += 1
    let number = waitersSoFar
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        waiters.append(
          Waiter(
            number: number, after: after, awaitsAnswers: awaitsAnswers, isLogin: login != nil,
            deadline: world.clock.uptime + limit, continuation: continuation))
        // A task that prefers an executor may have left the actor since it looked.
        if Task.isCancelled { giveUp(number) }
        if isStopped { finishWaiters(.failure(Store.closed(session.store.path))) }
        run()
      }
    } onCancel: {
      Task { await self.giveUp(number) }
    }
    try result.get()
  }

  private func giveUp(_ number: Int) {
    guard let place = waiters.firstIndex(where: { $0.number == number }) else { return }
    let error = FerryError(
      .cancelled, "the task that waited for the server was cancelled",
      hint: "The work continues; a callback handler gets its result.")
    waiters.remove(at: place).continuation.resume(returning: .failure(error))
  }

  func settleWaiters() {
    guard !waiters.isEmpty else { return }
    // A server that loads is waited for: it will have everything.
    if let failure = session.lastFailure, !session.isServerLoading, !session.machine.isExchanging {
      finishWaiters(.failure(failure))
      return
    }
    let hasUnanswered = (try? session.facts().hasUnanswered) ?? true
    let hasOutgoing = (try? session.facts().hasOutgoing) ?? true
    waiters.removeAll { waiter in
      guard session.completedExchanges > waiter.after,
        !(waiter.awaitsAnswers && (hasUnanswered || hasOutgoing))
      else { return false }
      waiter.continuation.resume(returning: .success(()))
      return true
    }
  }

  func endLateWaiters() {
    let now = world.clock.uptime
    let late = waiters.filter { $0.deadline <= now }
    waiters.removeAll { $0.deadline <= now }
    let error = FerryError(
      .timedOut, "the synchronization did not end in time",
      hint: "It continues by itself; \(session.lastFailure?.message ?? "the server is slow").",
      isTransient: true)
    for waiter in late { waiter.continuation.resume(returning: .failure(error)) }
  }

  /// What came of a login, also where an earlier one goes on.
  func endRefusedLogins() {
    guard let failure = session.takeLoginFailure() else { return }
    for waiter in waiters where waiter.isLogin {
      waiter.continuation.resume(returning: .failure(failure))
    }
    waiters.removeAll(where: \.isLogin)
  }

  func wakeForWaiters() {
    guard let next = waiters.map(\.deadline).min() else { return }
    wake(after: max(.zero, next - world.clock.uptime))
  }

  func finishWaiters(_ result: Result<Void, FerryError>) {
    for waiter in waiters { waiter.continuation.resume(returning: result) }
    waiters = []
  }
}
