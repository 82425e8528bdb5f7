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

/// Compares in a time that does not depend on where two arrays differ.
public func equalInConstantTime(_ left: [UInt8], _ right: [UInt8]) -> Bool {
  guard left.count == right.count else { return false }
  var difference: UInt8 = 0
  for index in left.indices { difference |= left[index] ^ right[index] }
  return difference == 0
}

/// Lower-case hexadecimal digits.
public func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
  let digits = Array("0123456789abcdef".utf8)
  var text: [UInt8] = []
  for byte in bytes {
    text.append(digits[Int(byte >> 4)])
    text.append(digits[Int(byte & 15)])
  }
  return String(decoding: text, as: UTF8.self)
}
