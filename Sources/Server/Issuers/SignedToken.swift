import FerryCrypto
import FerryJSON
import FerryModel
import FerryServer
import FerryText

/// A JSON Web Token in its three parts, as they were sent: nothing in it is believed yet.
package struct SignedToken: Sendable {
  /// The longest token that is read. Entra lists at most 200 groups, which are about 9 KB.
  package static let longestBytes = 24 << 10

  /// The ways to sign that are taken.
  package enum Algorithm: String, Sendable, CaseIterable {
    case rs256 = "RS256"
    case es256 = "ES256"
  }

  package let algorithm: Algorithm
  package let keyID: String?
  /// The claims.
  package let payload: JSONNode
  private let signed: [UInt8]
  private let signature: [UInt8]

  /// Errors: `notAToken`, `algorithm` and `type`.
  package init(_ text: String) throws(IssuerError) {
    guard text.utf8.count <= SignedToken.longestBytes else {
      throw IssuerError(
        .notAToken, "the token has \(text.utf8.count) bytes",
        hint: "At most \(SignedToken.longestBytes) are accepted. Let the issuer send fewer claims.")
    }
    let bytes = Array(text.utf8)
    let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let head = SignedToken.object(parts[0]) else {
      throw SignedToken.none
    }
    try SignedToken.check(head)
    guard let name = head["alg"]?.string, let algorithm = Algorithm(rawValue: name) else {
      let name = head["alg"]?.string ?? "nothing"
      throw IssuerError(
        .algorithm, "the token is signed with \(SignedToken.short(name)), which is not accepted",
        hint: "Let the issuer sign with RS256 or ES256.")
    }
    guard let payload = SignedToken.object(parts[1]), let signature = Base64.decode(parts[2], .url)
    else { throw SignedToken.none }
    self.algorithm = algorithm
    self.payload = payload
    self.signature = signature
    keyID = head["kid"]?.string
    signed = Array(bytes[..<parts[1].endIndex])
  }

  /// Whether the signature is that of the key, which must be of the kind that the token names.
  package func isSigned(by key: WebKey) -> Bool {
    switch (algorithm, key) {
    case (.rs256, .rsa), (.es256, .p256): key.verify(signature, of: signed)
    default: false
    }
  }

  private static func check(_ head: JSONNode) throws(IssuerError) {
    // What must be understood and is not known here would change what the token means (RFC 7515).
    guard head["crit"] == nil, head["b64"] == nil else {
      throw IssuerError(
        .type, "the token asks for an extension that is not supported",
        hint: "Let the issuer leave out \"crit\".")
    }
    guard let type = head["typ"] else { return }
    let name = type.string?.lowercased() ?? ""
    guard ["jwt", "at+jwt", "application/at+jwt"].contains(name) else {
      throw IssuerError(
        .type, "the token has the type \"\(short(name))\", which is not accepted",
        hint: "Send an access token, or an ID token, of the issuer.")
    }
  }

  /// An object whose names are all different: two readers of a doubled name may see two values.
  private static func object(_ part: some Collection<UInt8>) -> JSONNode? {
    guard let bytes = Base64.decode(part, .url), let node = try? JSONNode.parse(bytes),
      let members = node.object
    else { return nil }
    let names = Set(members.map { ExactText($0.key) })
    return names.count == members.count ? node : nil
  }

  static func short(_ text: String) -> String { String(text.prefix(64)) }

  private static let none = IssuerError(
    .notAToken, "the text is not a signed token",
    hint: "Send the token of the issuer as it is: three parts with dots between them.")
}
