import FerryServer
import Synchronization

/// The users of a test: whoever has a device, with any password.
final class TestUsers: AuthenticationProvider {
  private let records = Mutex<[String: UserRecord]>([:])
  private let refused = Mutex<Set<String>>([])

  func add(_ name: String, claims: [String: [String]], roles: [String] = []) {
    records.withLock { records in
      let known = records[name]
      records[name] = UserRecord(
        name: name, roles: (known?.roles ?? []) + roles,
        claims: (known?.claims ?? [:]).merging(claims) { $1 })
    }
  }

  func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
    guard let record = record(of: user), !refused.withLock({ $0.contains(user) }) else {
      throw ServerError(
        .wrongLogin, "the name or the password is wrong",
        hint: "database(user:) makes a user known; acceptLogin(user:) ends a refusal.")
    }
    return record
  }

  func setRefused(_ user: String, _ isRefused: Bool) {
    refused.withLock { users in
      if isRefused { users.insert(user) } else { users.remove(user) }
    }
  }

  func record(of user: String) -> UserRecord? { records.withLock { $0[user] } }
}
