import FerryWorld
import Synchronization

/// The threads on which the asynchronous forms read and save, so that they block no caller.
///
/// A thread is started when it is needed first, and ends with the database. Saves run one after the
/// other, since the file has one writer. Up to `readerLimit` reads run side by side.
package final class WorkThreads: Sendable {
  /// A slow query then delays no short one; a device has few processors.
  static let readerLimit = 2

  private struct Readers {
    var threads: [WorkThread] = []
    /// How much each has to do.
    var loads: [Int] = []

    mutating func take() -> Int {
      if let free = loads.firstIndex(of: 0) { return free }
      if threads.count < WorkThreads.readerLimit {
        threads.append(WorkThread("ferry-read"))
        loads.append(0)
        return threads.count - 1
      }
      return loads.indices.min { loads[$0] < loads[$1] } ?? 0
    }
  }

  private let writer = Mutex<WorkThread?>(nil)
  private let readers = Mutex(Readers())

  /// Runs what saves. A task that is cancelled ends nothing: what was asked for is saved.
  package func write<Result: Sendable, Failure: Error>(
    _ body: @Sendable () throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let thread = writer.withLock { known in
      let thread = known ?? WorkThread("ferry-write")
      known = thread
      return thread
    }
    return try await thread.run(body)
  }

  /// Runs what reads; throws `cancelled` where the task is cancelled before it begins.
  package func read<Result: Sendable>(
    _ body: @Sendable () throws(FerryError) -> Result
  ) async throws(FerryError) -> Result {
    let (number, thread) = readers.withLock { readers in
      let number = readers.take()
      readers.loads[number] += 1
      return (number, readers.threads[number])
    }
    defer { readers.withLock { $0.loads[number] -= 1 } }
    return try await thread.run { () throws(FerryError) -> Result in
      guard !Task.isCancelled else {
        throw FerryError(
          .cancelled, "the task that wanted to read was cancelled", hint: "Read again.")
      }
      return try body()
    }
  }
}

/// Work that blocks, on a thread of its own.
actor WorkThread {
  private let executor: ThreadExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// `name` is for messages of the system only.
  init(_ name: String) { executor = ThreadExecutor(name: name) }

  func run<Result: Sendable, Failure: Error>(
    _ body: @Sendable () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body()
  }
}
