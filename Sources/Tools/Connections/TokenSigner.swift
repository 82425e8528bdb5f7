import FerryCrypto
import FerryJSON
import FerryText
import FerryWorld
import Foundation

/// Signs what says who a user is (RFC 7519): ES256 or RS256, as the key is.
struct TokenSigner: Sendable {
  private enum Key: Sendable {
    case p256(P256Key)
    case rsa(RSAKey)
  }

  private let key: Key
  private let keyID: String?
  /// How long what is signed holds: it is used at once.
  private static let lifetime: Duration = .seconds(300)

  /// Reads a private key (PEM).
  init(file: String, keyID: String?) throws(ConnectionsError) {
    let text = String(decoding: try SecretFile.read(file, "the key"), as: UTF8.self)
    guard let key = TokenSigner.key(text) else {
      throw ConnectionsError(
        "\(file) holds no private key that signs",
        hint: "Make one: openssl ecparam -name prime256v1 -genkey -noout -out \(file)")
    }
    self.key = key
    self.keyID = keyID
  }

  private static func key(_ text: String) -> Key? {
    var lines = text.split(whereSeparator: \.isNewline).drop {
      !($0.hasPrefix("-----BEGIN ") && $0.hasSuffix("PRIVATE KEY-----"))
    }
    guard !lines.isEmpty else { return nil }
    lines = lines.dropFirst()
    let body = lines.prefix { !$0.hasPrefix("-----END ") }.joined()
    guard let der = Data(base64Encoded: body).map({ [UInt8]($0) }) else { return nil }
    if let key = try? P256Key(der: der) { return .p256(key) }
    if let key = try? RSAKey(der: der) { return .rsa(key) }
    // PKCS#8 of an RSA key has PKCS#1 in its last part.
    guard let inner = inner(ofPKCS8: der), let key = try? RSAKey(der: inner) else { return nil }
    return .rsa(key)
  }

  /// The OCTET STRING behind version and algorithm.
  private static func inner(ofPKCS8 der: [UInt8]) -> [UInt8]? {
    // 30 L, 02 01 00, 30 L algorithm, 04 L key
    var place = 0
    func length() -> Int? {
      guard place < der.count else { return nil }
      let first = Int(der[place])
      place += 1
      guard first >= 0x80 else { return first }
      var length = 0
      for _ in 0..<(first & 0x7F) {
        guard place < der.count, length < 1 << 24 else { return nil }
        length = length << 8 | Int(der[place])
        place += 1
      }
      return length
    }
    func enter(_ tag: UInt8) -> Int? {
      guard place < der.count, der[place] == tag else { return nil }
      place += 1
      return length()
    }
    guard enter(0x30) != nil, let version = enter(0x02) else { return nil }
    place += version
    guard let algorithm = enter(0x30) else { return nil }
    place += algorithm
    guard let count = enter(0x04), place + count <= der.count else { return nil }
    return Array(der[place..<place + count])
  }

  /// `claims`: beside the times and a number of its own.
  func token(
    _ claims: [(String, String)], at now: Timestamp
  ) throws(ConnectionsError) -> String {
    var header = JSONWriter()
    header.beginObject()
    switch key {
    case .p256: header.field("alg", "ES256")
    case .rsa: header.field("alg", "RS256")
    }
    header.field("typ", "JWT")
    if let keyID { header.field("kid", keyID) }
    header.endObject()
    var payload = JSONWriter()
    payload.beginObject()
    for (name, value) in claims { payload.field(name, value) }
    payload.field("iat", now.milliseconds / 1_000)
    payload.field("exp", now.advanced(by: TokenSigner.lifetime).milliseconds / 1_000)
    payload.field("jti", Hexadecimal.encode(randomBytes(16)))
    payload.endObject()
    let signed = "\(Base64.encode(header.bytes, .url)).\(Base64.encode(payload.bytes, .url))"
    do throws(CryptoError) {
      let signature =
        switch key {
        case .p256(let key): try key.signFixed(Array(signed.utf8))
        case .rsa(let key): try key.sign(Array(signed.utf8), .sha256)
        }
      return "\(signed).\(Base64.encode(signature, .url))"
    } catch {
      throw ConnectionsError(error.message, hint: error.hint)
    }
  }
}
