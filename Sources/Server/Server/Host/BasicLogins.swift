import FerryCrypto
import FerryModel
public import FerryWorld
import Synchronization

/// Who sends name and password with each request, as callers of a gateway do.
///
/// A password takes long to verify on purpose, so that one that was right is remembered for an hour:
/// as a digest under a key of this process, and only until the user's stamp changes, which a new
/// password and a logout do. Wrong ones count as those of every other login.
public final class BasicLogins: Sendable {
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

  public init(_ provider: any AuthenticationProvider, world: World) {
    self.provider = provider
    doorkeeper = Doorkeeper(provider, world: world)
    clock = world.clock
    key = world.chance.bytes(32)
  }

  /// Errors: `wrongLogin`; `tooManyGuesses` and `tooManyLogins`, which say when to come again.
  public func login(
    user: String, password: String, from address: String
  ) async throws(ServerError) -> UserRecord {
    let digest = SHA256Digest.authenticate(
      Array("\(user.utf8.count):\(user)\(password)".utf8), key: key)
    if let record = provider.record(of: user),
      let before = known.withLock({ $0[digest] }), before.stamp == record.stamp,
      clock.moment < before.end
    {
      return record
    }
    // There is no device; a network is known by itself once the user has come from there.
    let login = LoginRequest(user: user, password: password, device: "gateway \(address)")
    let record = try await doorkeeper.authenticate(login, from: address)
    let end = clock.moment.advanced(by: BasicLogins.memory)
    known.withLock { $0[digest] = Known(stamp: record.stamp, end: end) }
    return record
  }
}
