import Synchronization

/// How a wait for a task ended.
enum FirstEnd<Value: Sendable>: Sendable {
  case value(Value)
  case late
  case cancelled

  /// Waits for the task, at most for `limit`, and not longer than the own task lasts. The task goes on.
  static func of(_ task: Task<Value, Never>, within limit: Duration) async -> FirstEnd<Value> {
    let race = Race<FirstEnd<Value>>()
    let timer = Task {
      do { try await Task.sleep(for: limit) } catch { return }
      race.end(.late)
    }
    Task { race.end(.value(await task.value)) }
    let end = await withTaskCancellationHandler {
      await race.value()
    } onCancel: {
      race.end(.cancelled)
    }
    timer.cancel()
    return end
  }
}

/// The first value counts.
private final class Race<Value: Sendable>: Sendable {
  private struct State {
    var value: Value?
    var continuation: CheckedContinuation<Value, Never>?
  }

  private let state = Mutex(State())

  func end(_ value: Value) {
    let continuation: CheckedContinuation<Value, Never>? = state.withLock { state in
      guard state.value == nil else { return nil }
      state.value = value
      defer { state.continuation = nil }
      return state.continuation
    }
    continuation?.resume(returning: value)
  }

  func value() async -> Value {
    await withCheckedContinuation { continuation in
      let known: Value? = state.withLock { state in
        if state.value == nil { state.continuation = continuation }
        return state.value
      }
      if let known { continuation.resume(returning: known) }
    }
  }
}
