import FerryWorld
import Synchronization

/// Tokens whose seal was good, with who they speak for: each request looks at its token twice, and a
/// device sends one for 15 minutes. Any thread.
final class VerifiedTokens: Sendable {
  /// How many are remembered: about 8 MB with tokens of the usual size. When there are more, all
  /// are forgotten and verified again.
  static let limit: Int = 8_192

  private struct State {
    /// Of the keys; with other keys nothing is remembered.
    var generation: Int = 0
    var identities: [String: Identity] = [:]
  }

  private let state = Mutex(State())

  /// Nil where it has to be verified. Whether it has expired is for the caller to see.
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
