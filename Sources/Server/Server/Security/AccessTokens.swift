import FerryCrypto
import FerryJSON
import FerryModel
import FerryText
import FerryWorld

/// Short-lived signed tokens (JWT, HS256): who makes a request, without asking the store.
///
/// It is a value: verify on any thread.
package struct AccessTokens: Sendable {
  package static let lifetime: Duration = .seconds(15 * 60)

  /// How much later than now a token may have been given: a clock that is set right by less than
  /// this makes nobody renew.
  package static let leeway: Duration = .seconds(60)

  /// Roles and claims of more bytes stay out of the token.
  static let rightsBytes = 1_024

  private let keys: KeyRing
  private let server: String
  private let verified: VerifiedTokens = VerifiedTokens()

  package init(key: [UInt8], server: String) { self.init(keys: KeyRing(key), server: server) }

  package init(keys: KeyRing, server: String) {
    self.keys = keys
    self.server = server
  }

  func issue(
    _ record: UserRecord, device: String, session: String? = nil, now: Timestamp
  ) -> (text: String, expires: Timestamp) {
    let expires = now.advanced(by: AccessTokens.lifetime)
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("iss", server)
    writer.field("sub", record.name)
    writer.field("dev", device)
    writer.field("sid", session)
    let (roles, claims) = (ClaimText.encode(roles: record.roles), ClaimText.encode(record.claims))
    // Proxies refuse long headers. What is left out the server has itself.
    if roles.utf8.count + claims.utf8.count <= AccessTokens.rightsBytes {
      writer.key("roles")
      writer.raw(roles.utf8)
      writer.key("claims")
      writer.raw(claims.utf8)
    }
    writer.field("iat", now.milliseconds / 1_000)
    writer.field("exp", expires.milliseconds / 1_000)
    writer.endObject()
    let head = Base64.encode(AccessTokens.header, .url)
    let text = "\(head).\(Base64.encode(writer.bytes, .url))"
    let seal = SHA256Digest.authenticate(Array(text.utf8), key: keys.current(now: now))
    return ("\(text).\(Base64.encode(seal, .url))", expires)
  }

  /// Who the token speaks for. Throws `forgedToken`, `otherServersToken` or `expiredToken`.
  package func verify(_ token: String, now: Timestamp) throws(ServerError) -> Identity {
    let generation = keys.generation
    let known = verified.identity(of: token, generation)
    let identity = if let known { known } else { try read(token) }
    if known == nil { verified.remember(identity, of: token, generation) }
    guard identity.isGood(at: now) else {
      let problem =
        now < identity.expires
        ? "the token was issued in the future: the server's clock was set back"
        : "the token has expired"
      throw ServerError(.expiredToken, problem, hint: "Renew it with the refresh token.")
    }
    return identity
  }

  /// Without looking at the clock.
  private func read(_ token: String) throws(ServerError) -> Identity {
    let bytes = Array(token.utf8)
    let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, bytes.count <= 1 << 16,
      Base64.decode(parts[0], .url) == AccessTokens.header,
      let body = Base64.decode(parts[1], .url), let seal = Base64.decode(parts[2], .url)
    else { throw AccessTokens.forged }
    let node = try? JSONNode.parse(body)
    guard keys.opens(seal, of: Array(bytes[..<parts[1].endIndex])) else {
      // Said by the token itself, so only a help to the reader.
      guard let other = node?["iss"]?.string, other != server else { throw AccessTokens.forged }
      throw ServerError(
        .otherServersToken, "another server issued the token",
        hint: "Log in on this server, or check the address.")
    }
    guard let node, let user = node["sub"]?.string, node["iss"]?.string == server,
      let issued = AccessTokens.time(node["iat"]), let expires = AccessTokens.time(node["exp"])
    else { throw AccessTokens.forged }
    return Identity(
      user: user, device: node["dev"]?.string,
      roles: (node["roles"]?.array ?? []).compactMap(\.string),
      claims: ClaimText.decode(node["claims"]), issued: issued, expires: expires,
      session: node["sid"]?.string)
  }

  /// Seconds since 1970; nil where they lie beyond all time.
  private static func time(_ node: JSONNode?) -> Timestamp? {
    guard let seconds = node?.integer else { return nil }
    let (milliseconds, isBeyond) = seconds.multipliedReportingOverflow(by: 1_000)
    return isBeyond ? nil : Timestamp(milliseconds: milliseconds)
  }

  private static let header: [UInt8] = Array(#"{"alg":"HS256","typ":"JWT"}"#.utf8)
  private static let forged = ServerError(
    .forgedToken, "this server did not issue the token", hint: "Log in again.")
}
