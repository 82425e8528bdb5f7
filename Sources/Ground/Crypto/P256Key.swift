#if canImport(CryptoKit)
  import CryptoKit
#else
  import COpenSSL
#endif

/// A private key on the curve P-256, for signatures of ECDSA over SHA-256.
///
/// It is kept as its PKCS#8 bytes; each call reads them anew.
public struct P256Key: Sendable, Equatable {
  /// PrivateKeyInfo of PKCS#8, as DER. Whoever has it has the key.
  public let der: [UInt8]
  /// SubjectPublicKeyInfo, as DER.
  public let publicKeyInfo: [UInt8]

  /// Makes a new key.
  public static func generate() throws(CryptoError) -> P256Key {
    guard let pair = P256Adapter.generate() else {
      throw CryptoError("the system could not make a P-256 key", hint: "Try again.")
    }
    return P256Key(der: pair.0, publicKeyInfo: pair.1)
  }

  /// Reads PrivateKeyInfo of PKCS#8, or ECPrivateKey of SEC 1.
  public init(der: [UInt8]) throws(CryptoError) {
    guard let pair = P256Adapter.read(der) else {
      throw CryptoError(
        "the bytes are not a private P-256 key", hint: "Give PrivateKeyInfo of PKCS#8 as DER.")
    }
    self.init(der: pair.0, publicKeyInfo: pair.1)
  }

  private init(der: [UInt8], publicKeyInfo: [UInt8]) {
    self.der = der
    self.publicKeyInfo = publicKeyInfo
  }

  /// A signature over the SHA-256 digest of `bytes`: `SEQUENCE { INTEGER r, INTEGER s }`.
  public func sign(_ bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
    guard let signature = P256Adapter.sign(bytes, der) else {
      throw CryptoError("the key cannot sign", hint: "Use a private key on P-256.")
    }
    return signature
  }

  /// The same as r and s, 32 bytes each (RFC 7518, 3.4), which `WebKey` verifies: always 64 bytes.
  public func signFixed(_ bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
    guard let fixed = P256Key.fixed(try sign(bytes)[...]) else {
      throw CryptoError("the system made no signature that can be read", hint: "Try again.")
    }
    return fixed
  }

  /// Of `SEQUENCE { INTEGER r, INTEGER s }`; nil for anything else.
  private static func fixed(_ signature: ArraySlice<UInt8>) -> [UInt8]? {
    var rest = signature
    guard rest.popFirst() == 0x30, rest.popFirst().map({ Int($0) }) == rest.count else {
      return nil
    }
    var numbers: [UInt8] = []
    for _ in 0..<2 {
      guard rest.popFirst() == 0x02, let count = rest.popFirst(), rest.count >= Int(count) else {
        return nil
      }
      let digits = rest.prefix(Int(count)).drop { $0 == 0 }
      rest = rest.dropFirst(Int(count))
      guard digits.count <= 32 else { return nil }
      numbers += [UInt8](repeating: 0, count: 32 - digits.count) + digits
    }
    return rest.isEmpty ? numbers : nil
  }

  /// Whether a signature is that of `bytes` under a public key (SubjectPublicKeyInfo, as DER).
  public static func verify(
    _ signature: [UInt8], of bytes: [UInt8], publicKeyInfo: [UInt8]
  ) -> Bool {
    P256Adapter.verify(signature, bytes, publicKeyInfo)
  }
}

#if canImport(CryptoKit)
  extension P256Key {
    /// Reads the form of X9.63, in which the system's keys leave: 04, x, y and the private number.
    init(x963 bytes: [UInt8]) throws(CryptoError) {
      guard let key = try? P256.Signing.PrivateKey(x963Representation: bytes) else {
        throw CryptoError(
          "the bytes are not a private P-256 key", hint: "Give a private P-256 key.")
      }
      try self.init(der: [UInt8](key.derRepresentation))
    }
  }

  private enum P256Adapter {
    static func generate() -> ([UInt8], [UInt8])? { pair(P256.Signing.PrivateKey()) }

    static func read(_ der: [UInt8]) -> ([UInt8], [UInt8])? {
      (try? P256.Signing.PrivateKey(derRepresentation: der)).map(pair)
    }

    static func sign(_ bytes: [UInt8], _ der: [UInt8]) -> [UInt8]? {
      let key = try? P256.Signing.PrivateKey(derRepresentation: der)
      return (try? key?.signature(for: bytes)).map { [UInt8]($0.derRepresentation) }
    }

    static func verify(_ signature: [UInt8], _ bytes: [UInt8], _ info: [UInt8]) -> Bool {
      guard let key = try? P256.Signing.PublicKey(derRepresentation: info),
        let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature)
      else { return false }
      return key.isValidSignature(signature, for: bytes)
    }

    private static func pair(_ key: P256.Signing.PrivateKey) -> ([UInt8], [UInt8]) {
      ([UInt8](key.derRepresentation), [UInt8](key.publicKey.derRepresentation))
    }
  }
