import FerryServer
import Synchronization

/// The users of a test: whoever has a device, with any password.
final class TestUsers: AuthenticationProvider {
  private let records = Mutex<[String: UserRecord]>([:])

  func add(_ name: String, claims: [String: [String]]) {
    records.withLock { records in
      let known = records[name]?.claims ?? [:]
      records[name] = UserRecord(name: name, claims: known.merging(claims) { $1 })
    }
  }

  func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
    guard let record = record(of: user) else {
      preconditionFailure("\(user) has no device of this server")
    }
    return record
  }

  func record(of user: String) -> UserRecord? { records.withLock { $0[user] } }
}
