import FerryCrypto
import FerryServer
import FerryWorld
import Synchronization

/// The sessions of operators in browsers. They end with the server.
///
/// A session ends 30 minutes after its last request, 12 hours after its login, and as soon as its
/// operator has another password or is removed. The role is that of now.
package final class AdminSessions: Sendable {
  package struct Session: Sendable, Equatable {
    package let name: String
    /// Sent with each request that changes something; another site cannot read it.
    package let csrf: String
    let stamp: String
    let begun: Timestamp
    var used: Timestamp
    package var ends: Timestamp {
      min(begun.advanced(by: AdminSessions.longest), used.advanced(by: AdminSessions.idle))
    }
  }

  static let idle: Duration = .seconds(1_800)
  static let longest: Duration = .seconds(43_200)
  /// Of all operators together; the one that was used longest ago ends for a new one.
  static let most: Int = 1_000

  private let world: World
  /// By the hash of the token: what is in memory opens nothing.
  private let sessions = Mutex<[String: Session]>([:])

  package init(world: World) { self.world = world }

  /// The token of a new session, which only its browser has.
  package func begin(_ person: Operator) -> (token: String, session: Session) {
    let token = hexadecimal(world.chance.bytes(32))
    let now = world.clock.moment
    let session = Session(
      name: person.name, csrf: hexadecimal(world.chance.bytes(16)), stamp: person.stamp, begun: now,
      used: now)
    sessions.withLock { sessions in
      sessions = sessions.filter { $0.value.ends > now }
      while sessions.count >= AdminSessions.most,
        let oldest = sessions.min(by: { $0.value.used < $1.value.used })
      {
        sessions[oldest.key] = nil
      }
      sessions[AdminSessions.hash(token)] = session
    }
    return (token, session)
  }

  /// The session of a token, used now; nil: there is none, or it has ended. `isLive` gives the operator
  /// of a name as it is now.
  package func use(_ token: String, _ person: (String) -> Operator?) -> (Session, Operator)? {
    let key = AdminSessions.hash(token)
    let now = world.clock.moment
    guard let known = sessions.withLock({ $0[key] }) else { return nil }
    guard now < known.ends, let found = person(known.name), found.stamp == known.stamp else {
      end(token)
      return nil
    }
    let used = sessions.withLock { sessions -> Session? in
      guard var session = sessions[key] else { return nil }
      session.used = now
      sessions[key] = session
      return session
    }
    return used.map { ($0, found) }
  }

  package func end(_ token: String) {
    sessions.withLock { $0[AdminSessions.hash(token)] = nil }
  }

  private static func hash(_ token: String) -> String {
    hexadecimal(SHA256Digest.hash(Array(token.utf8)))
  }
}
