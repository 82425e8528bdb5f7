import FerryCrypto
import FerryModel
import FerryWorld
import Synchronization

/// Passwords that were right a moment ago, so that a program which sends its password with each
/// request does not have it verified each time.
///
/// No password is kept, but a hash under a key that lives as long as the process. An entry is good for
/// the record with which it was made: a new password ends it.
final class VerifiedLogins: Sendable {
  private struct Entry {
    let hash: [UInt8]
    let stamp: String
    let until: Timestamp
  }

  static let lifetime: Duration = .seconds(300)
  static let memory: Int = 1_000

  private struct State {
    /// Made when the first password is noted.
    var key: [UInt8] = []
    var entries: [ExactText: Entry] = [:]
  }

  private let chance: any Chance
  private let state = Mutex(State())

  init(chance: any Chance) { self.chance = chance }

  func isVerified(_ user: String, _ password: String, stamp: String, now: Timestamp) -> Bool {
    let (found, key) = state.withLock { ($0.entries[ExactText(user)], $0.key) }
    guard let entry = found, now < entry.until, entry.stamp.hasBytes(of: stamp) else {
      return false
    }
    return entry.hash == VerifiedLogins.hash(user, password, key)
  }

  func note(_ user: String, _ password: String, stamp: String, now: Timestamp) {
    // Of a user without a stamp nobody learns that the password has changed.
    guard !stamp.isEmpty else { return }
    let fresh = state.withLock { $0.key.isEmpty } ? chance.bytes(32) : []
    state.withLock { state in
      if state.key.isEmpty { state.key = fresh }
      if state.entries.count >= VerifiedLogins.memory, state.entries[ExactText(user)] == nil {
        state.entries = state.entries.filter { now < $0.value.until }
        if state.entries.count >= VerifiedLogins.memory { state.entries = [:] }
      }
      state.entries[ExactText(user)] = Entry(
        hash: VerifiedLogins.hash(user, password, state.key), stamp: stamp,
        until: now.advanced(by: VerifiedLogins.lifetime))
    }
  }

  private static func hash(_ user: String, _ password: String, _ key: [UInt8]) -> [UInt8] {
    SHA256Digest.hash(
      key + SHA256Digest.hash(key + Array(user.utf8)) + Array(password.utf8))
  }
}
