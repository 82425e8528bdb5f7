import FerryCrypto
import FerryModel
import FerrySQLite
import FerryWorld

/// Long-lived random tokens that renew a session. Only their hashes are kept.
///
/// Each use gives a new one. The one before stays valid until the new one is used: a response that
/// was lost must not log a device out.
struct RefreshTokens {
  static let lifetime: Duration = .seconds(60 * 86_400)

  let store: Store

  func issue(user: String, device: String, parent: [UInt8]? = nil) throws(SQLiteError) -> String {
    let token = hexadecimal(store.world.chance.bytes(32))
    let expires = store.world.clock.now.advanced(by: RefreshTokens.lifetime)
    try store.writer.run(
      "INSERT INTO refresh_token (hash, parent, user, device, expires) VALUES (?, ?, ?, ?, ?)",
      .blob(RefreshTokens.hash(token)), parent.map(SQLiteValue.blob) ?? .null, .text(user),
      .text(device), .integer(expires.milliseconds))
    return token
  }

  /// Bounds what is kept of a user: of each device the newest sessions, and of the devices those that
  /// renewed a session last. Whoever loses one logs in again.
  func bound(user: String, device: String, _ limits: ServiceLimits) throws(SQLiteError) {
    try store.writer.run(
      """
      DELETE FROM refresh_token WHERE hash IN (
        SELECT hash FROM refresh_token WHERE user = ? AND device = ?
        ORDER BY expires DESC LIMIT -1 OFFSET ?)
      """, .text(user), .text(device), .integer(Int64(limits.sessionsPerDevice)))
    try store.writer.run(
      """
      DELETE FROM refresh_token WHERE user = ?1 AND device IN (
        SELECT device FROM refresh_token WHERE user = ?1 GROUP BY device
        ORDER BY device = ?2 DESC, max(expires) DESC LIMIT -1 OFFSET ?3)
      """, .text(user), .text(device), .integer(Int64(limits.devicesPerUser)))
  }

  /// Whether the user has a session on this device.
  func isKnown(user: String, device: String) throws(SQLiteError) -> Bool {
    try store.writer.value(
      "SELECT 1 FROM refresh_token WHERE user = ? AND device = ? LIMIT 1", .text(user),
      .text(device)) != nil
  }

  /// The user of a valid token and the token that follows it; nil when it is not valid.
  func rotate(_ token: String, device: String) throws(SQLiteError) -> (user: String, next: String)?
  {
    let hash = RefreshTokens.hash(token)
    let row = try store.writer.row(
      "SELECT user, device, expires, parent FROM refresh_token WHERE hash = ?", .blob(hash))
    guard let row, let user = row[0].text, row[1].text == device, let expires = row[2].integer,
      store.world.clock.now.milliseconds < expires
    else { return nil }
    return try store.writer.transaction { () throws(SQLiteError) in
      if let parent = row[3].blob {
        // The device has this one: what came before, and its other children, are not needed.
        try store.writer.run("DELETE FROM refresh_token WHERE hash = ?", .blob(parent))
        try store.writer.run(
          "DELETE FROM refresh_token WHERE parent = ? AND hash <> ?", .blob(parent), .blob(hash))
      }
      return (user, try issue(user: user, device: device, parent: hash))
    }
  }

  /// Logs a user's device out; all of the user's devices where none is named.
  func revoke(user: String, device: String?) throws(SQLiteError) {
    try store.writer.run(
      "DELETE FROM refresh_token WHERE user = ? AND (? IS NULL OR device = ?)", .text(user),
      .optional(device), .optional(device))
  }

  func dropExpired() throws(SQLiteError) {
    try store.writer.run(
      "DELETE FROM refresh_token WHERE expires <= ?", .integer(store.world.clock.now.milliseconds))
  }

  private static func hash(_ token: String) -> [UInt8] { SHA256Digest.hash(Array(token.utf8)) }
}
