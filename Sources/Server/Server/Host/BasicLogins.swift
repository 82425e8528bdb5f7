import FerryCrypto
import FerryHTTP
import FerryModel
import FerryWorld
import Synchronization

/// Who sends name and password with each request, as callers of a gateway do.
///
/// A password takes long to verify on purpose, so that one that was right is remembered for an hour:
/// as a digest under a key of this process, and only until the user's stamp changes, which a new
/// password and a logout do. Wrong ones count as those of every other login.
package final class BasicLogins: Sendable {
  private struct Known {
    let stamp: String
    let end: Timestamp
  }

  /// How long a right password is not verified again.
  static let memory: Duration = .seconds(3_600)
  static let remembered: Int = 10_000

  private let provider: any AuthenticationProvider
  private let doorkeeper: Doorkeeper
  private let clock: any WorldClock
  private let key: [UInt8]
  private let known = Mutex(RecentTable<[UInt8], Known>(limit: remembered))

  package convenience init(_ provider: any AuthenticationProvider, world: World) {
    self.init(Doorkeeper(provider, world: world), world: world)
  }

  /// With the doorkeeper of a server: wrong passwords at the gateway and those of devices count
  /// together.
  package init(_ doorkeeper: Doorkeeper, world: World) {
    provider = doorkeeper.provider
    self.doorkeeper = doorkeeper
    clock = world.clock
    key = world.chance.bytes(32)
  }

  /// Errors: `wrongLogin`; `tooManyGuesses` and `tooManyLogins`, which say when to come again.
  ///
  /// `service`: the logical roles of the record are those for it. `headers`: may name a security
  /// configuration.
  package func login(
    user: String, password: String, _ headers: HTTPHeaders = [:], at service: String = "",
    from address: String
  ) async throws(ServerError) -> UserRecord {
    let record = try await record(
      user: try provider.name(of: user, headers), password: password, from: address)
    return mapped(record, service)
  }

  /// The user of an issuer's token. Errors: `refusedToken`, `issuerAway`.
  package func login(
    token: String, at service: String = ""
  ) async throws(ServerError) -> UserRecord {
    mapped(try await doorkeeper.login(token: token).record, service)
  }

  /// A user whose name something else has proved, such as a certificate; nil: there is none.
  package func user(named name: String, at service: String = "") -> UserRecord? {
    provider.record(of: name).map { mapped($0, service) }
  }

  private func mapped(_ record: UserRecord, _ service: String) -> UserRecord {
    UserRecord(
      name: record.name,
      roles: doorkeeper.roles.roles(record.roles, of: record.name, in: service),
      claims: record.claims, stamp: record.stamp, packages: record.packages)
  }

  private func record(
    user: String, password: String, from address: String
  ) async throws(ServerError) -> UserRecord {
    if let record = provider.remembered(user: user, password: password) { return record }
    let digest = SHA256Digest.authenticate(
      Array("\(user.utf8.count):\(user)\(password)".utf8), key: key)
    if let record = provider.record(of: user),
      let before = known.withLock({ $0[digest] }), before.stamp == record.stamp,
      clock.moment < before.end
    {
      return record
    }
    // There is no device; a network is known by itself once the user has come from there.
    let login = BasicLogins.request(user, password, address)
    let record = try await doorkeeper.authenticate(login, from: address)
    let end = clock.moment.advanced(by: BasicLogins.memory)
    known.withLock { $0[digest] = Known(stamp: record.stamp, end: end) }
    return record
  }

  private static func request(
    _ user: String, _ password: String, _ address: String
  ) -> LoginRequest {
    LoginRequest(user: user, password: password, device: "gateway \(address)")
  }

  /// Whether an activation code of the user may be tried now. Throws `tooManyGuesses`.
  package func mayTry(user: String, from address: String) async throws(ServerError) {
    try await doorkeeper.mayTry(BasicLogins.request(user, "", address), from: address)
  }

  /// An activation code was tried: a wrong one counts as a wrong password does.
  package func tried(user: String, from address: String, isRight: Bool) async {
    await doorkeeper.tried(
      BasicLogins.request(user, "", address), from: address, isRight: isRight)
  }
}
