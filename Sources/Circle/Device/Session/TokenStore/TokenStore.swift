import FerryCrypto
import FerrySQLite
import FerryWorld

/// The tokens and the key of this device, in the database itself or in a store of the app. Then the
/// database has a mark instead of the tokens, which changes with them.
final class TokenStore {
  let store: Store
  /// Where the app keeps the tokens; nil: in the database.
  let secrets: DatabaseSecrets?
  /// The tokens that were read from there last.
  private var known: (mark: String, tokens: DeviceTokens)?
  /// The key as it was read last: the app's store may be locked later.
  var knownKey: P256Key?
  /// Why the tokens cannot be read.
  private(set) var failure: FerryError?

  /// The beginning of the mark; no token has a colon.
  private static let mark = "kept:"

  init(_ store: Store, secrets: DatabaseSecrets?) {
    self.store = store
    self.secrets = secrets
  }

  /// The token under one of its names; nil: there is none, or it cannot be read now.
  func token(_ name: Settings.Name) throws(FerryError) -> String? {
    try token(try store.setting(name), name)
  }

  /// The token that a setting means.
  func token(_ setting: String?, _ name: Settings.Name) throws(FerryError) -> String? {
    guard let setting, setting.hasPrefix(TokenStore.mark) else { return setting }
    let tokens = try tokens(of: setting)
    return name == .refreshToken ? tokens?.refresh : tokens?.access
  }

  /// The tokens of the app's store; the mark says whether they were read before.
  private func tokens(of mark: String) throws(FerryError) -> DeviceTokens? {
    if let known, known.mark == mark { return known.tokens }
    guard let secrets else { return nil }
    guard let tokens = try secrets.tokens(of: try store.setting(.device) ?? "") else { return nil }
    known = (mark, tokens)
    return tokens
  }

  /// Whether the tokens can be read now. `refresh` is the setting of the database.
  func areReadable(_ refresh: String?) -> Bool {
    failure = nil
    guard let mark = refresh, mark.hasPrefix(TokenStore.mark) else { return true }
    do throws(FerryError) { return try tokens(of: mark) != nil } catch {
      failure = error
      return false
    }
  }

  /// Keeps the tokens of a login or a renewal. Killed in between, the older mark leads to the newer
  /// tokens.
  func keep(_ tokens: DeviceTokens, expires: Timestamp, of user: String) throws(FerryError) {
    var settings = (access: tokens.access, refresh: tokens.refresh)
    if let secrets {
      // The store has room for one session. The server forgets an ended one with time.
      if try store.setting(.endedToken)?.hasPrefix(TokenStore.mark) == true {
        try store.remove([.endedToken])
      }
      try secrets.keep(tokens, of: try store.setting(.device) ?? "")
      let mark = TokenStore.mark + String(store.world.chance.next(), radix: 16)
      settings = (mark, mark)
      known = (mark, tokens)
    }
    try store.write { connection throws(SQLiteError) in
      try Settings.set(.accessToken, settings.access, connection)
      try Settings.set(.refreshToken, settings.refresh, connection)
      try Settings.set(.accessTokenExpires, String(expires.milliseconds), connection)
      try Settings.set(.user, user, connection)
    }
  }

  /// Moves tokens from the database to the store that the app gives now.
  func move() throws(FerryError) {
    guard secrets != nil, let refresh = try store.setting(.refreshToken),
      let access = try store.setting(.accessToken), let user = try store.setting(.user),
      !refresh.hasPrefix(TokenStore.mark), !access.hasPrefix(TokenStore.mark),
      let expires = try store.setting(.accessTokenExpires).flatMap({ Int64($0) })
    else { return }
    try keep(
      DeviceTokens(access: access, refresh: refresh), expires: Timestamp(milliseconds: expires),
      of: user)
  }

  /// The server does not accept them any more.
  func forget() throws(FerryError) {
    try store.remove([.refreshToken, .accessToken, .accessTokenExpires])
    known = nil
    do throws(FerryError) { try secrets?.forgetTokens() } catch {
      store.world.log.warn("old tokens cannot be removed", ("reason", error.description))
    }
  }

  /// The server does not accept the access token any more.
  func forgetAccess() throws(FerryError) { try store.remove([.accessToken, .accessTokenExpires]) }

  // An ended session.

  /// Ends the session on this device; its token stays until the server knows.
  func endSession() throws(FerryError) {
    try store.withTransaction { transaction throws(FerryError) in
      if let token = try transaction.setting(.refreshToken) {
        try transaction.set(.endedToken, token)
      }
      for name in [Settings.Name.refreshToken, .accessToken, .accessTokenExpires] {
        try transaction.set(name, nil)
      }
    }
  }

  /// The token of a session that the server does not know to have ended.
  func endedToken() throws(FerryError) -> String? {
    try token(try store.setting(.endedToken), .refreshToken)
  }

  /// The server knows that the session has ended.
  func forgetEnded(_ kept: String?) throws(FerryError) {
    guard try store.setting(.endedToken) == kept else { return }
    try store.remove([.endedToken])
    guard try store.setting(.refreshToken) == nil else { return }
    try forget()
  }
}
