import FerryCrypto

/// What lets one device in without a password: twelve letters, written in three groups. The register
/// has its hash only.
struct ActivationCode {
  static let letters: Int = 12
  /// Without those that look like another one.
  private static let alphabet = Array("ABCDEFGHJKMNPQRSTVWXYZ23456789".utf8)

  private let code: [UInt8]

  /// Of random bytes, one for each letter.
  init(_ bytes: [UInt8]) {
    code = bytes.map { ActivationCode.alphabet[Int($0) % ActivationCode.alphabet.count] }
  }

  /// As a person types it: small letters, blanks and hyphens do not matter.
  init?(_ text: String) {
    let typed = text.uppercased().utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: " ") }
    guard typed.count == ActivationCode.letters,
      typed.allSatisfy(ActivationCode.alphabet.contains)
    else { return nil }
    code = Array(typed)
  }

  var text: String {
    stride(from: 0, to: code.count, by: 4)
      .map { String(decoding: code[$0..<min($0 + 4, code.count)], as: UTF8.self) }
      .joined(separator: "-")
  }

  /// Under which name the register has it in place of a device.
  var device: String { "code-\(hexadecimal(SHA256Digest.hash(code)))" }
}
