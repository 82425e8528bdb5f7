import FerryWire
import Synchronization

/// A synchronization that the app has begun with `beginSynchronize(groups:context:uploadOnly:)`.
///
/// ```swift
/// let session = try database.beginSynchronize(groups: ["orders"], uploadOnly: true)
/// for await context in session.statuses { print(context.status) }
/// try await session.value
/// ```
/// It goes on whether or not anybody keeps this value.
public final class SynchronizationSession: Sendable {
  /// The synchronization groups, in the order in which they are downloaded.
  public let groups: [String]
  /// The value that the app passed; the callback handler receives it.
  public let userContext: (any Sendable)?

  private struct State {
    var history: [SynchronizationContext] = []
    var followers: [AsyncStream<SynchronizationContext>.Continuation] = []
    var waiters: [Int: CheckedContinuation<Result<Void, FerryError>?, Never>] = [:]
    var lastWaiter = 0
    var result: Result<Void, FerryError>?
    var isCancelled = false
    var currencies: [String: GroupCurrency] = [:]
    var onCancel: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  package init(groups: [String], userContext: (any Sendable)? = nil) {
    self.groups = groups
    self.userContext = userContext
  }

  /// All statuses from the beginning, for each caller; repeated statuses have more progress. Of
  /// repeated statuses before the call only the last is included. It ends with the synchronization.
  public var statuses: AsyncStream<SynchronizationContext> {
    let (stream, continuation) = AsyncStream.makeStream(of: SynchronizationContext.self)
    state.withLock { state in
      for context in state.history { continuation.yield(context) }
      if state.result == nil { state.followers.append(continuation) } else { continuation.finish() }
    }
    return stream
  }

  /// Returns when the synchronization has ended without an error; at once if it already has.
  ///
  /// Otherwise throws the reason: `cancelled` after `cancel()` or CANCEL of the callback handler;
  /// `notSubscribed` before `subscribe` unless it only uploads; `notLoggedIn`; `offline` without a
  /// network; `closed` when the database is closed. If the waiting task is cancelled it throws
  /// `cancelled` too, and the synchronization continues.
  public var value: Void {
    get async throws(FerryError) { try await value(within: nil) }
  }

  /// The same, and throws `timedOut` after `limit`; the synchronization then continues.
  public func value(within limit: Duration?) async throws(FerryError) {
    let number = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    let timer = limit.map { limit in
      Task { [weak self] in
        do { try await Task.sleep(for: limit) } catch { return }
        self?.giveUp(number)
      }
    }
    defer { timer?.cancel() }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let known: Result<Void, FerryError>?? = state.withLock { state in
          if let result = state.result { return .some(result) }
          if Task.isCancelled { return .some(nil) }
          state.waiters[number] = continuation
          return nil
        }
        if let known { continuation.resume(returning: known) }
      }
    } onCancel: {
      giveUp(number)
    }
    guard let result else {
      throw Task.isCancelled
        ? FerryError(
          .cancelled, "the task that waited for a synchronization was cancelled",
          hint: "The synchronization continues; call cancel() to end it.")
        : FerryError(
          .timedOut, "the synchronization of \(groups.joined(separator: ", ")) did not end in time",
          hint: "The synchronization continues; wait again, or call cancel().", isTransient: true)
    }
    try result.get()
  }

  /// Ends the synchronization at its next safe point, like CANCEL of a callback handler. Operations
  /// that were sent stay sent. Does nothing after the end.
  public func cancel() {
    let onCancel = state.withLock { state in
      guard state.result == nil else { return nil as (@Sendable () -> Void)? }
      state.isCancelled = true
      return state.onCancel
    }
    onCancel?()
  }

  func note(_ currencies: [String: GroupCurrency]) {
    state.withLock { $0.currencies = currencies }
  }

  /// What the server said of each group that was imported.
  var currencies: [String: GroupCurrency] { state.withLock { $0.currencies } }

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  func onCancel(_ act: @escaping @Sendable () -> Void) { state.withLock { $0.onCancel = act } }

  private func giveUp(_ number: Int) {
    state.withLock { $0.waiters.removeValue(forKey: number) }?.resume(returning: nil)
  }

  func post(_ context: SynchronizationContext) {
    state.withLock { state in
      if state.history.last?.status == context.status { state.history.removeLast() }
      state.history.append(context)
      for follower in state.followers { follower.yield(context) }
    }
  }

  func end(_ error: FerryError?) {
    let result: Result<Void, FerryError> = error.map { .failure($0) } ?? .success(())
    let ended = state.withLock { state in
      guard state.result == nil else { return nil as State? }
      let before = state
      state.result = result
      (state.followers, state.waiters, state.onCancel) = ([], [:], nil)
      return before
    }
    guard let ended else { return }
    for follower in ended.followers { follower.finish() }
    for waiter in ended.waiters.values { waiter.resume(returning: result) }
  }
}
