import FerryCrypto
import FerryModel
import FerryWorld

/// Long-lived random tokens that renew a session. Only their hashes are kept.
///
/// Each use gives a new one. The one before stays valid until the new one is used: a response that
/// was lost must not log a device out.
struct RefreshTokens {
  static let lifetime: Duration = .seconds(60 * 86_400)

  let store: any Store
  let world: World

  func issue(user: String, device: String, parent: [UInt8]? = nil) throws(StoreError) -> String {
    let token = hexadecimal(world.chance.bytes(32))
    let expires = world.clock.now.advanced(by: RefreshTokens.lifetime)
    try store.keep(
      StoredSession(
        hash: RefreshTokens.hash(token), parent: parent, user: user, device: device,
        expires: expires.milliseconds))
    return token
  }

  /// The user of a valid token and the token that follows it; nil when it is not valid.
  func rotate(_ token: String, device: String) throws(StoreError) -> (user: String, next: String)? {
    let hash = RefreshTokens.hash(token)
    guard let session = try store.session(hash), session.device.hasBytes(of: device),
      world.clock.now.milliseconds < session.expires
    else { return nil }
    return try store.transaction { () throws(StoreError) in
      // The device has this one: what came before, and its other children, are not needed.
      if let parent = session.parent { try store.endSession(parent, besides: hash) }
      return (session.user, try issue(user: session.user, device: device, parent: hash))
    }
  }

  func dropExpired() throws(StoreError) {
    try store.endSessions(expiredAt: world.clock.now.milliseconds)
  }

  private static func hash(_ token: String) -> [UInt8] { SHA256Digest.hash(Array(token.utf8)) }
}
