import FerryWorld

/// Who makes a request, as its token says: enough for queues and lines of the log. What is done for
/// it needs a `CheckedIdentity`, which only the service's thread gives.
struct TokenIdentity: Sendable {
  /// Of queues and logs: nobody has looked at the session yet.
  var user: String { identity.user }
  fileprivate let identity: Identity

  /// Whether the user may use the package of this id.
  func mayUse(_ package: String) -> Bool { identity.packages.include(id: package) }

  /// Throws where the token is none of this server's, or has ended, or its user is gone.
  init(
    token: String, _ tokens: AccessTokens, _ provider: (any AuthenticationProvider)?,
    now: Timestamp
  ) throws(ServerError) {
    let identity = try tokens.verify(token, now: now)
    // A token lives on for 15 minutes; the user may be gone before.
    guard let record = provider?.record(of: identity.user) else { throw Accounts.ended }
    self.identity = identity.with(record)
  }
}

/// Who makes a request, when token, session, device and user were looked at in the moment of need.
///
/// Nobody else can make one. So a route that serves users cannot forget to ask.
struct CheckedIdentity: Sendable {
  let identity: Identity

  fileprivate init(_ identity: Identity) { self.identity = identity }
}

extension ServiceHost {
  /// Throws where the token has ended, or its session, by a logout, a lock, a new password or the
  /// removal of the user.
  func check(_ claimed: TokenIdentity) throws(ServerError) -> CheckedIdentity {
    guard !isStopped else { throw ServiceHost.stopped }
    try service.requireRecentView()
    guard claimed.identity.isGood(at: world.clock.now) else {
      throw ServerError(
        .expiredToken, "the token has expired", hint: "Renew it with the refresh token.")
    }
    guard let record = provider?.record(of: claimed.identity.user) else { throw Accounts.ended }
    try service.check(claimed.identity)
    return CheckedIdentity(claimed.identity.with(record))
  }
}
