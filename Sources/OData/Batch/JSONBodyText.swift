import FerryOData
import FerryText

/// How a JSON batch carries the body of a part (OData JSON Format 4.01, 19.1).
enum JSONBodyForm: Equatable {
  /// JSON as it is.
  case json
  /// A string: media types of text.
  case text
  /// A string of base 64 for URLs: all other media types.
  case binary

  init(contentType: String?) {
    self =
      BatchText.isJSON(contentType) ? .json : BatchText.isText(contentType) ? .text : .binary
  }
}

/// Resolves the text of one JSON string, which was checked before, by pieces of any size.
struct JSONText {
  private var escape: [UInt8] = []
  private var isOpen = false
  private var isEscape = false
  private var high: UInt32?

  static func digit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case 0x30...0x39: UInt32(byte) - 0x30
    case 0x41...0x46: UInt32(byte) - 0x37
    case 0x61...0x66: UInt32(byte) - 0x57
    default: nil
    }
  }

  /// The text of the next bytes of the string, its quotes among them; nil when half of a pair of
  /// surrogates stands alone.
  mutating func take(_ bytes: [UInt8]) -> [UInt8]? {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count)
    for byte in bytes {
      if isEscape {
        guard takeEscape(byte, &text) else { return nil }
      } else if byte == 0x5C {
        isEscape = true
      } else if byte == 0x22 {
        if isOpen, high != nil { return nil }
        isOpen = true
      } else {
        if high != nil { return nil }
        text.append(byte)
      }
    }
    return text
  }

  private mutating func takeEscape(_ byte: UInt8, _ text: inout [UInt8]) -> Bool {
    escape.append(byte)
    if escape[0] != UInt8(ascii: "u") {
      if high != nil { return false }
      let plain: UInt8 =
        switch byte {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: byte
        }
      text.append(plain)
    } else {
      guard escape.count == 5 else { return true }
      var code = escape.dropFirst().reduce(UInt32(0)) { $0 << 4 + (Self.digit($1) ?? 0) }
      if let first = high {
        guard code & 0xFC00 == 0xDC00 else { return false }
        code = 0x10000 + ((first & 0x3FF) << 10) + (code & 0x3FF)
        high = nil
      } else if code & 0xFC00 == 0xD800 {
        high = code
      }
      if high == nil {
        guard let scalar = Unicode.Scalar(code) else { return false }
        text.append(contentsOf: String(Character(scalar)).utf8)
      }
    }
    escape.removeAll(keepingCapacity: true)
    isEscape = false
    return true
  }
}

/// Makes the bytes of a body from its JSON text, or says what is wrong with it.
struct JSONBodyReading {
  private let form: JSONBodyForm
  private var text = JSONText()
  private var letters: [UInt8] = []

  init(_ form: JSONBodyForm) { self.form = form }

  /// Nil when the text is none that the form allows.
  mutating func take(_ raw: [UInt8], isLast: Bool) -> [UInt8]? {
    if form == .json { return raw }
    guard let resolved = text.take(raw) else { return nil }
    if form == .text { return resolved }
    letters += resolved.filter { $0 != 0x0A && $0 != 0x0D && $0 != 0x20 && $0 != 0x09 }
    // Whole groups of four letters only, so that nothing but the end may be padded.
    let count = isLast ? letters.count : max(0, letters.count - 4) / 4 * 4
    let part = Array(letters[..<count])
    letters.removeFirst(count)
    if !isLast, part.contains(0x3D) { return nil }
    return part.withUnsafeBufferPointer { Base64.decodeLeniently($0) }
  }
}
