import FerryServer

/// The one user of a store. Nobody else reaches the server in this process, so nothing is asked.
final class OfflineUsers: AuthenticationProvider {
  static let name = "offline"
  private static let record = UserRecord(name: name)

  func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
    guard let record = record(of: user) else { throw .wrongLogin }
    return record
  }

  func record(of user: String) -> UserRecord? {
    user == OfflineUsers.name ? OfflineUsers.record : nil
  }
}
