import FerrySQLite
import FerryWorld

/// The tokens, where they are kept: in the database itself, or in a store of the app. Then the
/// database has a mark instead of them, which changes with them.
extension Session {
  /// Begins the mark; no token has a colon.
  private static let mark = "kept:"

  /// The token under one of its names; nil: there is none, or it cannot be read now.
  func token(_ name: Settings.Name) throws(FerryError) -> String? {
    try shown(try setting(name), name)
  }

  /// The token that a setting means.
  func shown(_ setting: String?, _ name: Settings.Name) throws(FerryError) -> String? {
    guard let setting, setting.hasPrefix(Session.mark) else { return setting }
    let tokens = try keptTokens(setting)
    return name == .refreshToken ? tokens?.refresh : tokens?.access
  }

  /// What the store has; the mark says whether it was read before.
  private func keptTokens(_ mark: String) throws(FerryError) -> DeviceTokens? {
    if let known = knownTokens, known.mark == mark { return known.tokens }
    guard let secrets else { return nil }
    guard let tokens = try secrets.tokens(of: try setting(.device) ?? "") else { return nil }
    knownTokens = (mark, tokens)
    return tokens
  }

  /// Takes tokens that cannot be read now from the facts. `refresh` is what the database has.
  func judgeTokens(_ facts: inout SessionMachine.Facts, _ refresh: String?) {
    secretsFailure = nil
    guard let mark = refresh, mark.hasPrefix(Session.mark) else { return }
    do throws(FerryError) {
      if try keptTokens(mark) != nil { return }
    } catch {
      secretsFailure = error
    }
    facts.hasRefreshToken = false
    facts.accessTokenExpires = nil
  }

  /// Keeps the tokens of a login or a renewal. Killed in between, the older mark leads to the newer
  /// tokens.
  func keep(
    _ tokens: DeviceTokens, expires: Timestamp, of user: String
  ) throws(FerryError) {
    var settings = (access: tokens.access, refresh: tokens.refresh)
    if let secrets {
      // The store has one place: what ended before is forgotten here, and by the server with time.
      if try setting(.endedToken)?.hasPrefix(Session.mark) == true { try forget([.endedToken]) }
      try secrets.keep(tokens, of: try setting(.device) ?? "")
      let mark = Session.mark + String(store.world.chance.next(), radix: 16)
      settings = (mark, mark)
      knownTokens = (mark, tokens)
    }
    try store.write { connection throws(SQLiteError) in
      try Settings.set(.accessToken, settings.access, connection)
      try Settings.set(.refreshToken, settings.refresh, connection)
      try Settings.set(.accessTokenExpires, String(expires.milliseconds), connection)
      try Settings.set(.user, user, connection)
    }
  }

  /// Moves tokens that the database has to the store that the app gives now.
  package func moveTokens() throws(FerryError) {
    guard secrets != nil, let refresh = try setting(.refreshToken),
      let access = try setting(.accessToken), let user = try setting(.user),
      !refresh.hasPrefix(Session.mark), !access.hasPrefix(Session.mark),
      let expires = try setting(.accessTokenExpires).flatMap({ Int64($0) })
    else { return }
    try keep(
      DeviceTokens(access: access, refresh: refresh), expires: Timestamp(milliseconds: expires),
      of: user)
  }

  /// The server does not take them any more.
  func forgetTokens() throws(FerryError) {
    try forget([.refreshToken, .accessToken, .accessTokenExpires])
    knownTokens = nil
    do throws(FerryError) { try secrets?.forgetTokens() } catch {
      store.world.log.warn("old tokens cannot be removed", ("reason", error.description))
    }
  }
}
