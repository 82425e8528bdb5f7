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
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        resting[number] = continuation
        settleResting()
      }
    } onCancel: {
      Task {
        await self.endRest(
          number,
          .failure(
            FerryError(
              .cancelled, "the task that waited for the end of the synchronization was cancelled",
              hint: "It ends by itself.")))
      }
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
