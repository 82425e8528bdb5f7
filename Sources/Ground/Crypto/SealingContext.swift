#if canImport(CryptoKit)
  import CryptoKit
  import Foundation
#else
  import COpenSSL
#endif

/// Seals and opens many pieces of memory in place with one `SealingKey`, for one thread at a time.
///
/// It keeps the derived keys of the nonces seen last, so that a piece costs what AES-GCM costs.
public final class SealingContext {
  private let key: SealingKey
  private var derived: [DerivedCipher] = []
  private var next: Int = 0
  /// Each opening of a database seals with a prefix of its own; pages of as many are opened fast.
  private static let keptCiphers = 32

  public init(_ key: SealingKey) { self.key = key }

  /// Seals `bytes` in place and writes the tag. The nonce must be new under this key.
  public func seal(
    _ bytes: UnsafeMutableRawBufferPointer, nonce: UnsafeRawBufferPointer,
    associated: UnsafeRawBufferPointer, tag: UnsafeMutableRawBufferPointer
  ) -> Bool {
    guard let cipher = cipher(nonce) else { return false }
    return cipher.seal(bytes, nonce, associated, tag)
  }

  /// Opens `bytes` in place; false when the tag does not fit, and then the bytes are worthless.
  public func open(
    _ bytes: UnsafeMutableRawBufferPointer, nonce: UnsafeRawBufferPointer,
    associated: UnsafeRawBufferPointer, tag: UnsafeRawBufferPointer
  ) -> Bool {
    guard let cipher = cipher(nonce) else { return false }
    return cipher.open(bytes, nonce, associated, tag)
  }

  private func cipher(_ nonce: UnsafeRawBufferPointer) -> DerivedCipher? {
    let first = nonce.loadUnaligned(as: UInt64.self)
    let second = nonce.loadUnaligned(fromByteOffset: 8, as: UInt32.self)
    for cipher in derived where cipher.first == first && cipher.second == second { return cipher }
    guard
      let bytes = try? key.derived(nonce.prefix(12)),
      let made = DerivedCipher(first, second, bytes)
    else { return nil }
    if derived.count < SealingContext.keptCiphers {
      derived.append(made)
    } else {
      derived[next] = made
      next = (next + 1) % SealingContext.keptCiphers
    }
    return made
  }
}

/// AES-256-GCM under the key of one prefix; the last twelve bytes of the nonce are its nonce.
private final class DerivedCipher {
  let first: UInt64
  let second: UInt32

  #if canImport(CryptoKit)
    private let key: SymmetricKey

    init?(_ first: UInt64, _ second: UInt32, _ key: [UInt8]) {
      self.first = first
      self.second = second
      self.key = SymmetricKey(data: key)
    }

    func seal(
      _ bytes: UnsafeMutableRawBufferPointer, _ nonce: UnsafeRawBufferPointer,
      _ associated: UnsafeRawBufferPointer, _ tag: UnsafeMutableRawBufferPointer
    ) -> Bool {
      guard
        let nonce = try? AES.GCM.Nonce(data: nonce[12...]),
        let box = try? AES.GCM.seal(
          UnsafeRawBufferPointer(bytes), using: key, nonce: nonce, authenticating: associated)
      else { return false }
      bytes.copyBytes(from: box.ciphertext)
      tag.copyBytes(from: box.tag)
      return true
    }

    func open(
      _ bytes: UnsafeMutableRawBufferPointer, _ nonce: UnsafeRawBufferPointer,
      _ associated: UnsafeRawBufferPointer, _ tag: UnsafeRawBufferPointer
    ) -> Bool {
      guard
        let nonce = try? AES.GCM.Nonce(data: nonce[12...]),
        let box = try? AES.GCM.SealedBox(
          nonce: nonce, ciphertext: UnsafeRawBufferPointer(bytes), tag: tag),
        let opened = try? AES.GCM.open(box, using: key, authenticating: associated)
      else { return false }
      bytes.copyBytes(from: opened)
      return true
    }
  #else
    private let sealer: OpaquePointer
    private let opener: OpaquePointer

    init?(_ first: UInt64, _ second: UInt32, _ key: [UInt8]) {
      guard let sealer = EVP_CIPHER_CTX_new(), let opener = EVP_CIPHER_CTX_new() else { return nil }
      self.first = first
      self.second = second
      self.sealer = sealer
      self.opener = opener
      // The key schedule is made once; each piece sets only its nonce.
      guard
        EVP_EncryptInit_ex(sealer, EVP_aes_256_gcm(), nil, key, nil) == 1,
        EVP_DecryptInit_ex(opener, EVP_aes_256_gcm(), nil, key, nil) == 1
      else { return nil }
    }

    deinit {
      EVP_CIPHER_CTX_free(sealer)
      EVP_CIPHER_CTX_free(opener)
    }

    func seal(
      _ bytes: UnsafeMutableRawBufferPointer, _ nonce: UnsafeRawBufferPointer,
      _ associated: UnsafeRawBufferPointer, _ tag: UnsafeMutableRawBufferPointer
    ) -> Bool {
      var length: Int32 = 0
      let memory = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
      return EVP_EncryptInit_ex(sealer, nil, nil, nil, nonceStart(nonce)) == 1
        && EVP_EncryptUpdate(sealer, nil, &length, start(associated), Int32(associated.count)) == 1
        && EVP_EncryptUpdate(sealer, memory, &length, memory, Int32(bytes.count)) == 1
        && EVP_EncryptFinal_ex(sealer, nil, &length) == 1
        && EVP_CIPHER_CTX_ctrl(
          sealer, EVP_CTRL_AEAD_GET_TAG, Int32(SealingKey.tagBytes), tag.baseAddress) == 1
    }

    func open(
      _ bytes: UnsafeMutableRawBufferPointer, _ nonce: UnsafeRawBufferPointer,
      _ associated: UnsafeRawBufferPointer, _ tag: UnsafeRawBufferPointer
    ) -> Bool {
      var length: Int32 = 0
      let memory = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
      return EVP_DecryptInit_ex(opener, nil, nil, nil, nonceStart(nonce)) == 1
        && EVP_DecryptUpdate(opener, nil, &length, start(associated), Int32(associated.count)) == 1
        && EVP_DecryptUpdate(opener, memory, &length, memory, Int32(bytes.count)) == 1
        && EVP_CIPHER_CTX_ctrl(
          opener, EVP_CTRL_AEAD_SET_TAG, Int32(SealingKey.tagBytes),
          UnsafeMutableRawPointer(mutating: tag.baseAddress)) == 1
        && EVP_DecryptFinal_ex(opener, nil, &length) == 1
    }

    private func start(_ bytes: UnsafeRawBufferPointer) -> UnsafePointer<UInt8>? {
      bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
    }

    private func nonceStart(_ nonce: UnsafeRawBufferPointer) -> UnsafePointer<UInt8>? {
      start(nonce).map { $0 + 12 }
    }
  #endif
}
