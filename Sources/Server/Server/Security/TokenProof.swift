import FerryCrypto
import FerryJSON
import FerryModel
import FerryText

/// Shows that whoever renews a session has the key of the device that logged in.
///
/// A refresh token by itself is of no use then: a copy of it, from a log, a proxy or a backup of the
/// server, renews nothing.
package struct TokenProof: Sendable, Equatable {
  /// SubjectPublicKeyInfo of a key on P-256, as DER.
  package let key: [UInt8]
  /// r and s over the refresh token, 32 bytes each.
  package let signature: [UInt8]

  package init(key: [UInt8], signature: [UInt8]) {
    self.key = key
    self.signature = signature
  }

  /// Of the members `key` and `proof`, in Base64; nil where one of them is none.
  init?(_ node: JSONNode) {
    guard let key = TokenProof.key(node), let proof = node["proof"]?.string,
      proof.utf8.count <= TokenProof.longestText, let signature = Base64.decode(proof)
    else { return nil }
    self.init(key: key, signature: signature)
  }

  /// The public key that a login names.
  static func key(_ node: JSONNode) -> [UInt8]? {
    guard let text = node["key"]?.string, text.utf8.count <= longestText else { return nil }
    return Base64.decode(text)
  }

  /// What is signed.
  package static func text(_ token: String) -> [UInt8] { Array("ferry-renew\n\(token)".utf8) }

  /// A key has 91 bytes.
  private static let longestText = 256

  /// How a session names the key; 43 letters without points.
  static func name(of key: [UInt8]) -> String { Base64.encode(SHA256Digest.hash(key), .url) }

  func proves(_ token: String, for name: String) -> Bool {
    TokenProof.name(of: key).hasBytes(of: name)
      && WebKey.p256(publicKeyInfo: key).verify(signature, of: TokenProof.text(token))
  }
}
