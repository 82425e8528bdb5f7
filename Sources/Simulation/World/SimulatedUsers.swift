import FerryModel
import FerryServer
import Synchronization

/// Who may see what, as an operator changes it while the run goes on.
final class SimulatedUsers: AuthenticationProvider {
  private struct State {
    var agencies: [ExactText: Set<Int64>]
    /// What users might see when each token was given.
    var tokens: [String: Set<Int64>] = [:]
  }

  private let state: Mutex<State>

  /// Two names of which `String` takes one for the other: composed and decomposed.
  static let names: (first: String, second: String) = ("Ren\u{E9}", "Rene\u{301}")

  init(first: Set<Int64>, second: Set<Int64>) {
    let names = SimulatedUsers.names
    state = Mutex(
      State(agencies: [ExactText(names.first): first, ExactText(names.second): second]))
  }

  func set(_ user: String, _ rights: Set<Int64>) {
    state.withLock { $0.agencies[ExactText(user)] = rights }
  }

  /// What a token allows.
  static func rights(ofClaims claims: [String: [String]]) -> Set<Int64> {
    Set((claims["agency"] ?? []).compactMap(SimulatedBusiness.agency(named:)))
  }

  /// What a user may see now.
  func rights(of user: String) -> Set<Int64> {
    state.withLock { $0.agencies[ExactText(user)] ?? [] }
  }

  /// A token leaves the server for a user as it is now.
  func note(token: String, of user: String) {
    state.withLock { $0.tokens[token] = $0.agencies[ExactText(user)] ?? [] }
  }

  /// What the user of a token might see when it was given; nil where nobody gave it.
  func rights(ofToken token: String) -> Set<Int64>? { state.withLock { $0.tokens[token] } }

  func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
    guard let record = record(of: user) else {
      throw ServerError(.wrongLogin, "there is no \(user)", hint: "Log in as somebody else.")
    }
    return record
  }

  func record(of user: String) -> UserRecord? {
    guard let rights = state.withLock({ $0.agencies[ExactText(user)] }) else { return nil }
    return UserRecord(
      name: user, claims: ["agency": rights.sorted().map(SimulatedBusiness.name(ofAgency:))])
  }
}
