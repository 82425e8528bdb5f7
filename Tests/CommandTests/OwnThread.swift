import FerryWorld
import Testing

/// Runs each test of a suite on a thread of its own: waiting for a program would hold up others.
struct OwnThread: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let executor = Executor()
    try await withTaskExecutorPreference(executor) { try await function() }
  }

  private final class Executor: TaskExecutor {
    private let thread = ThreadExecutor(name: "ferry-test")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      thread.perform { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }
}
