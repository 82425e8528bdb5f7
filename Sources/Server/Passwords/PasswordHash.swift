import CArgon2

/// Turns passwords into something that may be stored: argon2id, as a PHC string
/// (`$argon2id$v=19$m=19456,t=2,p=1$salt$hash`).
///
/// One call takes some 20 ms and 19 MB by design. Do it on a `PasswordDesk`, never on a thread that
/// serves others.
package enum PasswordHash {
  /// What a guess costs. Strings made with other parameters are still verified, as they carry
  /// their own.
  enum Parameters {
    /// OWASP's first recommendation for argon2id: 19 MB, two passes, one lane.
    static let memoryKilobytes: UInt32 = 19_456
    static let passes: UInt32 = 2
    static let lanes: UInt32 = 1
    static let hashBytes = 32
    /// The least that libargon2 takes is 8; 16 is what RFC 9106 recommends.
    static let leastSaltBytes = 16
    /// A stored string may ask for this much and no more: a file of users is no way to fill the
    /// memory.
    static let mostMemoryKilobytes: UInt32 = 262_144
    static let mostPasses: UInt32 = 16
    /// Longer ones are refused before anything is computed.
    static let mostPasswordBytes = 1024
  }

  /// The string to store. `salt` is at least 16 random bytes, new for each password.
  ///
  /// Errors: `passwordTooLong`, `saltTooShort`, `system`.
  package static func make(password: String, salt: [UInt8]) throws(PasswordError) -> String {
    try check(password)
    guard salt.count >= Parameters.leastSaltBytes else {
      throw PasswordError(
        code: .saltTooShort, message: "the salt has \(salt.count) bytes",
        hint: "Give at least \(Parameters.leastSaltBytes) random ones.")
    }
    let bytes = Array(password.utf8)
    let length = argon2_encodedlen(
      Parameters.passes, Parameters.memoryKilobytes, Parameters.lanes, UInt32(salt.count),
      UInt32(Parameters.hashBytes), Argon2_id)
    var text = [CChar](repeating: 0, count: length)
    let status = argon2id_hash_encoded(
      Parameters.passes, Parameters.memoryKilobytes, Parameters.lanes, bytes, bytes.count, salt,
      salt.count, Parameters.hashBytes, &text, text.count)
    guard status == ARGON2_OK.rawValue else { throw system(status) }
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Whether a password is the one the string was made from. The time it takes does not tell how
  /// much of it was right.
  ///
  /// Errors: `passwordTooLong`, `notAHash`, `tooCostly`, `system`.
  package static func verify(password: String, hash: String) throws(PasswordError) -> Bool {
    try check(password)
    try checkCost(of: hash)
    let bytes = Array(password.utf8)
    let status = argon2id_verify(hash, bytes, bytes.count)
    switch status {
    case ARGON2_OK.rawValue: return true
    case ARGON2_VERIFY_MISMATCH.rawValue: return false
    case ARGON2_MEMORY_ALLOCATION_ERROR.rawValue, ARGON2_THREAD_FAIL.rawValue: throw system(status)
    default: throw notAHash
    }
  }

  private static func check(_ password: String) throws(PasswordError) {
    guard password.utf8.count <= Parameters.mostPasswordBytes else {
      throw PasswordError(
        code: .passwordTooLong, message: "the password has \(password.utf8.count) bytes",
        hint: "Choose one of at most \(Parameters.mostPasswordBytes).")
    }
  }

  private static func checkCost(of hash: String) throws(PasswordError) {
    let parts = hash.split(separator: "$")
    guard parts.count == 5, parts[0] == "argon2id", !hash.utf8.contains(0) else { throw notAHash }
    for pair in parts[2].split(separator: ",") {
      let sides = pair.split(separator: "=")
      guard sides.count == 2, let number = UInt32(sides[1]) else { throw notAHash }
      let most: UInt32 =
        switch sides[0] {
        case "m": Parameters.mostMemoryKilobytes
        case "t": Parameters.mostPasses
        default: Parameters.lanes
        }
      guard number <= most else {
        throw PasswordError(
          code: .tooCostly, message: "the stored hash asks for \(pair), and \(most) is the most",
          hint: "Make the hash again.")
      }
    }
  }

  private static var notAHash: PasswordError {
    PasswordError(
      code: .notAHash, message: "the text is not an argon2id hash",
      hint: "Store what PasswordHash.make returns, from $argon2id to the end.")
  }

  private static func system(_ status: CInt) -> PasswordError {
    PasswordError(
      code: .system, message: "argon2: \(String(cString: argon2_error_message(status)))",
      hint: "Check that \(Parameters.memoryKilobytes / 1024) MB of memory are free.")
  }
}
