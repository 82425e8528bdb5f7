import FerryHTTP
import FerryWorld

/// What is known of a user, whoever vouches for it.
package struct UserRecord: Sendable, Equatable {
  package let name: String
  package let roles: [String]
  package let claims: [String: [String]]
  /// Differs once the user's sessions have to end, as after a change of the password; empty where
  /// nothing ends them.
  package let stamp: String
  /// Which packages of the server the user may use.
  package let packages: AllowedPackages

  package init(
    name: String, roles: [String] = [], claims: [String: [String]] = [:], stamp: String = "",
    packages: AllowedPackages = .all
  ) {
    self.name = name
    self.roles = roles
    self.claims = claims
    self.stamp = stamp
    self.packages = packages
  }
}

extension ServerError {
  /// For a wrong name, password or certificate alike, so that nobody learns which names exist.
  package static let wrongLogin = ServerError(
    .wrongLogin, "the name or the password is wrong", hint: "Check both and log in again.")
}

/// Tells who someone is: the user file, or a directory of the house.
///
/// It may block and take long on purpose; call it from a thread of its own.
package protocol AuthenticationProvider: Sendable {
  /// Throws `wrongLogin` without telling whether the name or the password was wrong.
  func authenticate(user: String, password: String) throws(ServerError) -> UserRecord

  /// The user's record as it is now, when a session is renewed; nil when the user is gone.
  func record(of user: String) -> UserRecord?

  /// Whether the record is young enough to say what the user may do now. Where it is not, what the
  /// user sent waits.
  func areRightsKnown(of user: String, now: Timestamp) -> Bool

  /// Whether it finds the user without a password. False for one of a directory: what the login found
  /// then holds until the next login.
  func looksUp(_ user: String) -> Bool

  /// The user, where this password was right a moment ago and nothing is known to have changed since;
  /// nil where somebody has to be asked. At once, and from any thread.
  func remembered(user: String, password: String) -> UserRecord?

  /// The user's whole name, where fields of a request say which security configuration is meant.
  /// Throws `wrongLogin` where name and fields contradict each other.
  func name(of user: String, _ headers: HTTPHeaders) throws(ServerError) -> String
}

extension AuthenticationProvider {
  package func looksUp(_ user: String) -> Bool { true }

  package func remembered(user: String, password: String) -> UserRecord? { nil }

  package func name(of user: String, _ headers: HTTPHeaders) throws(ServerError) -> String { user }

  package func areRightsKnown(of user: String, now: Timestamp) -> Bool { true }
}

extension AuthenticationProvider {
  /// Whether nobody can say later what the user of this login may do. One who was removed from a user
  /// file since is none of those.
  func isKnownByLoginOnly(_ record: UserRecord) -> Bool {
    !looksUp(record.name) && self.record(of: record.name) == nil
  }
}
