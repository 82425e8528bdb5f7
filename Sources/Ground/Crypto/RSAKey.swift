#if canImport(Security)
  import Foundation
  import Security
#else
  import COpenSSL
#endif

/// Which digest a signature is made over.
public enum SignatureDigest: Sendable, CaseIterable {
  /// For old formats only.
  case sha1
  case sha256
}

/// A private RSA key, for signatures of PKCS#1 v1.5.
///
/// It is kept as its PKCS#1 bytes; each call reads them anew.
public struct RSAKey: Sendable, Equatable {
  /// RSAPrivateKey of PKCS#1, as DER. Whoever has it has the key.
  public let der: [UInt8]
  /// The fewest bits of a key.
  public static let leastBits = 2_048

  /// Makes a new key of 2,048 to 8,192 bits; 2,048 takes about a tenth of a second.
  public static func generate(bits: Int = 2_048) throws(CryptoError) -> RSAKey {
    guard (leastBits...8_192).contains(bits) else {
      throw CryptoError(
        "an RSA key cannot have \(bits) bits", hint: "Ask for 2,048 to 8,192 bits.")
    }
    guard let der = RSAAdapter.generate(bits) else {
      throw CryptoError("the system could not make an RSA key", hint: "Try again with fewer bits.")
    }
    return RSAKey(unchecked: der)
  }

  /// Reads RSAPrivateKey of PKCS#1.
  public init(der: [UInt8]) throws(CryptoError) {
    guard RSAAdapter.isPrivateKey(der) else {
      throw CryptoError(
        "the bytes are not a private RSA key", hint: "Give RSAPrivateKey of PKCS#1 as DER.")
    }
    self.der = der
  }

  private init(unchecked der: [UInt8]) { self.der = der }

  /// RSAPublicKey of PKCS#1, as DER.
  public var publicDER: [UInt8] { RSAAdapter.publicKey(der) ?? [] }

  /// A signature of PKCS#1 v1.5 over the digest of `bytes`.
  public func sign(_ bytes: [UInt8], _ digest: SignatureDigest) throws(CryptoError) -> [UInt8] {
    guard let signature = RSAAdapter.sign(bytes, der, digest) else {
      throw CryptoError("the key cannot sign", hint: "Use a private RSA key of 2,048 bits or more.")
    }
    return signature
  }

  /// Whether a signature is that of `bytes` under a public key (RSAPublicKey of PKCS#1, as DER).
  public static func verify(
    _ signature: [UInt8], of bytes: [UInt8], publicDER: [UInt8], _ digest: SignatureDigest
  ) -> Bool {
    RSAAdapter.verify(signature, bytes, publicDER, digest)
  }
}

#if canImport(Security)
  private enum RSAAdapter {
    static func generate(_ bits: Int) -> [UInt8]? {
      let wanted: [CFString: Any] = [
        kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits: bits,
      ]
      return SecKeyCreateRandomKey(wanted as CFDictionary, nil).flatMap { external($0) }
    }

    static func isPrivateKey(_ der: [UInt8]) -> Bool { key(der, isPrivate: true) != nil }

    static func publicKey(_ der: [UInt8]) -> [UInt8]? {
      key(der, isPrivate: true).flatMap { SecKeyCopyPublicKey($0) }.flatMap { external($0) }
    }

    static func sign(_ bytes: [UInt8], _ der: [UInt8], _ digest: SignatureDigest) -> [UInt8]? {
      guard let key = key(der, isPrivate: true),
        let data = SecKeyCreateSignature(key, algorithm(digest), Data(bytes) as CFData, nil)
      else { return nil }
      return [UInt8](data as Data)
    }

    static func verify(
      _ signature: [UInt8], _ bytes: [UInt8], _ der: [UInt8], _ digest: SignatureDigest
    ) -> Bool {
      guard let key = key(der, isPrivate: false) else { return false }
      return SecKeyVerifySignature(
        key, algorithm(digest), Data(bytes) as CFData, Data(signature) as CFData, nil)
    }

    private static func external(_ key: SecKey) -> [UInt8]? {
      SecKeyCopyExternalRepresentation(key, nil).map { [UInt8]($0 as Data) }
    }

    private static func key(_ der: [UInt8], isPrivate: Bool) -> SecKey? {
      let kind = isPrivate ? kSecAttrKeyClassPrivate : kSecAttrKeyClassPublic
      let wanted: [CFString: Any] = [
        kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: kind,
      ]
      return SecKeyCreateWithData(Data(der) as CFData, wanted as CFDictionary, nil)
    }

    private static func algorithm(_ digest: SignatureDigest) -> SecKeyAlgorithm {
      digest == .sha1
        ? .rsaSignatureMessagePKCS1v15SHA1 : .rsaSignatureMessagePKCS1v15SHA256
    }
  }
