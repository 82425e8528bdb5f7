import FerrySQLite
import Synchronization

/// Which of several processes on one database synchronizes it: one at a time.
///
/// An app and its extension would otherwise send the same operations twice and import over each
/// other. The lease is a lock that the system takes back when its process ends, however it ends; it
/// is held only while there is something to do, since a suspended app may hold no lock on a file
/// that it shares.
final class SessionLease: Sendable {
  private let path: String
  private let held = Mutex<SharedConnection?>(nil)

  init(database: String) { path = database + "-session" }

  var isHeld: Bool { held.withLock { $0 != nil } }

  /// Takes the lease without waiting; false while another process has it.
  func take() throws(FerryError) -> Bool {
    if isHeld { return true }
    do {
      let connection = try Connection(path: path, busyTimeoutMilliseconds: 0)
      try connection.execute("BEGIN EXCLUSIVE")
      let shared = SharedConnection(connection)
      held.withLock { $0 = shared }
      return true
    } catch {
      if error.isBusy { return false }
      throw Store.failure(error, path: path)
    }
  }

  func release() { held.withLock { $0 = nil } }
}
