import FerryModel
import Synchronization

/// A user file that is read again when it changes; any thread.
package final class ReloadedUsers: AuthenticationProvider {
  private struct State: Sendable {
    var users: UserFile
    var mark: FileMark
  }

  private let path: String
  private let verify: UserFile.Verify
  private let state: Mutex<State>

  package init(path: String, verify: @escaping UserFile.Verify) throws(ServerError) {
    self.path = path
    self.verify = verify
    let mark = FileMark(path)
    state = Mutex(State(users: try UserFile(path: path, verify: verify), mark: mark))
  }

  /// All of them, in the order of their names.
  package var records: [UserRecord] { state.withLock { $0.users }.records }

  /// Reads the file where it has changed since; returns whether it did. Throws `badUserFile` once for
  /// each change that cannot be read: the users of before stay.
  package func reload() throws(ServerError) -> Bool {
    let mark = FileMark(path)
    guard mark != state.withLock({ $0.mark }) else { return false }
    state.withLock { $0.mark = mark }
    let users = try UserFile(path: path, verify: verify)
    state.withLock { $0.users = users }
    return true
  }

  package func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
    // A password takes long: not inside the lock.
    try state.withLock { $0.users }.authenticate(user: user, password: password)
  }

  package func record(of user: String) -> UserRecord? {
    state.withLock { $0.users.record(of: user) }
  }
}
