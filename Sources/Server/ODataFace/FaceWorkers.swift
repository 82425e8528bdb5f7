import FerryHTTP
import FerryWorld
import Synchronization

/// A few threads that compute answers, so that a condition over many rows holds up neither devices
/// nor the network.
///
/// A task that prefers them takes the next thread each time it goes on.
final class FaceWorkers: TaskExecutor {
  /// Two are enough: rows come from the store on the thread of the services.
  static let usual: Int = 2

  private let threads: [ThreadExecutor]
  private let next = Atomic<Int>(0)

  init(count: Int) {
    precondition(count > 0, "\(count) threads for OData; at least one is needed")
    threads = (0..<count).map { ThreadExecutor(name: "ferry-odata-\($0)") }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
    let executor = asUnownedTaskExecutor()
    // The thread holds the executor until the job is done.
    threads[(number & .max) % threads.count].perform { [self] in
      withExtendedLifetime(self) { job.runSynchronously(on: executor) }
    }
  }
}

/// A feed whose pieces are computed on the threads of OData.
struct FaceStream: HTTPBodySource {
  let source: any HTTPBodySource
  let workers: FaceWorkers

  func next() async -> HTTPBodyPiece {
    await withTaskExecutorPreference(workers) { await source.next() }
  }
}
