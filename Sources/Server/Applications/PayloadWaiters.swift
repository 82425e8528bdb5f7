import FerryWorld
import Synchronization

/// Open channels that wait for a payload of their connection.
final class PayloadWaiters: Sendable {
  private struct Waiting {
    let since: Timestamp
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var waiting: [String: [Int: Waiting]] = [:]
    /// How often something has happened to a connection; of those that wait or have just looked.
    var news: [String: Int] = [:]
    var next: Int = 0
    /// Open channels of each connection.
    var open: [String: Int] = [:]
  }

  /// Proxies close a line that says nothing for a minute.
  static let beat: Duration = .seconds(15)

  private let clock: any WorldClock
  private let state = Mutex(State())

  init(_ clock: any WorldClock) { self.clock = clock }

  func opened(_ id: String) { state.withLock { $0.open[id, default: 0] += 1 } }

  func closed(_ id: String) {
    state.withLock { state in
      let left = (state.open[id] ?? 1) - 1
      state.open[id] = left > 0 ? left : nil
      if left <= 0 { state.news[id] = nil }
    }
  }

  /// Whether a device of the connection listens.
  func isOpen(_ id: String) -> Bool { state.withLock { $0.open[id] != nil } }

  /// To be asked for before the store is, so that nothing is missed in between.
  func news(of id: String) -> Int { state.withLock { $0.news[id] ?? 0 } }

  /// A payload has come, or the connection is not registered any more.
  func tell(_ id: String) {
    let woken = state.withLock { state -> [Waiting] in
      if state.open[id] != nil { state.news[id, default: 0] += 1 }
      return state.waiting.removeValue(forKey: id).map { Array($0.values) } ?? []
    }
    for waiting in woken { waiting.continuation.resume() }
  }

  /// Returns when something has happened since `news`, the time of a beat is over, or the task is
  /// cancelled.
  func wait(_ id: String, since news: Int) async {
    let number = state.withLock { state in
      state.next += 1
      return state.next
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state -> Bool in
          guard !Task.isCancelled, state.news[id] ?? 0 == news else { return true }
          state.waiting[id, default: [:]][number] = Waiting(
            since: clock.moment, continuation: continuation)
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      let waiting = state.withLock { $0.waiting[id]?.removeValue(forKey: number) }
      waiting?.continuation.resume()
    }
  }

  /// Lets those go that have waited for the time of a beat; `all`: everybody, as where another server
  /// may have taken a payload in. Call it each second.
  func tick(all: Bool = false) {
    let now = clock.moment
    let woken = state.withLock { state -> [Waiting] in
      var woken: [Waiting] = []
      for (id, waiting) in state.waiting {
        for (number, one) in waiting
        where all || one.since.advanced(by: PayloadWaiters.beat) <= now {
          state.waiting[id]?[number] = nil
          woken.append(one)
        }
        if state.waiting[id]?.isEmpty == true { state.waiting[id] = nil }
      }
      return woken
    }
    for waiting in woken { waiting.continuation.resume() }
  }
}
