#if canImport(CryptoKit)
  import CryptoKit
#else
  import COpenSSL
#endif

/// Digests that old formats ask for. They protect nothing: two texts with one digest can be made.
public enum FormatDigest {
  /// SHA-1, 20 bytes.
  public static func sha1(_ bytes: [UInt8]) -> [UInt8] {
    #if canImport(CryptoKit)
      return Array(Insecure.SHA1.hash(data: bytes))
    #else
      return digest(bytes, EVP_sha1(), 20)
    #endif
  }

  /// MD5, 16 bytes.
  public static func md5(_ bytes: [UInt8]) -> [UInt8] {
    #if canImport(CryptoKit)
      return Array(Insecure.MD5.hash(data: bytes))
    #else
      return digest(bytes, EVP_md5(), 16)
    #endif
  }

  #if !canImport(CryptoKit)
    private static func digest(
      _ bytes: [UInt8], _ method: OpaquePointer?, _ count: Int
    ) -> [UInt8] {
      var digest = [UInt8](repeating: 0, count: count)
      var length: UInt32 = 0
      let code = EVP_Digest(bytes, bytes.count, &digest, &length, method, nil)
      precondition(code == 1 && Int(length) == count, "the system's library lacks a digest")
      return digest
    }
  #endif
}
