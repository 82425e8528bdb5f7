import FerryWorld

/// Who makes a request, as the token says.
package struct Identity: Sendable, Equatable {
  package let user: String
  /// The device that the token was given to; nil where any device of the user is meant.
  package let device: String?
  package let roles: [String]
  /// Values of each claim as text; partition rules turn them into the type of their attribute.
  package let claims: [String: [String]]
  /// When the token was given, by the server's clock of that time.
  package let issued: Timestamp
  package let expires: Timestamp
  /// The session that the token was given to; nil where none is asked for.
  let session: String?
  /// Which packages the user may use. No token says so: it is what the user's record said when the
  /// request was looked at.
  private(set) var packages: AllowedPackages = .all

  package init(
    user: String, device: String?, roles: [String] = [], claims: [String: [String]] = [:],
    issued: Timestamp = Timestamp(milliseconds: 0), expires: Timestamp, session: String? = nil
  ) {
    self.user = user
    self.device = device
    self.roles = roles
    self.claims = claims
    self.issued = issued
    self.expires = expires
    self.session = session
  }

  /// The same with the roles, claims and packages of now, as the provider has them.
  func with(_ record: UserRecord) -> Identity {
    var identity = Identity(
      user: user, device: device, roles: record.roles, claims: record.claims, issued: issued,
      expires: expires, session: session)
    identity.packages = record.packages
    return identity
  }

  /// Whether the token is good at this time: it has not ended, and it was not given later than now.
  ///
  /// One that was given under a clock that was ahead would live on for as long as the clock was
  /// wrong, with the rights of then.
  func isGood(at now: Timestamp) -> Bool {
    now < expires && issued <= now.advanced(by: AccessTokens.leeway)
  }
}
