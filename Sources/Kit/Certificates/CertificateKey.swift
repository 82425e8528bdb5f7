import FerryCrypto

/// The private key of a certificate.
public enum CertificateKey: Sendable, Equatable {
  /// For servers that accept a `CertBlob`, which has an RSA signature.
  case rsa(RSAKey)
  /// Smaller, and faster to make.
  case p256(P256Key)

  init(_ key: PKCS12.Key) {
    switch key {
    case .rsa(let key): self = .rsa(key)
    case .p256(let key): self = .p256(key)
    }
  }

  /// The private key as DER: PKCS#1 for RSA, PKCS#8 for P-256. Keep it in a vault.
  public var der: [UInt8] {
    switch self {
    case .rsa(let key): key.der
    case .p256(let key): key.der
    }
  }

  /// Makes a key from the bytes of `der`. Throws `.damaged`.
  public init(der: [UInt8]) throws(CertificateError) {
    if let key = try? RSAKey(der: der) {
      self = .rsa(key)
    } else if let key = try? P256Key(der: der) {
      self = .p256(key)
    } else {
      throw CertificateError(.damaged, "the bytes are not a private RSA or P-256 key")
    }
  }

  /// SubjectPublicKeyInfo as DER.
  public var publicKeyInfo: [UInt8] {
    switch self {
    case .rsa(let key):
      DER.value(
        0x30,
        DER.value(0x30, DER.rsaEncryption + DER.value(0x05, []))
          + DER.value(0x03, [0] + key.publicDER))
    case .p256(let key): key.publicKeyInfo
    }
  }

  /// The identifier of a signature over SHA-256 by this key, as DER.
  var signatureAlgorithm: [UInt8] {
    switch self {
    case .rsa: DER.value(0x30, DER.sha256WithRSA + DER.value(0x05, []))
    case .p256: DER.value(0x30, DER.ecdsaWithSHA256)
    }
  }

  func sign(_ bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
    switch self {
    case .rsa(let key): try key.sign(bytes, .sha256)
    case .p256(let key): try key.sign(bytes)
    }
  }
}

extension DER {
  static let rsaEncryption: [UInt8] =
    [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
  static let sha256WithRSA: [UInt8] =
    [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0B]
  static let ecdsaWithSHA256: [UInt8] =
    [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]
  static let commonName: [UInt8] = [0x06, 0x03, 0x55, 0x04, 0x03]
  static let challengePassword: [UInt8] =
    [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x07]
}
