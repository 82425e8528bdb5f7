#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// Runs the jobs of an actor on one thread of its own, so that work which blocks (a database, a
/// connector) takes no thread from the pool.
///
/// The thread ends when the executor is released, which is when its actor is: no job can come later.
public final class ThreadExecutor: SerialExecutor {
  private let queue: JobQueue

  public init(name: String) {
    let queue = JobQueue()
    self.queue = queue
    start(name, queue)
  }

  deinit { queue.stop() }

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.add((job, asUnownedSerialExecutor()))
  }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }
}

/// Jobs from every thread for one thread.
///
/// `@unchecked Sendable`: everything mutable is touched only while `mutex` is held.
private final class JobQueue: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t> = .allocate(capacity: 1)
  private let condition: UnsafeMutablePointer<pthread_cond_t> = .allocate(capacity: 1)
  private var jobs: [(UnownedJob, UnownedSerialExecutor)] = []
  private var isStopped = false

  init() {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    pthread_cond_destroy(condition)
    mutex.deallocate()
    condition.deallocate()
  }

  func add(_ job: (UnownedJob, UnownedSerialExecutor)) {
    pthread_mutex_lock(mutex)
    jobs.append(job)
    pthread_cond_signal(condition)
    pthread_mutex_unlock(mutex)
  }

  func stop() {
    pthread_mutex_lock(mutex)
    isStopped = true
    pthread_cond_signal(condition)
    pthread_mutex_unlock(mutex)
  }

  func run() {
    while true {
      pthread_mutex_lock(mutex)
      while jobs.isEmpty, !isStopped { pthread_cond_wait(condition, mutex) }
      let ready = jobs
      jobs.removeAll(keepingCapacity: true)
      let ends = ready.isEmpty && isStopped
      pthread_mutex_unlock(mutex)
      if ends { return }
      for (job, executor) in ready { job.runSynchronously(on: executor) }
    }
  }
}

private func start(_ name: String, _ queue: JobQueue) {
  #if canImport(Darwin)
    var thread: pthread_t?
  #else
    var thread = pthread_t()
  #endif
  let argument = Unmanaged.passRetained(queue).toOpaque()
  let result = pthread_create(
    &thread, nil,
    { argument in
      #if canImport(Darwin)
        Unmanaged<JobQueue>.fromOpaque(argument).takeRetainedValue().run()
      #else
        if let argument { Unmanaged<JobQueue>.fromOpaque(argument).takeRetainedValue().run() }
      #endif
      return nil
    }, argument)
  precondition(result == 0, "no thread could be made for \(name): \(result)")
  #if canImport(Darwin)
    if let thread { pthread_detach(thread) }
  #else
    pthread_detach(thread)
  #endif
}
