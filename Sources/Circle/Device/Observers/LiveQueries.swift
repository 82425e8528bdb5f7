import FerryModel
import Synchronization

/// Who wants to know when what they read has changed.
package final class LiveQueries: Sendable {
  private struct Watch {
    let dependencies: QueryDependencies
    let signal: LiveSignal
  }

  private struct State {
    var watches: [Int: Watch] = [:]
    var next = 0
    var executions = 0
    var concerned = 0
    var isEnded = false
  }

  private let watch: RowWatch
  private let state = Mutex(State())
  private let reader = Mutex<WorkThread?>(nil)

  package init(_ watch: RowWatch) {
    self.watch = watch
    watch.onChange { [weak self] changes in self?.take(changes) }
  }

  /// How often a live query was run, for tests that count.
  package var executions: Int { state.withLock { $0.executions } }

  /// How many live queries commits have concerned so far, for tests that count.
  package var concerned: Int { state.withLock { $0.concerned } }

  /// `isRung`: the present state is wanted too, not only what changes it.
  package func add(
    _ dependencies: QueryDependencies, isRung: Bool
  ) -> (number: Int, signal: LiveSignal) {
    let signal = LiveSignal(isRung: isRung)
    // Watched first: what is committed from here on is told, and the first read comes later.
    watch.watch(dependencies.tests.keys)
    let number = state.withLock { state -> Int in
      state.next += 1
      state.watches[state.next] = Watch(dependencies: dependencies, signal: signal)
      if state.isEnded { signal.end() }
      return state.next
    }
    return (number, signal)
  }

  package func remove(_ number: Int) {
    guard let known = state.withLock({ $0.watches.removeValue(forKey: number) }) else { return }
    watch.unwatch(known.dependencies.tests.keys)
  }

  /// Reads on a thread of the live queries' own, one after the other.
  package func read<Result: Sendable>(
    _ body: @Sendable () throws(FerryError) -> Result
  ) async throws(FerryError) -> Result {
    let reader = reader.withLock { reader in
      let known = reader ?? WorkThread("ferry-live")
      reader = known
      return known
    }
    state.withLock { $0.executions += 1 }
    return try await reader.run(body)
  }

  /// The database is closed: whoever waits gets nothing more.
  package func end() {
    let signals = state.withLock { state in
      state.isEnded = true
      return state.watches.values.map(\.signal)
    }
    for signal in signals { signal.end() }
  }

  private func take(_ changes: RowChanges) {
    let watches = state.withLock { Array($0.watches.values) }
    let concerned = watches.filter { $0.dependencies.concern(changes) }
    state.withLock { $0.concerned += concerned.count }
    for watch in concerned { watch.signal.ring(changes) }
  }
}

/// Wakes one who waits; however often it was rung meanwhile, they wake once.
package final class LiveSignal: Sendable {
  private struct State {
    var isRung: Bool
    var isEnded = false
    var changes = RowChanges()
    var waiter: CheckedContinuation<Bool, Never>?
  }

  private let state: Mutex<State>

  init(isRung: Bool) { state = Mutex(State(isRung: isRung)) }

  func ring(_ changes: RowChanges) {
    let waiter = state.withLock { state -> CheckedContinuation<Bool, Never>? in
      guard !state.isEnded else { return nil }
      state.changes.add(changes)
      state.isRung = state.waiter == nil
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(returning: true)
  }

  package func end() {
    let waiter = state.withLock { state in
      state.isEnded = true
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(returning: false)
  }

  /// True when it was rung; false at the end, or when the waiting task is cancelled.
  package func wait() async -> Bool {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let known = state.withLock { state -> Bool? in
          if state.isEnded { return false }
          if state.isRung {
            state.isRung = false
            return true
          }
          precondition(state.waiter == nil, "two tasks wait for one live query")
          state.waiter = continuation
          return nil
        }
        if let known { continuation.resume(returning: known) }
      }
    } onCancel: {
      end()
    }
  }

  /// What was changed since this was asked last.
  package func takeChanges() -> RowChanges {
    state.withLock { state in
      defer { state.changes = RowChanges() }
      return state.changes
    }
  }
}

extension RowChanges {
  /// What came later behind what came first; beyond the limit, that everything may be different.
  mutating func add(_ later: RowChanges) {
    for (name, extent) in later.entities {
      guard case .rows(let known) = entities[name] ?? .rows([]), case .rows(let rows) = extent,
        known.count + rows.count <= RowWatch.rowLimit
      else {
        entities[name] = .all
        continue
      }
      entities[name] = .rows(known + rows)
    }
  }
}
