import FerryCrypto
import FerryServer
import FerryWorld
import Synchronization

/// Logins that a cookie carries on: each ends half an hour after its last request, and once the
/// user's record changes.
final class WebSessions: Sendable {
  private struct Session {
    let user: String
    let stamp: String
    var end: Timestamp
  }

  static let idle: Duration = .seconds(1_800)
  static let most: Int = 10_000

  private let world: World
  private let provider: any AuthenticationProvider
  private let known = Mutex(RecentTable<String, Session>(limit: most))

  init(_ provider: any AuthenticationProvider, world: World) {
    self.provider = provider
    self.world = world
  }

  /// The user of a session that is open; it is open for another half an hour.
  func user(of id: String) -> UserRecord? {
    let now = world.clock.moment
    let session = known.withLock { table -> Session? in
      guard var session = table[id], now < session.end else {
        table[id] = nil
        return nil
      }
      session.end = now.advanced(by: WebSessions.idle)
      table[id] = session
      return session
    }
    guard let session, let record = provider.record(of: session.user),
      record.stamp == session.stamp
    else { return nil }
    return record
  }

  /// Opens one; its id is the value of the cookie.
  func begin(_ user: UserRecord) -> String {
    let id = hexadecimal(world.chance.bytes(32))
    let end = world.clock.moment.advanced(by: WebSessions.idle)
    known.withLock { $0[id] = Session(user: user.name, stamp: user.stamp, end: end) }
    return id
  }
}
