import Testing

@testable import FerryCrypto

@Suite("Sealing")
struct SealingTests {
  @Test("XAES-256-GCM gives what its specification gives")
  func vectors() throws {
    let nonce = Array("ABCDEFGHIJKLMNOPQRSTUVWX".utf8)
    let plain = Array("XAES-256-GCM".utf8)
    let one = try SealingKey([UInt8](repeating: 1, count: 32))
    #expect(
      hexadecimal(try one.seal(plain, nonce: nonce, associated: []))
        == "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271")
    let three = try SealingKey([UInt8](repeating: 3, count: 32))
    #expect(
      hexadecimal(
        try three.seal(plain, nonce: nonce, associated: Array("c2sp.org/XAES-256-GCM".utf8)))
        == "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d")
  }

  @Test("What is sealed opens with the same key and associated bytes only")
  func opens() throws {
    let key = try SealingKey(randomBytes(32))
    let plain = Array("the quick brown fox".utf8)
    let sealed = try key.seal(plain, associated: [1, 2])
    #expect(key.open(sealed, associated: [1, 2]) == plain)
    #expect(key.open(sealed, associated: [1, 3]) == nil)
    #expect(try SealingKey(randomBytes(32)).open(sealed, associated: [1, 2]) == nil)
    #expect(key.open(Array(sealed.prefix(39)), associated: [1, 2]) == nil)
    #expect(try key.seal(plain, associated: [1, 2]) != sealed)
    #expect(throws: CryptoError.self) { try SealingKey([1, 2, 3]) }
  }

  @Test("A flipped bit anywhere in a sealed piece is noticed")
  func flipped() throws {
    let key = try SealingKey(randomBytes(32))
    let sealed = try key.seal(Array("twelve bytes".utf8))
    for bit in 0..<(sealed.count * 8) {
      var changed = sealed
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(key.open(changed) == nil, "bit \(bit)")
    }
  }

  @Test("scrypt and PBKDF2 give what their standards give")
  func derivations() throws {
    // RFC 7914, sections 12 and 11; the first 32 of 64 bytes.
    let scrypt = try Derivation.scrypt(logarithm: 10, blocks: 8, lanes: 16)
      .key(passphrase: Array("password".utf8), salt: Array("NaCl".utf8))
    #expect(
      hexadecimal(scrypt) == "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162")
    let pbkdf2 = try Derivation.pbkdf2(rounds: 80_000)
      .key(passphrase: Array("Password".utf8), salt: Array("NaCl".utf8))
    #expect(
      hexadecimal(pbkdf2) == "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56")
  }

  @Test("Parameters that would take all memory are refused before they do")
  func parameters() {
    for derivation in [
      Derivation.scrypt(logarithm: 30, blocks: 8, lanes: 1),
      .scrypt(logarithm: 24, blocks: 64, lanes: 1), .scrypt(logarithm: 0, blocks: 8, lanes: 1),
      .pbkdf2(rounds: 0), .pbkdf2(rounds: .max),
    ] {
      #expect(throws: CryptoError.self) { try derivation.key(passphrase: [1], salt: [2]) }
    }
    #expect(Derivation.standard.isReasonable)
  }
}
