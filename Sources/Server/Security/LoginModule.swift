import FerryServer

/// One provider of a security configuration: it says whether a password is right, and what its user may
/// do.
///
/// It may block for as long as its own deadline; call it from a thread of its own.
package protocol LoginModule: Sendable {
  /// The name of its kind in the file, such as `ldap`.
  var kind: String { get }

  /// Whether it knows users without their password. Then a user who is removed there is removed at
  /// once; else the rights of a login hold until the next one.
  var looksUpUsers: Bool { get }

  func judge(user: String, password: String) -> LoginOutcome

  /// The user as known now; nil: there is none, or this module cannot know.
  func record(of user: String) -> UserRecord?
}

/// What a provider says of a login.
package enum LoginOutcome: Sendable, Equatable {
  case accepted(UserRecord)
  /// The reason is for the operator, never for who tries.
  case refused(String)
  /// Nobody could be asked: no guess was made.
  case away(String)
}

/// What the outcome of one provider means for the whole configuration.
package enum ControlFlag: String, Sendable, CaseIterable {
  /// It must accept. The others are asked in any case.
  case required
  /// It must accept. If it does not, nobody else is asked.
  case requisite
  /// If it accepts, and none that must has refused, nobody else is asked.
  case sufficient
  /// It may add roles.
  case optional
}
