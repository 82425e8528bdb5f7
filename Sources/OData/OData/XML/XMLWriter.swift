/// Writes XML into a growing array of bytes.
struct XMLWriter {
  private(set) var bytes: [UInt8] = []
  private var isTagOpen = false
  /// The first thing that XML has no way to write.
  private(set) var unwritable: String?

  init(declaration: Bool = false) {
    if declaration { bytes += #"<?xml version="1.0" encoding="utf-8"?>"#.utf8 }
  }

  /// What was written so far, taken out.
  mutating func take() -> [UInt8] {
    var taken: [UInt8] = []
    swap(&taken, &bytes)
    return taken
  }

  mutating func open(_ name: String) {
    closeTag()
    bytes.append(UInt8(ascii: "<"))
    bytes += name.utf8
    isTagOpen = true
  }

  mutating func attribute(_ name: String, _ value: String) {
    bytes.append(UInt8(ascii: " "))
    bytes += name.utf8
    bytes += "=\"".utf8
    escape(value, inAttribute: true)
    bytes.append(UInt8(ascii: "\""))
  }

  mutating func optional(_ name: String, _ value: String?) {
    if let value { attribute(name, value) }
  }

  mutating func text(_ text: String) {
    guard !text.isEmpty else { return }
    closeTag()
    escape(text, inAttribute: false)
  }

  mutating func close(_ name: String) {
    if isTagOpen {
      bytes += "/>".utf8
      isTagOpen = false
    } else {
      bytes += "</".utf8
      bytes += name.utf8
      bytes.append(UInt8(ascii: ">"))
    }
  }

  /// An element with nothing but text.
  mutating func element(_ name: String, _ text: String) {
    open(name)
    self.text(text)
    close(name)
  }

  private mutating func closeTag() {
    if isTagOpen {
      bytes.append(UInt8(ascii: ">"))
      isTagOpen = false
    }
  }

  private mutating func escape(_ text: String, inAttribute: Bool) {
    var last: (UInt8, UInt8) = (0, 0)
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "&"): bytes += "&amp;".utf8
      case UInt8(ascii: "<"): bytes += "&lt;".utf8
      case UInt8(ascii: ">"): bytes += "&gt;".utf8
      case UInt8(ascii: "\"") where inAttribute: bytes += "&quot;".utf8
      case 0x0D: bytes += "&#13;".utf8
      case 0x09 where inAttribute: bytes += "&#9;".utf8
      case 0x0A where inAttribute: bytes += "&#10;".utf8
      case 0..<0x20 where byte != 0x09 && byte != 0x0A:
        unwritable = unwritable ?? "the control character \(byte)"
      case 0xBE where last == (0xEF, 0xBF), 0xBF where last == (0xEF, 0xBF):
        unwritable = unwritable ?? "the character U+FFF\(byte == 0xBE ? "E" : "F")"
        bytes.append(byte)
      default: bytes.append(byte)
      }
      last = (last.1, byte)
    }
  }
}
