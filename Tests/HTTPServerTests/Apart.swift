import Glibc
import Synchronization
import Testing

/// Runs each test of a suite on a thread of its own.
///
/// These tests read and write blocking sockets; on the shared threads of Swift's tasks they would
/// hold up every other test.
struct Apart: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let thread = OwnThread()
    defer { thread.end() }
    try await withTaskExecutorPreference(thread) { try await function() }
  }
}

extension Trait where Self == Apart {
  static var apart: Apart { Apart() }
}

/// A thread that runs the jobs of the tasks that prefer it, in order.
///
/// `@unchecked Sendable`: `jobs` and `hasEnded` are guarded by the mutex.
private final class OwnThread: TaskExecutor, @unchecked Sendable {
  private var jobs: [UnownedJob] = []
  private var hasEnded = false
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  init() {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        Unmanaged<OwnThread>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, Unmanaged.passRetained(self).toOpaque())
    pthread_detach(thread)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    pthread_cond_destroy(condition)
    mutex.deallocate()
    condition.deallocate()
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    pthread_mutex_lock(mutex)
    jobs.append(job)
    pthread_cond_signal(condition)
    pthread_mutex_unlock(mutex)
  }

  func end() {
    pthread_mutex_lock(mutex)
    hasEnded = true
    pthread_cond_signal(condition)
    pthread_mutex_unlock(mutex)
  }

  private func run() {
    while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  private func next() -> UnownedJob? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while jobs.isEmpty && !hasEnded { pthread_cond_wait(condition, mutex) }
    return jobs.isEmpty ? nil : jobs.removeFirst()
  }
}
