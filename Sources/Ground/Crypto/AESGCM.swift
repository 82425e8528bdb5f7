#if canImport(CryptoKit)
  import CryptoKit
#else
  import COpenSSL
#endif

/// AES in Galois/Counter Mode, with a key and a nonce that the protocol gives (RFC 8188, RFC 8446).
///
/// A nonce must never be used twice with one key. `SealingKey` has no such condition: use it for data
/// that no protocol has a form for.
public enum AESGCM {
  public static let nonceBytes = 12
  public static let tagBytes = 16

  /// The encrypted bytes, then the tag of 16 bytes.
  ///
  /// `key`: 16 bytes (AES-128) or 32 bytes (AES-256).
  public static func seal(
    _ bytes: [UInt8], key: [UInt8], nonce: [UInt8], associated: [UInt8] = []
  ) throws(CryptoError) -> [UInt8] {
    try check(key, nonce)
    guard let sealed = AESGCMAdapter.seal(bytes, key, nonce, associated) else {
      throw CryptoError("the bytes could not be encrypted", hint: "Report this as a bug.")
    }
    return sealed
  }

  /// What `seal` was given; nil if key, nonce, associated bytes or sealed bytes are not the same.
  public static func open(
    _ sealed: [UInt8], key: [UInt8], nonce: [UInt8], associated: [UInt8] = []
  ) throws(CryptoError) -> [UInt8]? {
    try check(key, nonce)
    guard sealed.count >= tagBytes else { return nil }
    return AESGCMAdapter.open(sealed, key, nonce, associated)
  }

  private static func check(_ key: [UInt8], _ nonce: [UInt8]) throws(CryptoError) {
    guard key.count == 16 || key.count == 32, nonce.count == nonceBytes else {
      throw CryptoError(
        "AES-GCM takes a key of 16 or 32 bytes and a nonce of 12",
        hint: "Derive them as the protocol says.")
    }
  }
}

#if canImport(CryptoKit)
  private enum AESGCMAdapter {
    static func seal(
      _ bytes: [UInt8], _ key: [UInt8], _ nonce: [UInt8], _ associated: [UInt8]
    ) -> [UInt8]? {
      guard let nonce = try? AES.GCM.Nonce(data: nonce),
        let box = try? AES.GCM.seal(
          bytes, using: SymmetricKey(data: key), nonce: nonce, authenticating: associated)
      else { return nil }
      return [UInt8](box.ciphertext) + [UInt8](box.tag)
    }

    static func open(
      _ sealed: [UInt8], _ key: [UInt8], _ nonce: [UInt8], _ associated: [UInt8]
    ) -> [UInt8]? {
      guard let nonce = try? AES.GCM.Nonce(data: nonce),
        let box = try? AES.GCM.SealedBox(
          nonce: nonce, ciphertext: sealed.dropLast(AESGCM.tagBytes),
          tag: sealed.suffix(AESGCM.tagBytes)),
        let bytes = try? AES.GCM.open(
          box, using: SymmetricKey(data: key), authenticating: associated)
      else { return nil }
      return [UInt8](bytes)
    }
  }
#else
  private enum AESGCMAdapter {
    static func seal(
      _ bytes: [UInt8], _ key: [UInt8], _ nonce: [UInt8], _ associated: [UInt8]
    ) -> [UInt8]? {
      guard let context = EVP_CIPHER_CTX_new() else { return nil }
      defer { EVP_CIPHER_CTX_free(context) }
      var output = [UInt8](repeating: 0, count: bytes.count + AESGCM.tagBytes)
      var tag = [UInt8](repeating: 0, count: AESGCM.tagBytes)
      var count: Int32 = 0
      guard EVP_EncryptInit_ex(context, cipher(key), nil, key, nonce) == 1,
        EVP_EncryptUpdate(context, nil, &count, associated, Int32(associated.count)) == 1,
        EVP_EncryptUpdate(context, &output, &count, bytes, Int32(bytes.count)) == 1,
        Int(count) == bytes.count,
        EVP_EncryptFinal_ex(context, &tag, &count) == 1,
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tag.count), &tag) == 1
      else { return nil }
      output.replaceSubrange(bytes.count..., with: tag)
      return output
    }

    static func open(
      _ sealed: [UInt8], _ key: [UInt8], _ nonce: [UInt8], _ associated: [UInt8]
    ) -> [UInt8]? {
      guard let context = EVP_CIPHER_CTX_new() else { return nil }
      defer { EVP_CIPHER_CTX_free(context) }
      let bytes = Array(sealed.dropLast(AESGCM.tagBytes))
      var tag = Array(sealed.suffix(AESGCM.tagBytes))
      var output = [UInt8](repeating: 0, count: bytes.count + AESGCM.tagBytes)
      var count: Int32 = 0
      var last: Int32 = 0
      guard EVP_DecryptInit_ex(context, cipher(key), nil, key, nonce) == 1,
        EVP_DecryptUpdate(context, nil, &count, associated, Int32(associated.count)) == 1,
        EVP_DecryptUpdate(context, &output, &count, bytes, Int32(bytes.count)) == 1,
        Int(count) == bytes.count,
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1,
        EVP_DecryptFinal_ex(context, &tag, &last) == 1
      else { return nil }
      return Array(output.prefix(bytes.count))
    }

    private static func cipher(_ key: [UInt8]) -> OpaquePointer? {
      key.count == 16 ? EVP_aes_128_gcm() : EVP_aes_256_gcm()
    }
  }
#endif
