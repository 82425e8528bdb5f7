/// Base64 (RFC 4648): bytes written with 64 letters.
package enum Base64 {
  package enum Alphabet: Sendable {
    /// With `+`, `/` and padding (RFC 4648, 4).
    case standard
    /// With `-` and `_`, and without padding (RFC 4648, 5), as addresses and tokens have it.
    case url
  }

  private static let standard: [UInt8] = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let url: [UInt8] = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  package static func encode(_ bytes: [UInt8], _ alphabet: Alphabet = .standard) -> String {
    let letters = alphabet == .standard ? standard : url
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var index = 0
    while index < bytes.count {
      let left = bytes.count - index
      let group =
        UInt32(bytes[index]) << 16
        | (left > 1 ? UInt32(bytes[index + 1]) << 8 : 0)
        | (left > 2 ? UInt32(bytes[index + 2]) : 0)
      text.append(letters[Int(group >> 18)])
      text.append(letters[Int(group >> 12 & 63)])
      if left > 1 { text.append(letters[Int(group >> 6 & 63)]) }
      if left > 2 { text.append(letters[Int(group & 63)]) }
      if alphabet == .standard, left < 3 {
        for _ in left..<3 { text.append(UInt8(ascii: "=")) }
      }
      index += 3
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Nil when the text is not Base64 in the one form that `encode` writes.
  package static func decode(
    _ text: some StringProtocol, _ alphabet: Alphabet = .standard
  ) -> [UInt8]? { decode(text.utf8, alphabet) }

  /// The same for letters of ASCII.
  package static func decode(
    _ text: some Collection<UInt8>, _ alphabet: Alphabet = .standard
  ) -> [UInt8]? {
    let letters = Array(text)
    guard let bytes = letters.withUnsafeBufferPointer(decodeLeniently),
      encode(bytes, alphabet).utf8.elementsEqual(letters)
    else { return nil }
    return bytes
  }

  /// Reads both alphabets, with or without padding and white space; nil for anything else. Without
  /// padding the bits that are left must be zero: else it is some other text, such as hexadecimal.
  package static func decodeLeniently(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    var group: UInt32 = 0
    var count = 0
    var padding = 0
    for byte in text {
      let value: UInt32
      switch byte {
      case 0x41...0x5A: value = UInt32(byte) - 0x41
      case 0x61...0x7A: value = UInt32(byte) - 0x47
      case 0x30...0x39: value = UInt32(byte) + 4
      case UInt8(ascii: "+"), UInt8(ascii: "-"): value = 62
      case UInt8(ascii: "/"), UInt8(ascii: "_"): value = 63
      case 0x20, 0x09, 0x0A, 0x0D: continue
      case UInt8(ascii: "="):
        padding += 1
        continue
      default: return nil
      }
      if padding > 0 { return nil }
      group = group << 6 | value
      count += 1
      if count == 4 {
        bytes.append(UInt8(truncatingIfNeeded: group >> 16))
        bytes.append(UInt8(truncatingIfNeeded: group >> 8))
        bytes.append(UInt8(truncatingIfNeeded: group))
        (group, count) = (0, 0)
      }
    }
    switch count {
    case 0: return padding == 0 ? bytes : nil
    case 2 where padding == 2 || (padding == 0 && group & 0xF == 0):
      bytes.append(UInt8(truncatingIfNeeded: group >> 4))
    case 3 where padding == 1 || (padding == 0 && group & 0x3 == 0):
      bytes.append(UInt8(truncatingIfNeeded: group >> 10))
      bytes.append(UInt8(truncatingIfNeeded: group >> 2))
    default: return nil
    }
    return bytes
  }
}
