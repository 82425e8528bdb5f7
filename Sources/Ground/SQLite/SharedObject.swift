/// An object that several threads share, one at a time, such as one that owns connections.
///
/// The thread that has it may ask for it again.
///
/// `@unchecked Sendable`: `object` is reached only by the thread that holds `lock`.
public final class SharedObject<Object: AnyObject>: @unchecked Sendable {
  private let object: Object
  private let lock = RecursiveLock()

  public init(_ object: sending Object) { self.object = object }

  /// Runs `body` while no other thread has the object, which must not leave it.
  public func withObject<Result, Failure: Error>(
    _ body: (Object) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(object)
  }

  /// As `withObject`; false at once, without a call of `body`, where another thread has the object.
  public func withObjectIfFree(_ body: (Object) -> Void) -> Bool {
    guard lock.tryLock() else { return false }
    defer { lock.unlock() }
    body(object)
    return true
  }
}