#else
  private enum P256Adapter {
    static func generate() -> ([UInt8], [UInt8])? {
      guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil) else { return nil }
      defer { EVP_PKEY_CTX_free(context) }
      var key: OpaquePointer?
      guard EVP_PKEY_keygen_init(context) == 1,
        EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1,
        EVP_PKEY_keygen(context, &key) == 1
      else { return nil }
      defer { EVP_PKEY_free(key) }
      return pair(key)
    }

    static func read(_ der: [UInt8]) -> ([UInt8], [UInt8])? {
      guard let key = privateKey(der) else { return nil }
      defer { EVP_PKEY_free(key) }
      return pair(key)
    }

    static func sign(_ bytes: [UInt8], _ der: [UInt8]) -> [UInt8]? {
      guard let key = privateKey(der) else { return nil }
      defer { EVP_PKEY_free(key) }
      guard let context = EVP_MD_CTX_new() else { return nil }
      defer { EVP_MD_CTX_free(context) }
      var count = 0
      guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
        EVP_DigestSign(context, nil, &count, bytes, bytes.count) == 1
      else { return nil }
      var signature = [UInt8](repeating: 0, count: count)
      guard EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1 else { return nil }
      return Array(signature.prefix(count))
    }

    static func verify(_ signature: [UInt8], _ bytes: [UInt8], _ info: [UInt8]) -> Bool {
      let key = info.withUnsafeBufferPointer { buffer in
        var start = buffer.baseAddress
        return d2i_PUBKEY(nil, &start, buffer.count)
      }
      guard let key else { return false }
      defer { EVP_PKEY_free(key) }
      guard isP256(key), let context = EVP_MD_CTX_new() else { return false }
      defer { EVP_MD_CTX_free(context) }
      return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
        && EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
    }

    private static func privateKey(_ der: [UInt8]) -> OpaquePointer? {
      der.withUnsafeBufferPointer { buffer in
        var start = buffer.baseAddress
        guard let key = d2i_AutoPrivateKey(nil, &start, buffer.count) else { return nil }
        // What follows the key is no part of one.
        guard start == buffer.baseAddress.map({ $0 + buffer.count }), isP256(key) else {
          EVP_PKEY_free(key)
          return nil
        }
        return key
      }
    }

    private static func isP256(_ key: OpaquePointer) -> Bool {
      var name = [CChar](repeating: 0, count: 64)
      var count = 0
      guard EVP_PKEY_get_base_id(key) == EVP_PKEY_EC,
        EVP_PKEY_get_group_name(key, &name, name.count, &count) == 1
      else { return false }
      return name.prefix(count).map { UInt8(bitPattern: $0) } == Array("prime256v1".utf8)
    }

    private static func pair(_ key: OpaquePointer?) -> ([UInt8], [UInt8])? {
      guard let info = EVP_PKEY2PKCS8(key) else { return nil }
      defer { PKCS8_PRIV_KEY_INFO_free(info) }
      guard let der = encoded({ i2d_PKCS8_PRIV_KEY_INFO(info, $0) }),
        let publicKeyInfo = encoded({ i2d_PUBKEY(key, $0) })
      else { return nil }
      return (der, publicKeyInfo)
    }
  }

  /// The bytes that one of the library's writers makes, in its two passes.
  func encoded(
    _ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
  ) -> [UInt8]? {
    let count = write(nil)
    guard count > 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(count))
    let written = bytes.withUnsafeMutableBufferPointer { buffer in
      var start = buffer.baseAddress
      return write(&start)
    }
    return written == count ? bytes : nil
  }
#endif
