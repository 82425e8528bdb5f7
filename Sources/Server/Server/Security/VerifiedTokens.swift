import FerryWorld
import Synchronization

/// Remembers the identity of each token whose seal was valid, to avoid verifying it again.
///
/// Each request looks at its token twice, and a device sends the same token for 15 minutes. Safe on
/// any thread.
final class VerifiedTokens: Sendable {
  /// The most tokens that are remembered, about 8 MB at their usual size. When there are more, all
  /// are forgotten, and each is verified again at its next use.
  static let limit: Int = 8_192

  private struct State {
    /// The generation of the keys that verified the tokens. Lookups with another one find nothing.
    var generation: Int = 0
    var identities: [String: Identity] = [:]
  }

  private let state = Mutex(State())

  /// Returns nil if the token must be verified. The caller checks whether it has expired.
  func identity(of token: String, _ generation: Int) -> Identity? {
    state.withLock { $0.generation == generation ? $0.identities[token] : nil }
  }

  func remember(_ identity: Identity, of token: String, _ generation: Int) {
    state.withLock { state in
      if state.generation != generation || state.identities.count >= VerifiedTokens.limit {
        state.identities = [:]
        state.generation = generation
      }
      state.identities[token] = identity
    }
  }
}
