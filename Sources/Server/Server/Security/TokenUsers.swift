import FerryModel
import FerryWorld
import Synchronization

/// What the newest token of each issuer's user said, for any thread.
///
/// An issuer is not asked who a user is now: its tokens say so. So rights of now are those of the
/// newest token seen, and a day later nobody knows them until a newer one comes.
package final class TokenUsers: AuthenticationProvider {
  /// How old the newest token may be before its rights count as unknown.
  package var greatestAge: Duration { age.withLock { $0 } }
  private let age: Mutex<Duration>
  private let users = Mutex<[ExactText: TokenLogin]>([:])

  package init(greatestAge: Duration = .seconds(86_400)) { age = Mutex(greatestAge) }

  /// What the operator chose.
  func set(greatestAge: Duration) { age.withLock { $0 = greatestAge } }

  /// Whether it is newer than what is known, and different or later.
  func note(_ login: TokenLogin) -> Bool {
    users.withLock { users in
      let name = ExactText(login.record.name)
      if let known = users[name], known.issued > login.issued { return false }
      users[name] = login
      return true
    }
  }

  package func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
    throw .wrongLogin
  }

  package func record(of user: String) -> UserRecord? {
    users.withLock { $0[ExactText(user)]?.record }
  }

  package func areRightsKnown(of user: String, now: Timestamp) -> Bool {
    guard let login = users.withLock({ $0[ExactText(user)] }) else { return true }
    return now < login.issued.advanced(by: greatestAge)
  }
}

/// Providers in one order. The first that knows a name is the one that speaks for it.
package struct ProviderChain: AuthenticationProvider {
  private let providers: [any AuthenticationProvider]

  /// At least one; the first also looks at the passwords of names that nobody knows, so that they take
  /// as long as others.
  package init(_ first: any AuthenticationProvider, _ more: [any AuthenticationProvider]) {
    providers = [first] + more
  }

  package func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
    try provider(of: user).authenticate(user: user, password: password)
  }

  package func record(of user: String) -> UserRecord? {
    for provider in providers {
      if let record = provider.record(of: user) { return record }
    }
    return nil
  }

  package func areRightsKnown(of user: String, now: Timestamp) -> Bool {
    provider(of: user).areRightsKnown(of: user, now: now)
  }

  private func provider(of user: String) -> any AuthenticationProvider {
    providers.first { $0.record(of: user) != nil } ?? providers[0]
  }
}
