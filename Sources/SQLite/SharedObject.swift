#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// An object that several threads share, one at a time, such as one that owns connections.
///
/// The thread that has it may ask for it again.
///
/// `@unchecked Sendable`: `object` is reached only by the thread that holds `lock`.
public final class SharedObject<Object: AnyObject>: @unchecked Sendable {
  private let object: Object
  private let lock: UnsafeMutablePointer<pthread_mutex_t>

  public init(_ object: sending Object) {
    self.object = object
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

  /// Runs `body` while no other thread has the object, which must not leave it.
  public func withObject<Result, Failure: Error>(
    _ body: (Object) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return try body(object)
  }

  /// As `withObject`; false at once, without a call of `body`, where another thread has the object.
  public func withObjectIfFree(_ body: (Object) -> Void) -> Bool {
    guard pthread_mutex_trylock(lock) == 0 else { return false }
    defer { pthread_mutex_unlock(lock) }
    body(object)
    return true
  }
}
