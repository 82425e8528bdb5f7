#if canImport(CryptoKit)
  import CryptoKit
#else
  import COpenSSL
#endif

extension P256Key {
  /// The public point without compression: 04, then x and y of 32 bytes each.
  public var point: [UInt8] { Array(publicKeyInfo.suffix(65)) }

  /// The secret that this key and the key behind `point` share (ECDH): the x coordinate, 32 bytes.
  ///
  /// `point`: 04, then x and y of 32 bytes each. A point that is not on the curve is an error.
  public func sharedSecret(with point: [UInt8]) throws(CryptoError) -> [UInt8] {
    guard point.count == 65, point[0] == 0x04,
      case .p256(let info)? = WebKey.p256(x: Array(point[1...32]), y: Array(point[33...])),
      let secret = AgreementAdapter.secret(der, info)
    else {
      throw CryptoError(
        "the bytes are not a point of P-256", hint: "Give 04, then x and y of 32 bytes each.")
    }
    return secret
  }
}

extension SHA256Digest {
  /// HKDF (RFC 5869): `count` bytes, at most 8,160, derived from a secret.
  public static func derive(
    _ secret: [UInt8], salt: [UInt8], info: [UInt8], count: Int
  ) -> [UInt8] {
    precondition((1...8_160).contains(count), "HKDF gives 1 to 8,160 bytes")
    let extracted = authenticate(
      secret, key: salt.isEmpty ? [UInt8](repeating: 0, count: 32) : salt)
    var output: [UInt8] = []
    var block: [UInt8] = []
    var number: UInt8 = 1
    while output.count < count {
      block = authenticate(block + info + [number], key: extracted)
      output += block
      number &+= 1
    }
    return Array(output.prefix(count))
  }
}

#if canImport(CryptoKit)
  private enum AgreementAdapter {
    static func secret(_ der: [UInt8], _ info: [UInt8]) -> [UInt8]? {
      guard let key = try? P256.KeyAgreement.PrivateKey(derRepresentation: der),
        let other = try? P256.KeyAgreement.PublicKey(derRepresentation: info),
        let secret = try? key.sharedSecretFromKeyAgreement(with: other)
      else { return nil }
      return secret.withUnsafeBytes { [UInt8]($0) }
    }
  }
#else
  private enum AgreementAdapter {
    static func secret(_ der: [UInt8], _ info: [UInt8]) -> [UInt8]? {
      let key = der.withUnsafeBufferPointer { buffer in
        var start = buffer.baseAddress
        return d2i_AutoPrivateKey(nil, &start, buffer.count)
      }
      defer { EVP_PKEY_free(key) }
      // A point that is not on the curve is refused here.
      let other = info.withUnsafeBufferPointer { buffer in
        var start = buffer.baseAddress
        return d2i_PUBKEY(nil, &start, buffer.count)
      }
      defer { EVP_PKEY_free(other) }
      guard let key, let other, let context = EVP_PKEY_CTX_new(key, nil) else { return nil }
      defer { EVP_PKEY_CTX_free(context) }
      var count = 0
      guard EVP_PKEY_derive_init(context) == 1,
        EVP_PKEY_derive_set_peer(context, other) == 1,
        EVP_PKEY_derive(context, nil, &count) == 1
      else { return nil }
      var secret = [UInt8](repeating: 0, count: count)
      guard EVP_PKEY_derive(context, &secret, &count) == 1, count == 32 else { return nil }
      return secret
    }
  }
#endif
