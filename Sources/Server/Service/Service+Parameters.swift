import FerryModel
import FerrySQLite
import FerryWire

/// What a device asks for beside its user's claims.
extension Service {
  func rights(of state: ExchangeState, _ keys: [String: String]) -> Rights {
    let parameters = state.hello.parameters
    return Rights(
      rules: rules, user: state.identity.user, roles: roles(of: state.identity),
      claims: state.identity.claims,
      sets: parameters.sets, keys: parameters.keys.merging(keys) { $1 })
  }

  /// Those of now, so that what a role opened closes with the next exchange and not with the token.
  func roles(of identity: Identity) -> [String] {
    guard let provider, !rules.package.roles.isEmpty else { return identity.roles }
    return provider.record(of: identity.user)?.roles ?? []
  }

  func personalKeys(of user: String) throws(ServerError) -> [String: String] {
    guard package.parameters.contains(where: { $0.kind == .server }) else { return [:] }
    return try guarded { () throws(SQLiteError) in try personalization.keys(of: user) }
  }

  /// Keeps the personalization keys that a user changed; their other lines look at their rights
  /// again.
  func keep(_ changed: [String: String?], of user: String) throws(ServerError) {
    guard !changed.isEmpty else { return }
    let differs = try guarded { () throws(SQLiteError) in
      try personalization.keep(changed, of: user)
    }
    guard differs else { return }
    for (id, exchange) in exchanges.sorted(by: { $0.key < $1.key })
    where exchange.state.identity.user.hasBytes(of: user) {
      exchange.state.isStale = true
      exchange.state.hasNews = true
      onStir?(id)
    }
  }
}
