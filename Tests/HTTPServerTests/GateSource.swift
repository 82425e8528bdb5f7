import FerryHTTP
import Synchronization

/// A body whose pieces the test hands in one by one, and that tells what became of it.
final class GateSource: HTTPBodySource {
  private struct State {
    var pieces: [HTTPBodyPiece] = []
    var waiter: CheckedContinuation<HTTPBodyPiece, Never>?
    var calls = 0
    var cancellations = 0
  }

  private let state = Mutex(State())
  private let onRelease: @Sendable () -> Void

  init(onRelease: @escaping @Sendable () -> Void = {}) { self.onRelease = onRelease }

  deinit { onRelease() }

  var calls: Int { state.withLock { $0.calls } }
  var cancellations: Int { state.withLock { $0.cancellations } }
  var isWaiting: Bool { state.withLock { $0.waiter != nil } }

  func give(_ piece: HTTPBodyPiece) {
    let waiter = state.withLock { state in
      if state.waiter == nil { state.pieces.append(piece) }
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(returning: piece)
  }

  func give(_ text: String) { give(.bytes(Array(text.utf8))) }

  func next() async -> HTTPBodyPiece {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let piece = state.withLock { state -> HTTPBodyPiece? in
          state.calls += 1
          if !state.pieces.isEmpty { return state.pieces.removeFirst() }
          if state.cancellations > 0 { return .end }
          state.waiter = continuation
          return nil
        }
        if let piece { continuation.resume(returning: piece) }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        state.cancellations += 1
        defer { state.waiter = nil }
        return state.waiter
      }
      waiter?.resume(returning: .end)
    }
  }
}

/// A place where handlers wait until the test opens it.
final class Door: Sendable {
  private struct State {
    var isOpen = false
    var waiters: [CheckedContinuation<Void, Never>] = []
    var cancellations = 0
  }

  private let state = Mutex(State())

  var waiting: Int { state.withLock { $0.waiters.count } }
  var cancellations: Int { state.withLock { $0.cancellations } }

  /// Cancellation only counts here: the waiter stays, as a handler that does not notice it.
  func pass() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOpen = state.withLock { state in
          if !state.isOpen { state.waiters.append(continuation) }
          return state.isOpen
        }
        if isOpen { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.cancellations += 1 }
    }
  }

  func open() {
    let waiters = state.withLock { state in
      state.isOpen = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }
}
