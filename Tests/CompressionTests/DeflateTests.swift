import FerryCompression
import Testing

@Suite("Compression")
struct DeflateTests {
  @Test("The bytes of RFC 1950 expand, stored or packed")
  func knownBytes() throws {
    // Stored (level 0) and packed (level 9), by another program.
    let stored: [UInt8] = [
      0x78, 0x01, 0x01, 0x05, 0x00, 0xFA, 0xFF, 0x46, 0x65, 0x72, 0x72, 0x79, 0x05, 0xAA, 0x02,
      0x09,
    ]
    let packed: [UInt8] = [
      0x78, 0xDA, 0x73, 0x4B, 0x2D, 0x2A, 0xAA, 0x04, 0x00, 0x05, 0xAA, 0x02, 0x09,
    ]
    for bytes in [stored, packed] {
      #expect(try Deflate.expand(bytes[...], limitBytes: 100) == Array("Ferry".utf8))
    }
  }

  @Test("What was compressed expands to itself", arguments: [0, 1, 511, 65_536, 1_000_003])
  func roundTrip(count: Int) throws {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) }
    let compressed = try Deflate.compress(bytes)
    #expect(try Deflate.expand(compressed[...], limitBytes: count + 1) == bytes)
  }

  @Test("The limit is exact: as many bytes are read, one more is refused")
  func limit() throws {
    let compressed = try Deflate.compress([UInt8](repeating: 7, count: 100_000))
    #expect(try Deflate.expand(compressed[...], limitBytes: 100_000).count == 100_000)
    let error = #expect(throws: CompressionError.self) {
      try Deflate.expand(compressed[...], limitBytes: 99_999)
    }
    #expect(error?.problem.contains("99999") == true)
  }

  @Test("Bytes that are cut, empty, go on, or would expand to something else are refused")
  func damaged() throws {
    let text = Array("a row, and a row, and a row, and a row".utf8)
    let whole = try Deflate.compress(text)
    for end in whole.indices {
      #expect(throws: CompressionError.self) {
        try Deflate.expand(whole[..<end], limitBytes: 1_000)
      }
    }
    for index in whole.indices {
      var changed = whole
      changed[index] ^= 0x20
      // A bit of padding, or of the level in the header, means nothing.
      let read = try? Deflate.expand(changed[...], limitBytes: 1_000)
      #expect(read == nil || read == text)
    }
    #expect(throws: CompressionError.self) {
      try Deflate.expand((whole + [0])[...], limitBytes: 1_000)
    }
  }
}
