import FerryCrypto
import Testing

@Suite("Digests")
struct DigestTests {
  @Test(
    "SHA-256 gives the values of FIPS 180-4",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
    ])
  func hash(text: String, digest: String) {
    #expect(hexadecimal(SHA256Digest.hash(Array(text.utf8))) == digest)
  }

  @Test("SHA-256 of a million letters is that of FIPS 180-4")
  func long() {
    let letters = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
    #expect(
      hexadecimal(SHA256Digest.hash(letters))
        == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  @Test("HMAC-SHA256 gives the values of RFC 4231")
  func authenticate() {
    let cases: [(key: [UInt8], text: [UInt8], digest: String)] = [
      (
        [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
      ),
      (
        Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
      ),
      (
        [UInt8](repeating: 0xAA, count: 131),
        Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
      ),
    ]
    for (key, text, digest) in cases {
      #expect(hexadecimal(SHA256Digest.authenticate(text, key: key)) == digest)
    }
  }

  @Test("Equal in constant time means equal")
  func equal() {
    #expect(equalInConstantTime([1, 2, 3], [1, 2, 3]))
    #expect(equalInConstantTime([], []))
    for other: [UInt8] in [[1, 2, 4], [0, 2, 3], [1, 2], [1, 2, 3, 0], []] {
      #expect(!equalInConstantTime([1, 2, 3], other))
    }
  }

  @Test("Hexadecimal digits are lower case, two to a byte")
  func digits() {
    #expect(hexadecimal([0, 9, 10, 255]) == "00090aff")
  }
}