#else
  private enum RSAAdapter {
    static func generate(_ bits: Int) -> [UInt8]? {
      guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_RSA, nil) else { return nil }
      defer { EVP_PKEY_CTX_free(context) }
      var key: OpaquePointer?
      guard EVP_PKEY_keygen_init(context) == 1,
        EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(bits)) == 1,
        EVP_PKEY_keygen(context, &key) == 1
      else { return nil }
      defer { EVP_PKEY_free(key) }
      return encoded { i2d_PrivateKey(key, $0) }
    }

    static func isPrivateKey(_ der: [UInt8]) -> Bool {
      guard let key = privateKey(der) else { return false }
      EVP_PKEY_free(key)
      return true
    }

    static func publicKey(_ der: [UInt8]) -> [UInt8]? {
      guard let key = privateKey(der) else { return nil }
      defer { EVP_PKEY_free(key) }
      return encoded { i2d_PublicKey(key, $0) }
    }

    static func sign(_ bytes: [UInt8], _ der: [UInt8], _ digest: SignatureDigest) -> [UInt8]? {
      guard let key = privateKey(der) else { return nil }
      defer { EVP_PKEY_free(key) }
      guard let context = EVP_MD_CTX_new() else { return nil }
      defer { EVP_MD_CTX_free(context) }
      var count = 0
      guard EVP_DigestSignInit(context, nil, method(digest), nil, key) == 1,
        EVP_DigestSign(context, nil, &count, bytes, bytes.count) == 1
      else { return nil }
      var signature = [UInt8](repeating: 0, count: count)
      guard EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1 else { return nil }
      return Array(signature.prefix(count))
    }

    static func verify(
      _ signature: [UInt8], _ bytes: [UInt8], _ der: [UInt8], _ digest: SignatureDigest
    ) -> Bool {
      let key = der.withUnsafeBufferPointer { buffer in
        var start = buffer.baseAddress
        return d2i_PublicKey(EVP_PKEY_RSA, nil, &start, buffer.count)
      }
      guard let key else { return false }
      defer { EVP_PKEY_free(key) }
      guard let context = EVP_MD_CTX_new() else { return false }
      defer { EVP_MD_CTX_free(context) }
      return EVP_DigestVerifyInit(context, nil, method(digest), nil, key) == 1
        && EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
    }

    private static func method(_ digest: SignatureDigest) -> OpaquePointer? {
      digest == .sha1 ? EVP_sha1() : EVP_sha256()
    }

    private static func privateKey(_ der: [UInt8]) -> OpaquePointer? {
      der.withUnsafeBufferPointer { buffer in
        var start = buffer.baseAddress
        guard let key = d2i_PrivateKey(EVP_PKEY_RSA, nil, &start, buffer.count) else { return nil }
        // What follows the key is no part of one.
        guard start == buffer.baseAddress.map({ $0 + buffer.count }) else {
          EVP_PKEY_free(key)
          return nil
        }
        return key
      }
    }
  }
#endif
