/// A public key of a JSON Web Key (RFC 7517) and the signatures of tokens under it: RS256 and ES256.
public enum WebKey: Sendable, Equatable {
  /// RSAPublicKey of PKCS#1, as DER.
  case rsa(publicDER: [UInt8])
  /// SubjectPublicKeyInfo of a key on P-256, as DER.
  case p256(publicKeyInfo: [UInt8])

  /// The fewest and the most bytes of a modulus: 2,048 and 8,192 bits.
  private static let modulusBytes = 256...1_024

  /// Nil where the modulus has less than 2,048 bits or more than 8,192, or the exponent is none.
  public static func rsa(modulus: [UInt8], exponent: [UInt8]) -> WebKey? {
    let modulus = Array(modulus.drop { $0 == 0 })
    let exponent = Array(exponent.drop { $0 == 0 })
    guard modulusBytes.contains(modulus.count), (1...4).contains(exponent.count),
      let last = exponent.last, last & 1 == 1, exponent != [1], let top = modulus.first,
      modulus.count > modulusBytes.lowerBound || top & 0x80 != 0
    else { return nil }
    return .rsa(publicDER: der(0x30, integer(modulus) + integer(exponent)))
  }

  /// Nil where the coordinates are not 32 bytes each.
  public static func p256(x: [UInt8], y: [UInt8]) -> WebKey? {
    guard x.count == 32, y.count == 32 else { return nil }
    // id-ecPublicKey and prime256v1, then a bit string without unused bits, then the point.
    let algorithm: [UInt8] = [
      0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86,
      0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07,
    ]
    return .p256(publicKeyInfo: der(0x30, algorithm + der(0x03, [0x00, 0x04] + x + y)))
  }

  /// Whether a signature is that of `bytes`. Of P-256 it is r and s, 32 bytes each (RFC 7518, 3.4).
  public func verify(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
    switch self {
    case .rsa(let key): return RSAKey.verify(signature, of: bytes, publicDER: key, .sha256)
    case .p256(let key):
      guard signature.count == 64 else { return false }
      let (r, s) = (
        WebKey.integer(Array(signature[..<32])), WebKey.integer(Array(signature[32...]))
      )
      return P256Key.verify(WebKey.der(0x30, r + s), of: bytes, publicKeyInfo: key)
    }
  }

  private static func integer(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = Array(bytes.drop { $0 == 0 })
    if bytes.first.map({ $0 & 0x80 != 0 }) ?? true { bytes.insert(0, at: 0) }
    return der(0x02, bytes)
  }

  private static func der(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    let count = content.count
    let length: [UInt8] =
      count < 0x80
      ? [UInt8(count)]
      : count < 0x100 ? [0x81, UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]
    return [tag] + length + content
  }
}
