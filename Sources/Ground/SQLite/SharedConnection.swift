/// A connection that several threads share, one at a time.
///
/// The thread that has it may ask for it again: a transaction inside a transaction.
///
/// `@unchecked Sendable`: `connection` and `depth` are read and written only by the thread that holds `lock`.
public final class SharedConnection: @unchecked Sendable {
  private var connection: Connection?
  private let lock = RecursiveLock()
  private var depth: Int = 0

  public init(_ connection: sending Connection) { self.connection = connection }

  /// Runs `body` while no other thread uses the connection; the connection must not leave it.
  /// Throws `closed` after `close`.
  public func withConnection<Result, Failure: Error>(
    closed: @autoclosure () -> Failure, _ body: (Connection) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock.lock()
    depth += 1
    defer {
      depth -= 1
      lock.unlock()
    }
    guard let connection else { throw closed() }
    return try body(connection)
  }

  /// Closes the file, after whoever uses it now.
  public func close() {
    lock.lock()
    defer { lock.unlock() }
    precondition(depth == 0, "a database cannot be closed inside its own transaction")
    connection = nil
  }

  /// Runs `body` if this thread has the connection already; nil otherwise.
  public func withHeldConnection<Result, Failure: Error>(
    _ body: (Connection) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard lock.tryLock() else { return nil }
    defer { lock.unlock() }
    guard depth > 0, let connection else { return nil }
    return try body(connection)
  }
}
