/// Certificates as text.
enum PEM {
  /// The certificates between the marks of a text; what is none is passed over.
  static func certificates(_ text: String) -> [ServerCertificate] {
    var found: [ServerCertificate] = []
    var body: String?
    for line in text.split(whereSeparator: \.isNewline) {
      if line.contains("-----BEGIN CERTIFICATE-----") {
        body = ""
      } else if line.contains("-----END CERTIFICATE-----") {
        if let certificate = body.flatMap(decode).flatMap({ ServerCertificate(der: $0) }) {
          found.append(certificate)
        }
        body = nil
      } else {
        body?.append(contentsOf: line)
      }
    }
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
