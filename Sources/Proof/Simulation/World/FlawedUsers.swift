import FerryModel
import FerryServer
import FerryWorld
import Synchronization

/// A wrapper of the simulated users. A planted bug makes it report something false about them.
final class FlawedUsers: AuthenticationProvider {
  private let inner: SimulatedUsers
  private let flaws: Set<PlantedBug>
  /// Each user's record at the first request for it.
  private let first = Mutex<[ExactText: UserRecord]>([:])

  init(_ inner: SimulatedUsers, _ flaws: Set<PlantedBug>) {
    self.inner = inner
    self.flaws = flaws
  }

  func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
    spoiled(try inner.authenticate(user: user, password: password))
  }

  func record(of user: String) -> UserRecord? { inner.record(of: user).map(spoiled) }

  func areRightsKnown(of user: String, now: Timestamp) -> Bool {
    flaws.contains(.oldRightsOfIssuer) || inner.areRightsKnown(of: user, now: now)
  }

  private func spoiled(_ record: UserRecord) -> UserRecord {
    guard flaws.contains(.staleClaims) else { return record }
    let known = first.withLock { first in
      let known = first[ExactText(record.name)] ?? record
      first[ExactText(record.name)] = known
      return known
    }
    return UserRecord(name: record.name, roles: record.roles, claims: known.claims)
  }
}
