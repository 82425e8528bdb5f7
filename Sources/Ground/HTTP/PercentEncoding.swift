import FerryText

/// Bytes written as `%41` in addresses (RFC 3986, 2.1).
public enum PercentEncoding {
  /// The text with every byte encoded that is neither unreserved nor in `keeping`.
  ///
  /// Unreserved are ASCII letters, digits, `-`, `.`, `_` and `~`. A `%` is encoded too: a text
  /// that is encoded already must not come here.
  public static func encode(_ text: String, keeping: String = "") -> String {
    let kept = Set(keeping.utf8)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      if isUnreserved(byte) || kept.contains(byte) {
        bytes.append(byte)
      } else {
        bytes.append(UInt8(ascii: "%"))
        bytes += Hexadecimal.digits(CollectionOfOne(byte), isUppercase: true)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The text that was encoded; nil where a `%` has no two digits behind it, or the bytes are no
  /// UTF-8. With `plusIsBlank`, as in a query of a form, `+` means a blank.
  public static func decode(
    _ text: some Sequence<UInt8>, plusIsBlank: Bool = false
  ) -> String? {
    var bytes: [UInt8] = []
    var rest = text.makeIterator()
    while let byte = rest.next() {
      if byte == UInt8(ascii: "%") {
        guard let high = rest.next().flatMap(Hexadecimal.value),
          let low = rest.next().flatMap(Hexadecimal.value)
        else { return nil }
        bytes.append(high << 4 | low)
      } else {
        bytes.append(plusIsBlank && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "-._~".utf8.contains(byte)
    }
  }
}
