/// Certificates as text.
public enum PEM {
  /// What is between the marks of certificates in a text, in its order; what is around them does not
  /// matter. nil where it is no Base64, or where the second mark is missing.
  public static func certificates(_ text: String) -> [[UInt8]?] {
    var found: [[UInt8]?] = []
    var body: String?
    for line in text.split(whereSeparator: \.isNewline) {
      if line.contains("-----BEGIN CERTIFICATE-----") {
        body = ""
      } else if line.contains("-----END CERTIFICATE-----") {
        if let whole = body { found.append(decode(whole)) }
        body = nil
      } else {
        body?.append(contentsOf: line)
      }
    }
    if body != nil { found.append(nil) }
    return found
  }

  private static func decode(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var bits = 0
    var count = 0
    for byte in text.utf8 {
      let value: Int
      switch byte {
      case 0x41...0x5A: value = Int(byte) - 0x41
      case 0x61...0x7A: value = Int(byte) - 0x61 + 26
      case 0x30...0x39: value = Int(byte) - 0x30 + 52
      case UInt8(ascii: "+"): value = 62
      case UInt8(ascii: "/"): value = 63
      case UInt8(ascii: "="), 0x20: continue
      default: return nil
      }
      bits = bits << 6 | value
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> count))
        bits &= (1 << count) - 1
      }
    }
    return bytes
  }
}
