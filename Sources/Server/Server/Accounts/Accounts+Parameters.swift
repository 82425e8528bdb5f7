import FerryModel
import FerryWire

/// What an operator gives a user.
struct Grants: Equatable {
  var roles: [String] = []
  var claims: [String: [String]] = [:]

  /// By bytes: claims that only look alike are two claims.
  static func == (left: Grants, right: Grants) -> Bool {
    ExactText(ClaimText.encode(left.claims)) == ExactText(ClaimText.encode(right.claims))
      && ExactText(ClaimText.encode(roles: left.roles))
        == ExactText(ClaimText.encode(roles: right.roles))
  }
}

/// What a device asks for beside its user's claims.
extension Accounts {
  /// Those of now, so that what a role or claim opened closes with the next round and not with the
  /// token; none where the user is gone.
  func grants(of identity: Identity) -> Grants {
    let token = Grants(roles: identity.roles, claims: identity.claims)
    guard let provider else { return token }
    return provider.record(of: identity.user).map { Grants(roles: $0.roles, claims: $0.claims) }
      ?? Grants()
  }

  /// Whose rights nobody knows now waits; it is looked at again with a newer token of the issuer.
  func areRightsKnown(_ user: ExactText) -> Bool {
    guard let provider else { return true }
    return provider.areRightsKnown(of: user.text, now: world.clock.now)
  }

  func personalKeys(of user: String) throws(ServerError) -> [String: String] {
    guard package.parameters.contains(where: { $0.kind == .server }) else { return [:] }
    return try guarded { () throws(StoreError) in try personalization.keys(of: user) }
  }

  /// Keeps the personalization keys that a user changed; their other lines look at their rights
  /// again.
  func keep(_ changed: [String: String?], of user: String) throws(ServerError) {
    guard !changed.isEmpty else { return }
    let differs = try guarded { () throws(StoreError) in
      try personalization.keep(changed, of: user)
    }
    guard differs else { return }
    core.tell(.rightsChanged(user: user))
  }
}
