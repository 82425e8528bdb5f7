/// A key that seals bytes with XAES-256-GCM: what is sealed can neither be read nor changed without
/// it.
///
/// XAES-256-GCM (c2sp.org/XAES-256-GCM) is AES-256-GCM with nonces of 24 bytes: the first twelve
/// choose a key of their own for each range of nonces. Such nonces may be drawn at random without
/// end, where those of bare AES-GCM run out after 2^32. A key never shows what it holds.
public struct SealingKey: Sendable, CustomStringConvertible, CustomReflectable {
  public static let keyBytes = 32
  public static let nonceBytes = 24
  public static let tagBytes = 16

  private let key: [UInt8]
  private let mask: [UInt8]

  /// Exactly 32 bytes, from `randomBytes` or a `Derivation`.
  public init(_ key: [UInt8]) throws(CryptoError) {
    guard key.count == SealingKey.keyBytes else {
      throw CryptoError(
        "the key has \(key.count) bytes", hint: "Give a key of exactly 32 bytes.")
    }
    self.key = key
    var mask = try BlockCipher.encrypt([UInt8](repeating: 0, count: 16), key: key)
    let carries = mask[0] & 0x80 != 0
    for index in 0..<16 {
      let next: UInt8 = index < 15 ? mask[index + 1] >> 7 : 0
      mask[index] = mask[index] << 1 | next
    }
    if carries { mask[15] ^= 0x87 }
    self.mask = mask
  }

  public var description: String { "SealingKey(hidden)" }
  public var customMirror: Mirror { Mirror(self, children: []) }

  /// The key of AES-GCM for all nonces that begin with these twelve bytes.
  func derived(_ prefix: some Collection<UInt8>) throws(CryptoError) -> [UInt8] {
    var blocks: [UInt8] = []
    for counter: UInt8 in [1, 2] {
      let block = [0, counter, UInt8(ascii: "X"), 0] + prefix
      for index in 0..<16 { blocks.append(block[index] ^ mask[index]) }
    }
    return try BlockCipher.encrypt(blocks, key: key)
  }

  /// A fresh nonce, the sealed bytes and the tag, one after the other.
  public func seal(_ bytes: [UInt8], associated: [UInt8] = []) throws(CryptoError) -> [UInt8] {
    let nonce = randomBytes(SealingKey.nonceBytes)
    return try nonce + seal(bytes, nonce: nonce, associated: associated)
  }

  /// The sealed bytes and the tag. A nonce must never be used twice with one key.
  func seal(_ bytes: [UInt8], nonce: [UInt8], associated: [UInt8]) throws(CryptoError) -> [UInt8] {
    var sealed = bytes + [UInt8](repeating: 0, count: SealingKey.tagBytes)
    let isDone = SealingContext(self).seal(&sealed, nonce: nonce, associated: associated)
    guard isDone else {
      throw CryptoError("the bytes could not be sealed", hint: "Report this as a bug.")
    }
    return sealed
  }

  /// What `seal` was given; nil if key, associated bytes or sealed bytes are not the same.
  public func open(_ sealed: [UInt8], associated: [UInt8] = []) -> [UInt8]? {
    let overhead = SealingKey.nonceBytes + SealingKey.tagBytes
    guard sealed.count >= overhead else { return nil }
    let nonce = Array(sealed.prefix(SealingKey.nonceBytes))
    var bytes = Array(sealed.dropFirst(SealingKey.nonceBytes))
    guard SealingContext(self).open(&bytes, nonce: nonce, associated: associated) else {
      return nil
    }
    return Array(bytes.dropLast(SealingKey.tagBytes))
  }
}

extension SealingContext {
  fileprivate func seal(_ bytes: inout [UInt8], nonce: [UInt8], associated: [UInt8]) -> Bool {
    bytes.withUnsafeMutableBytes { bytes in
      withBoth(nonce, associated) { nonce, associated in
        let length = bytes.count - SealingKey.tagBytes
        return seal(
          UnsafeMutableRawBufferPointer(rebasing: bytes[..<length]), nonce: nonce,
          associated: associated, tag: UnsafeMutableRawBufferPointer(rebasing: bytes[length...]))
      }
    }
  }

  fileprivate func open(_ bytes: inout [UInt8], nonce: [UInt8], associated: [UInt8]) -> Bool {
    bytes.withUnsafeMutableBytes { bytes in
      withBoth(nonce, associated) { nonce, associated in
        let length = bytes.count - SealingKey.tagBytes
        return open(
          UnsafeMutableRawBufferPointer(rebasing: bytes[..<length]), nonce: nonce,
          associated: associated, tag: UnsafeRawBufferPointer(rebasing: bytes[length...]))
      }
    }
  }

  private func withBoth(
    _ nonce: [UInt8], _ associated: [UInt8],
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
  ) -> Bool {
    nonce.withUnsafeBytes { nonce in associated.withUnsafeBytes { body(nonce, $0) } }
  }
}
