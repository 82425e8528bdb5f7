import FerryText

#if canImport(CryptoKit)
  import CryptoKit
#else
  import COpenSSL
#endif

/// SHA-256 and its keyed form, by the system's own library.
public enum SHA256Digest {
  /// 32 bytes.
  public static func hash(_ bytes: [UInt8]) -> [UInt8] {
    #if canImport(CryptoKit)
      return Array(SHA256.hash(data: bytes))
    #else
      var digest = [UInt8](repeating: 0, count: 32)
      SHA256(bytes, bytes.count, &digest)
      return digest
    #endif
  }

  /// HMAC-SHA256, 32 bytes.
  public static func authenticate(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
    #if canImport(CryptoKit)
      return Array(HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: key)))
    #else
      var digest = [UInt8](repeating: 0, count: 32)
      var length: UInt32 = 32
      HMAC(EVP_sha256(), key, Int32(key.count), bytes, bytes.count, &digest, &length)
      return digest
    #endif
  }
}

/// SHA-256 over pieces, again and again: what it needs is fetched once.
public final class SHA256Hasher {
  #if canImport(CryptoKit)
    private var state = SHA256()

    /// Ready for the first byte.
    public init() {}

    /// Adds bytes to the text.
    public func update(_ bytes: UnsafeRawBufferPointer) { state.update(bufferPointer: bytes) }

    /// The first 8 bytes of the digest, big endian; begins anew.
    public func finishNumber() -> UInt64 {
      let digest = state.finalize()
      state = SHA256()
      return digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The 32 bytes of the digest; begins anew.
    public func finish() -> [UInt8] {
      let digest = Array(state.finalize())
      state = SHA256()
      return digest
    }
  #else
    private let context: OpaquePointer?
    private let method: OpaquePointer?

    public init() {
      context = EVP_MD_CTX_new()
      method = EVP_MD_fetch(nil, "SHA256", nil)
      precondition(
        EVP_DigestInit_ex2(context, method, nil) == 1, "the system's library has no SHA-256")
    }

    deinit {
      EVP_MD_CTX_free(context)
      EVP_MD_free(method)
    }

    /// Adds bytes to the text.
    public func update(_ bytes: UnsafeRawBufferPointer) {
      EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    }

    /// The first 8 bytes of the digest, big endian; begins anew.
    public func finishNumber() -> UInt64 {
      let number = withUnsafeTemporaryAllocation(byteCount: 32, alignment: 8) { digest -> UInt64 in
        EVP_DigestFinal_ex(context, digest.bindMemory(to: UInt8.self).baseAddress, nil)
        return UInt64(bigEndian: digest.load(as: UInt64.self))
      }
      EVP_DigestInit_ex2(context, nil, nil)
      return number
    }

    /// The 32 bytes of the digest; begins anew.
    public func finish() -> [UInt8] {
      var digest = [UInt8](repeating: 0, count: 32)
      EVP_DigestFinal_ex(context, &digest, nil)
      EVP_DigestInit_ex2(context, nil, nil)
      return digest
    }
  #endif

  /// Adds these bytes.
  public func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

  /// Adds the bytes of a text.
  public func update(_ text: String) {
    var text = text
    text.withUTF8 { update(UnsafeRawBufferPointer($0)) }
  }
}

/// Compares in a time that does not depend on where two arrays differ.
public func equalInConstantTime(_ left: [UInt8], _ right: [UInt8]) -> Bool {
  guard left.count == right.count else { return false }
  var difference: UInt8 = 0
  for index in left.indices { difference |= left[index] ^ right[index] }
  return difference == 0
}

/// Lower-case hexadecimal digits.
public func hexadecimal(_ bytes: some Sequence<UInt8>) -> String { Hexadecimal.encode(bytes) }
