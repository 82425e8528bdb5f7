#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// A connection that several threads share, one at a time.
///
/// The thread that has it may ask for it again: a transaction inside a transaction.
///
/// `@unchecked Sendable`: `connection` and `depth` are read and written only by the thread that holds `lock`.
public final class SharedConnection: @unchecked Sendable {
  private var connection: Connection?
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private var depth: Int = 0

  public init(_ connection: sending Connection) {
    self.connection = connection
    lock = .allocate(capacity: 1)
    var attributes = pthread_mutexattr_t()
    pthread_mutexattr_init(&attributes)
    pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_RECURSIVE))
    pthread_mutex_init(lock, &attributes)
    pthread_mutexattr_destroy(&attributes)
  }

  deinit {
    pthread_mutex_destroy(lock)
    lock.deallocate()
  }

  /// Runs `body` while no other thread uses the connection; the connection must not leave it.
  /// Throws `closed` after `close`.
  public func withConnection<Result, Failure: Error>(
    closed: @autoclosure () -> Failure, _ body: (Connection) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    pthread_mutex_lock(lock)
    depth += 1
    defer {
      depth -= 1
      pthread_mutex_unlock(lock)
    }
    guard let connection else { throw closed() }
    return try body(connection)
  }

  /// Closes the file, after whoever uses it now.
  public func close() {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    precondition(depth == 0, "a database cannot be closed inside its own transaction")
    connection = nil
  }

  /// Runs `body` if this thread has the connection already; nil otherwise.
  public func withHeldConnection<Result, Failure: Error>(
    _ body: (Connection) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard pthread_mutex_trylock(lock) == 0 else { return nil }
    defer { pthread_mutex_unlock(lock) }
    guard depth > 0, let connection else { return nil }
    return try body(connection)
  }
}
