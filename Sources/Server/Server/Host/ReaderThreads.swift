import FerryModel
import FerryWorld
import Synchronization

/// A few threads that read pages for devices which are far behind, so that the service's thread is
/// free for all others. The packages of a server share them.
///
/// Users take turns, and of one user who comes first is served first. Nobody waits twice: an exchange
/// has at most one read, so there are at most as many reads as open exchanges.
package final class ReaderThreads: Sendable {
  typealias Work = @Sendable (_ thread: Int) -> Void

  private struct State {
    var idle: [Int]
    var waiting = UserLines<Work>()
  }

  let threads: [ThreadExecutor]
  private let state: Mutex<State>

  /// nil for none.
  static func make(_ count: Int) -> ReaderThreads? { count > 0 ? ReaderThreads(count: count) : nil }

  /// `count`: at least one.
  package init(count: Int) {
    precondition(count > 0, "\(count) reader threads; at least one is needed")
    threads = (0..<count).map { ThreadExecutor(name: "ferry-reader-\($0)") }
    state = Mutex(State(idle: Array(0..<count)))
  }

  /// Runs `work` on the next thread that is free, and returns at once.
  func perform(for user: ExactText, _ work: @escaping Work) {
    let free = state.withLock { state -> Int? in
      if let free = state.idle.popLast() { return free }
      state.waiting.add(work, of: user)
      return nil
    }
    guard let free else { return }
    threads[free].perform { [self] in
      work(free)
      while let next = next(free) { next(free) }
    }
  }

  /// What the thread does next; nil: it is idle.
  private func next(_ thread: Int) -> Work? {
    state.withLock { state in
      if let work = state.waiting.next() { return work }
      state.idle.append(thread)
      return nil
    }
  }
}

/// Reads pages for the devices of one package. Each thread has a connection of its own, which it opens
/// when it is first used.
final class PageReaders: Sendable {
  /// What one thread has; on that thread only.
  private final class Slot {
    let make: StoreReaderMaker
    var reader: (any StoreReader)?

    init(_ make: @escaping StoreReaderMaker) { self.make = make }

    func round(_ read: PageRead) -> Result<PageRead.Round, StoreError> {
      do throws(StoreError) {
        let reader: any StoreReader
        if let known = self.reader { reader = known } else { reader = try make() }
        self.reader = reader
        return .success(
          try reader.snapshot { view throws(StoreError) in try read.round(view) })
      } catch {
        // The next one begins with a new connection.
        reader = nil
        return .failure(error)
      }
    }
  }

  private struct State {
    var running = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let threads: ReaderThreads
  private let slots: [Confined<Slot>]
  private let state = Mutex(State())

  init(_ threads: ReaderThreads, _ make: @escaping StoreReaderMaker) {
    self.threads = threads
    slots = threads.threads.map { Confined(Slot(make), on: $0) }
  }

  /// Reads and calls `done`, on a reader's thread.
  func read(
    _ read: PageRead,
    _ done: @escaping @Sendable (Result<PageRead.Round, StoreError>) -> Void
  ) {
    state.withLock { $0.running += 1 }
    threads.perform(for: read.asker.owner.user) { [self] thread in
      done(slots[thread].value.round(read))
      let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
        state.running -= 1
        guard state.running == 0 else { return [] }
        defer { state.waiting = [] }
        return state.waiting
      }
      for continuation in waiting { continuation.resume() }
    }
  }

  /// Returns when nothing is read any more, or after `patience`: whether nothing is.
  ///
  /// `timer`: a thread that is free to look at the clock.
  func drain(within patience: Duration, timer: ThreadExecutor) async -> Bool {
    await withCheckedContinuation { continuation in
      let isIdle = state.withLock { state -> Bool in
        guard state.running > 0 else { return true }
        state.waiting.append(continuation)
        return false
      }
      guard !isIdle else { return continuation.resume() }
      // After it is among those who wait, or a patience that has ended already would not find it.
      timer.perform(after: patience) { [self] in
        for continuation in takeWaiting() { continuation.resume() }
      }
    }
    return state.withLock { $0.running == 0 }
  }

  private func takeWaiting() -> [CheckedContinuation<Void, Never>] {
    state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
  }
}
