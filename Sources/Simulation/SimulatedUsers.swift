import FerryServer
import Synchronization

/// Who may see what, as an operator changes it while the run goes on.
final class SimulatedUsers: AuthenticationProvider {
  private let agencies: Mutex<[String: Set<Int64>]>

  init(_ agencies: [String: Set<Int64>]) { self.agencies = Mutex(agencies) }

  func set(_ user: String, _ rights: Set<Int64>) { agencies.withLock { $0[user] = rights } }

  func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
    guard let record = record(of: user) else {
      throw ServerError(.wrongLogin, "there is no \(user)", hint: "Log in as somebody else.")
    }
    return record
  }

  func record(of user: String) -> UserRecord? {
    guard let rights = agencies.withLock({ $0[user] }) else { return nil }
    return UserRecord(name: user, claims: ["agency": rights.sorted().map(String.init)])
  }
}
