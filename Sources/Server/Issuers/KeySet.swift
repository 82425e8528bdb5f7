import FerryCrypto
import FerryJSON
import FerryModel
import FerryServer
import FerryText

/// The keys of an issuer (RFC 7517). Keys of kinds that are not used are left out.
struct KeySet: Sendable {
  /// An issuer has a few keys: the one in use, the next, and some that were.
  static let mostKeys = 100
  static let mostBytes = 256 << 10

  private var keys: [ExactText: WebKey] = [:]
  /// Where the set has one key without a name.
  private var unnamed: WebKey?

  /// Errors: `badDocument`.
  init(_ bytes: [UInt8], from address: String) throws(IssuerError) {
    guard let root = try? JSONNode.parse(bytes), let nodes = root["keys"]?.array else {
      throw IssuerError(
        .badDocument, "\(address) is not a JSON Web Key Set",
        hint: "Check the address of the issuer.")
    }
    guard nodes.count <= KeySet.mostKeys else {
      throw IssuerError(
        .badDocument,
        "\(address) lists \(nodes.count) keys; at most \(KeySet.mostKeys) are allowed",
        hint: "Remove old keys at the issuer.")
    }
    for node in nodes {
      guard let key = KeySet.key(node) else { continue }
      if let name = node["kid"]?.string {
        keys[ExactText(name)] = key
      } else {
        unnamed = key
      }
    }
    guard !keys.isEmpty || unnamed != nil else {
      throw IssuerError(
        .badDocument, "\(address) lists no key for RS256 or ES256",
        hint: "Let the issuer publish a signing key.")
    }
  }

  func key(_ name: String?) -> WebKey? {
    guard let name else { return keys.count == 1 && unnamed == nil ? keys.first?.value : unnamed }
    return keys[ExactText(name)]
  }

  private static func key(_ node: JSONNode) -> WebKey? {
    if let use = node["use"]?.string, use != "sig" { return nil }
    func bytes(_ name: String) -> [UInt8]? {
      node[name]?.string.flatMap { Base64.decode($0.utf8, .url) }
    }
    let algorithm = node["alg"]?.string
    switch node["kty"]?.string {
    case "RSA":
      guard algorithm == nil || algorithm == "RS256", let modulus = bytes("n"),
        let exponent = bytes("e")
      else { return nil }
      return .rsa(modulus: modulus, exponent: exponent)
    case "EC":
      guard algorithm == nil || algorithm == "ES256", node["crv"]?.string == "P-256",
        let x = bytes("x"), let y = bytes("y")
      else { return nil }
      return .p256(x: x, y: y)
    default: return nil
    }
  }
}
