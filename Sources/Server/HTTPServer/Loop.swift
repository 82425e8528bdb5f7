import CLinux
import Dispatch
import Glibc
import Synchronization

/// One thread that waits for sockets and runs the tasks that prefer it.
///
/// Handlers stay on the thread that reads and writes their connection, so a request costs no
/// thread switch and the server no further thread.
///
/// `@unchecked Sendable`: `own` and the descriptors' use belong to the thread that called
/// `adopt`; other threads reach only `foreign` (a mutex), the atomics, and `write` on `wake`,
/// whose descriptor lives as long as the loop.
final class Loop: TaskExecutor, @unchecked Sendable {
  private let epoll: CInt
  private let wake: CInt
  private var own: [UnownedJob] = []
  private let foreign = Mutex<[UnownedJob]>([])
  private let isAsleep = Atomic<Bool>(false)
  /// The identity of the loop's thread; 0 before it runs.
  private let thread = Atomic<UInt>(0)
  private let isRetired = Atomic<Bool>(false)
  private var ready = [CInt](repeating: 0, count: 256)

  init() throws(HTTPServerError) {
    epoll = epoll_create1(CInt(O_CLOEXEC))
    wake = eventfd(0, CInt(O_CLOEXEC | O_NONBLOCK))
    guard epoll >= 0, wake >= 0, ferry_epoll_watch_input(epoll, wake) == 0 else {
      throw HTTPServerError(
        code: .system, message: "the system gave no epoll: \(String(cString: strerror(errno)))",
        hint: "Raise `ulimit -n` if it is too low.")
    }
  }

  deinit {
    close(epoll)
    close(wake)
  }

  // Where jobs come in: any thread.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // The job holds the loop. Once it is in the queue it may run to its end, and the loop may go with it,
    // while this call is still here.
    let held = Unmanaged.passRetained(self)
    defer { held.release() }
    if isRetired.load(ordering: .acquiring) { return runLate(job) }
    if isOwnThread {
      own.append(job)
      return
    }
    foreign.withLock { $0.append(job) }
    if isAsleep.load(ordering: .sequentiallyConsistent) { ring() }
    // A loop that retired between the two looks never reads the queue again.
    if isRetired.load(ordering: .sequentiallyConsistent) { takeForeign().forEach(runLate) }
  }

  var isOwnThread: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

  /// The calling thread becomes the loop's.
  func adopt() { thread.store(UInt(pthread_self()), ordering: .sequentiallyConsistent) }

  /// No thread serves the loop any more. Tasks that outlive it end elsewhere.
  func retire() {
    runJobs()
    thread.store(0, ordering: .sequentiallyConsistent)
    isRetired.store(true, ordering: .sequentiallyConsistent)
    own.forEach(runLate)
    own = []
    takeForeign().forEach(runLate)
  }

  func watchInput(_ descriptor: CInt) { _ = ferry_epoll_watch_input(epoll, descriptor) }
  func watchHangup(_ descriptor: CInt) { _ = ferry_epoll_watch_hangup(epoll, descriptor) }
  func forget(_ descriptor: CInt) { _ = ferry_epoll_forget(epoll, descriptor) }

  /// Runs what was queued when it was called; what that queues in turn waits for the next call,
  /// so that tasks cannot keep the sockets waiting.
  func runJobs() {
    own.append(contentsOf: takeForeign())
    guard !own.isEmpty else { return }
    let jobs = own
    own = []
    for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  /// Waits until a watched descriptor has something to say or a job comes; -1 is for ever.
  func wait(milliseconds: CInt) -> ArraySlice<CInt> {
    isAsleep.store(true, ordering: .sequentiallyConsistent)
    // The last look: whoever appends after it sees the flag and rings.
    let hasJobs = !own.isEmpty || foreign.withLock { !$0.isEmpty }
    let count = ferry_epoll_wait(
      epoll, &ready, CInt(ready.count), hasJobs ? 0 : milliseconds)
    isAsleep.store(false, ordering: .sequentiallyConsistent)
    let found = ready.prefix(Int(max(0, count)))
    if found.contains(wake) {
      var rings: eventfd_t = 0
      eventfd_read(wake, &rings)
    }
    return found
  }

  private func ring() { eventfd_write(wake, 1) }

  private func takeForeign() -> [UnownedJob] {
    foreign.withLock { jobs in
      guard !jobs.isEmpty else { return [] }
      let taken = jobs
      jobs = []
      return taken
    }
  }

  private func runLate(_ job: UnownedJob) {
    DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
