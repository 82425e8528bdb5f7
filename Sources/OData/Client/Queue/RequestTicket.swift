import Synchronization

/// The answers to come of a request or a bundle that was added to a queue.
///
/// Letting go of it cancels nothing.
public struct RequestTicket: Sendable {
  /// The number that the queue gave it.
  public var id: Int { slots.first?.id ?? 0 }
  let slots: [RequestSlot]

  /// The answer, whatever its status; of a bundle the first one.
  ///
  /// Throws what `ODataSession.send` throws, and `cancelled` where it was taken back before it was
  /// sent. It may be asked any number of times.
  public func response() async throws(ODataClientError) -> ODataResponse {
    guard let slot = slots.first else {
      throw ODataClientError(call: "the bundle is empty", "RequestQueue", hint: "add a request")
    }
    return try await slot.result().get()
  }

  /// The answers of a bundle in its order, each as soon as it is there.
  public var results: AsyncStream<Result<ODataResponse, ODataClientError>> {
    let slots = self.slots
    let next = Mutex(0)
    return AsyncStream {
      let place = next.withLock { place in
        defer { place += 1 }
        return place
      }
      return place < slots.count ? await slots[place].result() : nil
    }
  }
}

/// Where one answer is put and waited for.
final class RequestSlot: Sendable {
  typealias Outcome = Result<ODataResponse, ODataClientError>
  let id: Int

  private struct State {
    var outcome: Outcome?
    var waiters: [CheckedContinuation<Outcome, Never>] = []
  }

  private let state = Mutex(State())

  init(id: Int) { self.id = id }

  /// The first outcome counts.
  func put(_ outcome: Outcome) {
    let waiters = state.withLock { state in
      guard state.outcome == nil else { return [CheckedContinuation<Outcome, Never>]() }
      state.outcome = outcome
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume(returning: outcome) }
  }

  func result() async -> Outcome {
    await withCheckedContinuation { continuation in
      let outcome = state.withLock { state in
        if state.outcome == nil { state.waiters.append(continuation) }
        return state.outcome
      }
      if let outcome { continuation.resume(returning: outcome) }
    }
  }
}
