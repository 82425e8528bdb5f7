import FerryModel
import FerryServer
import FerryWorld
import Synchronization

/// Who may see what, as an operator changes it while the run goes on.
final class SimulatedUsers: AuthenticationProvider {
  private struct State {
    var agencies: [ExactText: Set<Int64>]
    /// What users might see when each token was given.
    var tokens: [String: Set<Int64>] = [:]
    /// When the newest token of each user's issuer was given.
    var seen: [ExactText: Timestamp] = [:]
  }

  private let state: Mutex<State>

  /// Two names of which `String` takes one for the other: composed and decomposed.
  static let names: (first: String, second: String) = ("Ren\u{E9}", "Rene\u{301}")

  /// Users have tokens of an issuer, which say for a day what they may do.
  private let areOfIssuer: Bool

  init(first: Set<Int64>, second: Set<Int64>, areOfIssuer: Bool = false) {
    self.areOfIssuer = areOfIssuer
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

  /// A device sends a newer token of the issuer.
  func see(_ user: String, now: Timestamp) { state.withLock { $0.seen[ExactText(user)] = now } }

  func areRightsKnown(of user: String, now: Timestamp) -> Bool {
    guard areOfIssuer, let seen = state.withLock({ $0.seen[ExactText(user)] }) else { return true }
    return now < seen.advanced(by: .seconds(86_400))
  }

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
