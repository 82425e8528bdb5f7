import FerryCrypto
import FerryJSON
import FerryModel
import FerryWorld

/// Short-lived signed tokens (JWT, HS256): who makes a request, without asking the store.
///
/// It is a value: verify on any thread.
public struct AccessTokens: Sendable {
  public static let lifetime: Duration = .seconds(15 * 60)

  private let key: [UInt8]
  private let server: String

  package init(key: [UInt8], server: String) {
    self.key = key
    self.server = server
  }

  func issue(
    _ record: UserRecord, device: String, now: Timestamp
  ) -> (text: String, expires: Timestamp) {
    let expires = now.advanced(by: AccessTokens.lifetime)
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("iss", server)
    writer.field("sub", record.name)
    writer.field("dev", device)
    writer.key("roles")
    writer.array(record.roles) { $0.string($1) }
    writer.key("claims")
    writer.raw(ClaimText.encode(record.claims).utf8)
    writer.field("iat", now.milliseconds / 1_000)
    writer.field("exp", expires.milliseconds / 1_000)
    writer.endObject()
    let head = AccessTokens.encode(Array(AccessTokens.header.utf8))
    let text = "\(head).\(AccessTokens.encode(writer.bytes))"
    let seal = SHA256Digest.authenticate(Array(text.utf8), key: key)
    return ("\(text).\(AccessTokens.encode(seal))", expires)
  }

  /// Who the token speaks for. Throws `forgedToken`, `otherServersToken` or `expiredToken`.
  public func verify(_ token: String, now: Timestamp) throws(ServerError) -> Identity {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, token.utf8.count <= 1 << 16,
      AccessTokens.decode(parts[0]).map({ String(decoding: $0, as: UTF8.self) })
        == AccessTokens.header,
      let body = AccessTokens.decode(parts[1]), let seal = AccessTokens.decode(parts[2])
    else { throw AccessTokens.forged }
    let node = try? JSONNode.parse(body)
    let expected = SHA256Digest.authenticate(Array("\(parts[0]).\(parts[1])".utf8), key: key)
    guard equalInConstantTime(seal, expected) else {
      // Said by the token itself, so only a help to the reader.
      guard let other = node?["iss"]?.string, other != server else { throw AccessTokens.forged }
      throw ServerError(
        .otherServersToken, "the token was given by another server",
        hint: "Log in on this server, or check the address.")
    }
    guard let node, let user = node["sub"]?.string, let expires = node["exp"]?.integer,
      node["iss"]?.string == server
    else { throw AccessTokens.forged }
    let (milliseconds, isBeyond) = expires.multipliedReportingOverflow(by: 1_000)
    if isBeyond { throw AccessTokens.forged }
    let end = Timestamp(milliseconds: milliseconds)
    guard now < end else {
      throw ServerError(
        .expiredToken, "the token's time is over", hint: "Renew it with the refresh token.")
    }
    return Identity(
      user: user, device: node["dev"]?.string,
      roles: (node["roles"]?.array ?? []).compactMap(\.string),
      claims: ClaimText.decode(node["claims"]), expires: end)
  }

  private static let header: String = #"{"alg":"HS256","typ":"JWT"}"#
  private static let forged = ServerError(
    .forgedToken, "the token is not one of this server", hint: "Log in again.")

  package static func encode(_ bytes: [UInt8]) -> String {
    var text = ""
    for character in Base64.encode(bytes) where character != "=" {
      text.append(character == "+" ? "-" : character == "/" ? "_" : character)
    }
    return text
  }

  static func decode(_ text: String) -> [UInt8]? {
    var base64 = ""
    for character in text {
      guard character != "+", character != "/", character != "=" else { return nil }
      base64.append(character == "-" ? "+" : character == "_" ? "/" : character)
    }
    return Base64.decode(base64 + String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4))
  }
}
