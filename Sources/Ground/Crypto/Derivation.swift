#if canImport(CommonCrypto)
  import CommonCrypto
#else
  import COpenSSL
#endif

/// How a passphrase becomes a key: slowly, so that guessing is slow too.
public enum Derivation: Sendable, Hashable {
  /// RFC 7914; takes `128 * blocks << logarithm` bytes of memory for each lane.
  case scrypt(logarithm: Int, blocks: Int, lanes: Int)
  /// PBKDF2 with HMAC-SHA256, RFC 8018; every system has it.
  case pbkdf2(rounds: Int)

  /// 32 MB and three lanes of scrypt; on Apple's systems, which have no scrypt, 600,000 rounds of
  /// PBKDF2. Both are what OWASP asks for.
  public static var standard: Derivation {
    #if canImport(CommonCrypto)
      .pbkdf2(rounds: 600_000)
    #else
      .scrypt(logarithm: 15, blocks: 8, lanes: 3)
    #endif
  }

  /// No parameters beyond these are computed: a file from a stranger must not take all memory.
  public static let memoryLimitBytes = 256 << 20
  static let roundsLimit = 100_000_000

  /// Whether the parameters can be meant seriously.
  public var isReasonable: Bool {
    switch self {
    case .scrypt(let logarithm, let blocks, let lanes):
      (1...24).contains(logarithm) && (1...64).contains(blocks) && (1...64).contains(lanes)
        && (128 * blocks) << logarithm <= Derivation.memoryLimitBytes
    case .pbkdf2(let rounds): (1...Derivation.roundsLimit).contains(rounds)
    }
  }

  /// 32 bytes of key. Blocks its thread for a good part of a second with `standard`.
  public func key(passphrase: [UInt8], salt: [UInt8]) throws(CryptoError) -> [UInt8] {
    guard isReasonable else {
      throw CryptoError(
        "the key derivation \(self) needs more memory or rounds than are allowed",
        hint: "Do not use the file: it is damaged, or somebody made it to block this app.")
    }
    var key = [UInt8](repeating: 0, count: 32)
    let isDone =
      switch self {
      case .scrypt(let logarithm, let blocks, let lanes):
        try Derivation.scrypt(passphrase, salt, logarithm, blocks, lanes, &key)
      case .pbkdf2(let rounds): Derivation.pbkdf2(passphrase, salt, rounds, &key)
      }
    guard isDone else {
      throw CryptoError(
        "the key derivation \(self) failed", hint: "There may be too little free memory; try again."
      )
    }
    return key
  }

  private static func scrypt(
    _ passphrase: [UInt8], _ salt: [UInt8], _ logarithm: Int, _ blocks: Int, _ lanes: Int,
    _ key: inout [UInt8]
  ) throws(CryptoError) -> Bool {
    #if canImport(CommonCrypto)
      throw CryptoError(
        "this system has no scrypt",
        hint: "Change the key to one with PBKDF2 on a system that has scrypt.")
    #else
      let done = passphrase.withUnsafeBytes { passphrase in
        EVP_PBE_scrypt(
          passphrase.baseAddress?.assumingMemoryBound(to: CChar.self), passphrase.count, salt,
          salt.count, 1 << UInt64(logarithm), UInt64(blocks), UInt64(lanes),
          UInt64(memoryLimitBytes) * 2, &key, key.count)
      }
      return done == 1
    #endif
  }

  private static func pbkdf2(
    _ passphrase: [UInt8], _ salt: [UInt8], _ rounds: Int, _ key: inout [UInt8]
  ) -> Bool {
    #if canImport(CommonCrypto)
      let code = passphrase.withUnsafeBytes { passphrase in
        CCKeyDerivationPBKDF(
          CCPBKDFAlgorithm(kCCPBKDF2), passphrase.baseAddress?.assumingMemoryBound(to: CChar.self),
          passphrase.count, salt, salt.count, CCPseudoRandomAlgorithm(kCCPRFHmacAlgSHA256),
          UInt32(rounds), &key, key.count)
      }
      return code == kCCSuccess
    #else
      let done = passphrase.withUnsafeBytes { passphrase in
        PKCS5_PBKDF2_HMAC(
          passphrase.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(passphrase.count),
          salt, Int32(salt.count), Int32(rounds), EVP_sha256(), Int32(key.count), &key)
      }
      return done == 1
    #endif
  }
}
