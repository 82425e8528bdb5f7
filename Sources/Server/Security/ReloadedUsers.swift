import FerryModel
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// A user file that is read again when it changes; any thread.
public final class ReloadedUsers: AuthenticationProvider {
  /// What differs once a file was written anew.
  private struct Mark: Equatable {
    var inode: UInt64 = 0
    var size: Int64 = 0
    var seconds: Int64 = 0
    var nanoseconds: Int64 = 0
  }

  private struct State: Sendable {
    var users: UserFile
    var mark: Mark
  }

  private let path: String
  private let verify: UserFile.Verify
  private let state: Mutex<State>

  public init(path: String, verify: @escaping UserFile.Verify) throws(ServerError) {
    self.path = path
    self.verify = verify
    let mark = ReloadedUsers.mark(of: path)
    state = Mutex(State(users: try UserFile(path: path, verify: verify), mark: mark))
  }

  /// All of them, in the order of their names.
  public var records: [UserRecord] { state.withLock { $0.users }.records }

  /// Reads the file where it has changed since; returns whether it did. Throws `badUserFile` once for
  /// each change that cannot be read: the users of before stay.
  public func reload() throws(ServerError) -> Bool {
    let mark = ReloadedUsers.mark(of: path)
    guard mark != state.withLock({ $0.mark }) else { return false }
    state.withLock { $0.mark = mark }
    let users = try UserFile(path: path, verify: verify)
    state.withLock { $0.users = users }
    return true
  }

  public func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
    // A password takes long: not inside the lock.
    try state.withLock { $0.users }.authenticate(user: user, password: password)
  }

  public func record(of user: String) -> UserRecord? {
    state.withLock { $0.users.record(of: user) }
  }

  private static func mark(of path: String) -> Mark {
    var known = stat()
    guard stat(path, &known) == 0 else { return Mark() }
    var mark = Mark()
    mark.inode = UInt64(known.st_ino)
    mark.size = Int64(known.st_size)
    #if canImport(Darwin)
      mark.seconds = Int64(known.st_mtimespec.tv_sec)
      mark.nanoseconds = Int64(known.st_mtimespec.tv_nsec)
    #else
      mark.seconds = Int64(known.st_mtim.tv_sec)
      mark.nanoseconds = Int64(known.st_mtim.tv_nsec)
    #endif
    return mark
  }
}
