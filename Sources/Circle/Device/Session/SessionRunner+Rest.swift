import FerryWorld

/// Waiting until nothing is under way.
extension SessionRunner {
  typealias Resting = CheckedContinuation<Result<Void, FerryError>, Never>

  /// Returns when no request is under way and the lease is free. What is asked for behind this call may
  /// begin something anew.
  func rest(within limit: Duration) async throws(FerryError) {
    drain()
    guard !isStopped else { throw Store.closed(session.store.path) }
    restingSoFar += 1
    let number = restingSoFar
    let patience = Task {
      do { try await Task.sleep(for: limit) } catch { return }
      self.endRest(
        number,
        .failure(
          FerryError(
            .timedOut, "the background synchronization did not end in time",
            hint: "It ends by itself, or at once with close().", isTransient: true)))
    }
    let cancelled = FerryError(
      .cancelled, "the task that waited for the end of the synchronization was cancelled",
      hint: "It ends by itself.")
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        resting[number] = continuation
        // A task that prefers an executor may have left the actor since it looked.
        if Task.isCancelled { endRest(number, .failure(cancelled)) }
        if isStopped { endRest(number, .failure(Store.closed(session.store.path))) }
        settleResting()
      }
    } onCancel: {
      Task { await self.endRest(number, .failure(cancelled)) }
    }
    patience.cancel()
    try result.get()
  }

  func settleResting() {
    guard isAtRest else { return }
    for number in resting.keys.sorted() { endRest(number, .success(())) }
  }

  func endRest(_ number: Int, _ result: Result<Void, FerryError>) {
    resting.removeValue(forKey: number)?.resume(returning: result)
  }
}
