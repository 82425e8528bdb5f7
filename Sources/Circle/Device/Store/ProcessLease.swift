import FerrySQLite
import Synchronization

/// Which of several processes on one database does something that only one may do at a time.
///
/// One synchronizes: an app and its extension would otherwise send the same operations twice and
/// import over each other. One makes the callbacks that are owed. The lease is a lock that the system
/// takes back when its process ends, however it ends; it is held only while there is something to
/// do, since a suspended app may hold no lock on a file that it shares.
final class ProcessLease: Sendable {
  /// What is done.
  enum Work: String, CaseIterable, Sendable { case session, telling }

  private let path: String
  private let held = Mutex<SharedConnection?>(nil)

  init(database: String, for work: Work) { path = database + ProcessLease.suffix(work) }

  /// What is behind the database's name in that of the lease's file.
  static func suffix(_ work: Work) -> String { "-\(work.rawValue)" }

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
