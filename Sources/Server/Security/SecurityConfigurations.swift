import FerryCrypto
import FerryHTTP
import FerryModel
import FerryServer
import FerryWorld
import Synchronization

/// The named security configurations of a server: who is asked when a user of one of them logs in.
///
/// A user of the default configuration is known by the plain name, one of another configuration as
/// `user@configuration`. So `anna` of one directory is never `anna` of another.
package final class SecurityConfigurations: AuthenticationProvider {
  /// One stack of providers by its name.
  package struct Configuration: Sendable {
    package let name: String
    package let domain: String
    package let stack: SecurityStack
    /// How long a right password is not asked for again.
    package let memory: Duration

    package init(
      name: String, domain: String = RoleMapping.defaultDomain, stack: SecurityStack,
      memory: Duration = .seconds(3_600)
    ) {
      self.name = name
      self.domain = domain
      self.stack = stack
      self.memory = memory
    }
  }

  private struct Remembered {
    let digest: [UInt8]
    let record: UserRecord
    /// Whether a provider knew the user without the password: then one that no longer does ends it.
    let wasLookedUp: Bool
    let end: Timestamp
  }

  private struct Place: Hashable {
    let configuration: String
    let number: Int
  }

  private struct State {
    var remembered = RecentTable<ExactText, Remembered>(
      limit: SecurityConfigurations.mostRemembered)
    /// Providers that were away a moment ago.
    var away: [Place: Timestamp] = [:]
  }

  static let mostRemembered: Int = 10_000
  /// For how long nobody waits for a provider that was away: logins are looked at one after another.
  static let pause: Duration = .seconds(5)

  package let configurations: [Configuration]
  private let world: World
  private let key: [UInt8]
  private let state = Mutex(State())

  /// At least one; the first is the default.
  package init(_ configurations: [Configuration], world: World) {
    self.configurations = configurations
    self.world = world
    key = world.chance.bytes(32)
  }

  /// The domain of a user, for the mapping of roles.
  package func domain(of user: String) -> String { split(user).configuration.domain }

  package func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
    if let record = remembered(user: user, password: password) { return record }
    let (name, configuration) = split(user)
    let (verdict, steps) = judge(name, password, configuration)
    switch verdict {
    case .accepted(let record):
      let named = renamed(record, name, configuration)
      remember(named, password, configuration)
      return named
    case .refused: throw .wrongLogin
    // Else nobody would count guesses at the user file while a directory is away.
    case .away where isWrongForKnownUser(name, steps, configuration): throw .wrongLogin
    case .away:
      throw ServerError(
        .issuerAway, "who verifies the logins of \(configuration.name) cannot be reached",
        hint: "Try again in a few seconds. The server's log names the provider.",
        isTransient: true, retryAfterSeconds: 5)
    }
  }

  package func remembered(user: String, password: String) -> UserRecord? {
    let (name, configuration) = split(user)
    let whole = whole(name, configuration)
    guard let known = state.withLock({ $0.remembered[ExactText(whole)] }),
      world.clock.moment < known.end,
      equalInConstantTime(known.digest, digest(whole, password))
    else { return nil }
    guard let now = record(of: whole) else { return known.wasLookedUp ? nil : known.record }
    return now.stamp.hasBytes(of: known.record.stamp) ? now : nil
  }

  package func record(of user: String) -> UserRecord? {
    let (name, configuration) = split(user)
    return configuration.stack.record(of: name).map { renamed($0, name, configuration) }
  }

  package func looksUp(_ user: String) -> Bool {
    split(user).configuration.stack.entries.allSatisfy(\.module.looksUpUsers)
  }

  package func name(of user: String, _ headers: HTTPHeaders) throws(ServerError) -> String {
    let (names, domains) = (headers.values("X-SUP-SC"), headers.values("X-SUP-DOMAIN"))
    guard names.count <= 1, domains.count <= 1 else { throw .wrongLogin }
    var (name, configuration) = split(user)
    if let wanted = names.first {
      guard let found = configurations.first(where: { $0.name.hasBytes(of: wanted) }),
        name.hasBytes(of: user) || found.name.hasBytes(of: configuration.name)
      else { throw .wrongLogin }
      configuration = found
    } else if let domain = domains.first, name.hasBytes(of: user) {
      // The first of a domain is the domain's default.
      guard let found = configurations.first(where: { $0.domain.hasBytes(of: domain) }) else {
        throw .wrongLogin
      }
      configuration = found
    }
    if let domain = domains.first, !domain.hasBytes(of: configuration.domain) {
      throw .wrongLogin
    }
    // A name that ends like another configuration would be read as that one's.
    let whole = whole(name, configuration)
    guard split(whole).configuration.name.hasBytes(of: configuration.name) else {
      throw .wrongLogin
    }
    return whole
  }

  /// What each provider says, for an operator; nothing is remembered. Nil: there is no such
  /// configuration.
  package func explain(
    _ configuration: String, user: String, password: String
  ) -> (verdict: SecurityStack.Verdict, steps: [SecurityStack.Step])? {
    configurations.first { $0.name.hasBytes(of: configuration) }.map { found in
      found.stack.judge { _, module in module.judge(user: user, password: password) }
    }
  }

  /// Whether somebody who knows the user refused the password.
  private func isWrongForKnownUser(
    _ user: String, _ steps: [SecurityStack.Step], _ configuration: Configuration
  ) -> Bool {
    zip(steps, configuration.stack.entries).contains { step, entry in
      guard case .refused = step.outcome, entry.module.looksUpUsers else { return false }
      return entry.module.record(of: user) != nil
    }
  }

  private func judge(
    _ user: String, _ password: String, _ configuration: Configuration
  ) -> (SecurityStack.Verdict, [SecurityStack.Step]) {
    configuration.stack.judge { number, module in
      let place = Place(configuration: configuration.name, number: number)
      let now = world.clock.moment
      if let end = state.withLock({ $0.away[place] }), now < end {
        return .away("it was away a moment ago")
      }
      let outcome = module.judge(user: user, password: password)
      if case .away(let reason) = outcome {
        state.withLock {
          $0.away[place] = world.clock.moment.advanced(by: SecurityConfigurations.pause)
        }
        world.log.warn(
          "who verifies logins cannot be reached", ("configuration", configuration.name),
          ("provider", module.kind), ("reason", reason))
      }
      return outcome
    }
  }

  private func remember(_ record: UserRecord, _ password: String, _ configuration: Configuration) {
    guard configuration.memory > .zero else { return }
    let remembered = Remembered(
      digest: digest(record.name, password), record: record,
      wasLookedUp: self.record(of: record.name) != nil,
      end: world.clock.moment.advanced(by: configuration.memory))
    // A new password takes the place of the one of before.
    state.withLock { $0.remembered[ExactText(record.name)] = remembered }
  }

  private func digest(_ user: String, _ password: String) -> [UInt8] {
    SHA256Digest.authenticate(Array("\(user.utf8.count):\(user)\(password)".utf8), key: key)
  }

  /// A name and the configuration that its end names, behind the last `@`; else the default.
  private func split(_ user: String) -> (name: String, configuration: Configuration) {
    if let at = user.utf8.lastIndex(of: UInt8(ascii: "@")) {
      let end = user[user.utf8.index(after: at)...]
      if let found = configurations.first(where: { $0.name.hasBytes(of: String(end)) }) {
        return (String(user[..<at]), found)
      }
    }
    return (user, configurations[0])
  }

  private func whole(_ name: String, _ configuration: Configuration) -> String {
    configuration.name.hasBytes(of: configurations[0].name) ? name : "\(name)@\(configuration.name)"
  }

  private func renamed(
    _ record: UserRecord, _ name: String, _ configuration: Configuration
  ) -> UserRecord {
    UserRecord(
      name: whole(name, configuration), roles: record.roles, claims: record.claims,
      stamp: record.stamp, packages: record.packages)
  }
}
