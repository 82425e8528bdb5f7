#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// Runs the jobs of an actor on one thread of its own, so that work which blocks (a database, a
/// connector) takes no thread from the pool, and so that a program has as many threads as it says.
///
/// The thread ends when the executor is released, which is when its actor is: no job can come later.
public final class ThreadExecutor: SerialExecutor {
  private let queue: JobQueue

  /// `name` is for messages of the system only.
  public init(name: String) {
    let queue = JobQueue()
    self.queue = queue
    start(name, queue)
  }

  deinit { queue.stop() }

  public func enqueue(_ job: consuming ExecutorJob) {
    queue.add(.job(UnownedJob(job), asUnownedSerialExecutor()))
  }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }

  /// Ends the program when called from another thread.
  public func checkIsolated() {
    precondition(queue.isCurrentThread, "this may only be done on the executor's own thread")
  }

  /// Runs `body` on the thread, after what it has to do already, without waiting for it.
  public func perform(_ body: @escaping @Sendable () -> Void) { queue.add(.work(body)) }

  /// Runs `body` on the thread after `duration`, at the earliest when it is free.
  public func perform(after duration: Duration, _ body: @escaping @Sendable () -> Void) {
    queue.add(body, after: duration)
  }

  /// Runs `body` on the thread and waits for it, from another thread that may block.
  public func performAndWait<Result: Sendable>(_ body: @escaping @Sendable () -> Result) -> Result {
    precondition(!queue.isCurrentThread, "a thread cannot wait for itself")
    return begin(body)()
  }

  /// Queues `body` on the thread, and returns a closure that blocks until it has run. Call the
  /// closure from another thread that may block.
  public func begin<Result: Sendable>(
    _ body: @escaping @Sendable () -> Result
  ) -> @Sendable () -> Result {
    let handover = Handover<Result>()
    queue.add(.work { handover.give(body()) })
    return { handover.take() }
  }

  /// Runs `body` on the thread, after what it has to do already, and gives what it returned.
  public func run<Result>(
    _ body: @escaping @Sendable () -> sending Result
  ) async -> sending Result {
    await withCheckedContinuation { continuation in
      queue.add(.work { continuation.resume(returning: body()) })
    }
  }

  /// Resumes after `duration`, at the earliest when the thread is free.
  public func sleep(for duration: Duration) async {
    await withCheckedContinuation { continuation in
      queue.add({ continuation.resume() }, after: duration)
    }
  }
}

/// A value that only the thread of one executor touches, whoever has it.
///
/// `@unchecked Sendable`: `value` ends the program when it is asked for on another thread.
public final class Confined<Value>: @unchecked Sendable {
  private let executor: ThreadExecutor
  private let kept: Value

  public init(_ value: sending Value, on executor: ThreadExecutor) {
    kept = value
    self.executor = executor
  }

  /// On the executor's thread only.
  public var value: Value {
    executor.checkIsolated()
    return kept
  }
}

/// What a thread does one after the other, and what it does at a time.
///
/// `@unchecked Sendable`: everything mutable is touched only while `mutex` is held; `thread` is
/// written once, by the thread itself before it takes the first job.
private final class JobQueue: @unchecked Sendable {
  enum Entry {
    case job(UnownedJob, UnownedSerialExecutor)
    case work(@Sendable () -> Void)
  }

  private struct Timer {
    let due: ContinuousClock.Instant
    let work: @Sendable () -> Void
  }

  private let lock = ThreadLock()
  private var entries: [Entry] = []
  private var timers: [Timer] = []
  private var isStopped = false
  private var thread: pthread_t?

  var isCurrentThread: Bool {
    lock.hold { thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
  }

  func add(_ entry: Entry) {
    lock.hold { entries.append(entry) }
    lock.signal()
  }

  func add(_ work: @escaping @Sendable () -> Void, after duration: Duration) {
    let timer = Timer(due: .now.advanced(by: duration), work: work)
    lock.hold { timers.append(timer) }
    lock.signal()
  }

  func stop() {
    lock.hold { isStopped = true }
    lock.signal()
  }

  func run() {
    lock.hold { thread = pthread_self() }
    while let (ready, due) = next() {
      for timer in due { timer.work() }
      for entry in ready {
        switch entry {
        case .job(let job, let executor): job.runSynchronously(on: executor)
        case .work(let work): work()
        }
      }
    }
  }

  /// What can be done now, after waiting until there is something; nil at the end.
  private func next() -> ([Entry], [Timer])? {
    lock.hold {
      while true {
        let now = ContinuousClock.now
        let due = timers.filter { $0.due <= now }
        if !entries.isEmpty || !due.isEmpty {
          let ready = entries
          entries = []
          timers.removeAll { $0.due <= now }
          return (ready, due)
        }
        if isStopped { return nil }
        lock.wait(for: timers.map(\.due).min().map { now.duration(to: $0) })
      }
    }
  }
}

/// A value that one thread waits for and another gives.
///
/// `@unchecked Sendable`: `value` is touched only while `lock` is held.
private final class Handover<Value: Sendable>: @unchecked Sendable {
  private let lock = ThreadLock()
  private var value: Value?

  func give(_ value: Value) {
    lock.hold { self.value = value }
    lock.signal()
  }

  func take() -> Value {
    lock.hold {
      while true {
        if let value { return value }
        lock.wait(for: nil)
      }
    }
  }
}

/// A mutex with a condition.
///
/// `@unchecked Sendable`: the two live on the heap, at one address, until nobody has them.
private final class ThreadLock: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t> = .allocate(capacity: 1)
  private let condition: UnsafeMutablePointer<pthread_cond_t> = .allocate(capacity: 1)

  init() {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  func hold<Result>(_ body: () -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }

  func signal() { pthread_cond_signal(condition) }

  /// Inside `hold` only; nil waits for a signal alone.
  func wait(for duration: Duration?) {
    guard let duration else {
      pthread_cond_wait(condition, mutex)
      return
    }
    var until = timespec()
    clock_gettime(CLOCK_REALTIME, &until)
    let (seconds, attoseconds) = max(duration, .zero).components
    let nanoseconds = Int(until.tv_nsec) + Int(attoseconds / 1_000_000_000)
    until.tv_sec += Int(seconds) + nanoseconds / 1_000_000_000
    until.tv_nsec = nanoseconds % 1_000_000_000
    pthread_cond_timedwait(condition, mutex, &until)
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
