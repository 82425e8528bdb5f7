/// Turns the bytes of a document, in pieces of any size, into UTF-8.
///
/// Read are UTF-8, UTF-16 of either order (by its mark, or by how the first character looks),
/// US-ASCII, ISO-8859-1 and Windows-1252 (when an XML declaration names them). Everything else is
/// refused here, so that no C library goes looking for a table of characters on the disk.
package struct TextDecoding {
  private enum Encoding { case utf8, utf16LittleEndian, utf16BigEndian, latin1, windows1252, ascii }

  private var encoding: Encoding?
  private var head: [UInt8] = []
  private var pendingByte: UInt8?
  private var highSurrogate: UInt16?

  package init() {}

  /// True once it is known that the bytes may be passed on as they are.
  var isPlain: Bool { encoding == .utf8 }

  /// The UTF-8 of the bytes; some may be held back until more are known.
  package mutating func decode(_ bytes: [UInt8], isLast: Bool = false) throws(ODataError) -> [UInt8]
  {
    if encoding == nil {
      head.append(contentsOf: bytes)
      guard isLast || canTell else { return [] }
      let start = try detect()
      let rest = Array(head[start...])
      head = []
      return try convert(rest, isLast: isLast)
    }
    return try convert(bytes, isLast: isLast)
  }

  /// Four bytes tell the family; a declaration must be seen whole.
  private var canTell: Bool {
    guard head.count >= 4 else { return false }
    guard let start = declarationStart else { return true }
    return head[start...].contains(UInt8(ascii: ">")) || head.count > 1_024
  }

  private var declarationStart: Int? {
    let start = head.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    return head[start...].starts(with: "<?xm".utf8) || head.count < start + 4 ? start : nil
  }

  private mutating func detect() throws(ODataError) -> Int {
    if head.starts(with: [0xFF, 0xFE, 0, 0]) || head.starts(with: [0, 0, 0xFE, 0xFF]) {
      throw ODataError(.encoding, "the document is in UTF-32", at: ODataPlace(line: 1, column: 1))
    }
    if head.starts(with: [0xFF, 0xFE]) {
      encoding = .utf16LittleEndian
      return 2
    }
    if head.starts(with: [0xFE, 0xFF]) {
      encoding = .utf16BigEndian
      return 2
    }
    let start = head.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    if start == 0, head.count >= 2 {
      if head[0] == 0, head[1] != 0 {
        encoding = .utf16BigEndian
        return 0
      }
      if head[1] == 0, head[0] != 0 {
        encoding = .utf16LittleEndian
        return 0
      }
    }
    encoding = .utf8
    guard head[start...].starts(with: "<?xml".utf8), let named = declaredEncoding(from: start)
    else {
      return start
    }
    switch named {
    // Writers that build a string first declare UTF-16 and send UTF-8; the bytes are the proof.
    case "utf-8", "utf8", "utf-16", "unicode": break
    case "us-ascii", "ascii": encoding = .ascii
    case "iso-8859-1", "latin1", "iso_8859-1": encoding = .latin1
    case "windows-1252", "cp1252": encoding = .windows1252
    default:
      throw ODataError(
        .encoding, "the encoding \(named) is not read", at: ODataPlace(line: 1, column: 1))
    }
    if start == 3, encoding != .utf8 {
      throw ODataError(
        .encoding, "the document begins as UTF-8 and declares \(named)",
        at: ODataPlace(line: 1, column: 1))
    }
    return start
  }

  private func declaredEncoding(from start: Int) -> String? {
    let end = head[start...].firstIndex(of: UInt8(ascii: ">")) ?? head.endIndex
    let text = String(decoding: head[start..<end], as: UTF8.self)
    guard let range = text.firstRange(of: "encoding") else { return nil }
    let after = text[range.upperBound...].drop { $0 == " " || $0 == "=" || $0 == "\t" }
    guard let quote = after.first, quote == "\"" || quote == "'" else { return nil }
    return after.dropFirst().prefix { $0 != quote }.lowercased()
  }

  private mutating func convert(_ bytes: [UInt8], isLast: Bool) throws(ODataError) -> [UInt8] {
    switch encoding {
    case .utf8, nil: return bytes
    case .ascii:
      guard bytes.allSatisfy({ $0 < 0x80 }) else {
        throw ODataError(.encoding, "a document in US-ASCII has a byte above 127")
      }
      return bytes
    case .latin1, .windows1252:
      var text: [UInt8] = []
      text.reserveCapacity(bytes.count + bytes.count / 8)
      for byte in bytes {
        guard byte >= 0x80 else {
          text.append(byte)
          continue
        }
        var code = UInt16(byte)
        if encoding == .windows1252, byte < 0xA0 { code = Self.windows[Int(byte - 0x80)] }
        append(UInt32(code), to: &text)
      }
      return text
    case .utf16LittleEndian, .utf16BigEndian: return try convertWide(bytes, isLast: isLast)
    }
  }

  private mutating func convertWide(_ bytes: [UInt8], isLast: Bool) throws(ODataError) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count)
    for byte in bytes {
      guard let first = pendingByte else {
        pendingByte = byte
        continue
      }
      pendingByte = nil
      let unit =
        encoding == .utf16BigEndian
        ? UInt16(first) << 8 | UInt16(byte) : UInt16(byte) << 8 | UInt16(first)
      if let high = highSurrogate {
        guard unit & 0xFC00 == 0xDC00 else { throw halfPair }
        highSurrogate = nil
        append(0x10000 + (UInt32(high & 0x3FF) << 10) + UInt32(unit & 0x3FF), to: &text)
      } else if unit & 0xFC00 == 0xD800 {
        highSurrogate = unit
      } else if unit & 0xFC00 == 0xDC00 {
        throw halfPair
      } else {
        append(UInt32(unit), to: &text)
      }
    }
    if isLast, pendingByte != nil || highSurrogate != nil {
      throw ODataError(.truncated, "the document of UTF-16 ends inside a character")
    }
    return text
  }

  private var halfPair: ODataError {
    ODataError(.encoding, "half of a surrogate pair is alone in the UTF-16")
  }

  private func append(_ code: UInt32, to text: inout [UInt8]) {
    switch code {
    case ..<0x80: text.append(UInt8(code))
    case ..<0x800:
      text.append(0xC0 | UInt8(code >> 6))
      text.append(0x80 | UInt8(code & 63))
    case ..<0x10000:
      text.append(0xE0 | UInt8(code >> 12))
      text.append(0x80 | UInt8(code >> 6 & 63))
      text.append(0x80 | UInt8(code & 63))
    default:
      text.append(0xF0 | UInt8(code >> 18))
      text.append(0x80 | UInt8(code >> 12 & 63))
      text.append(0x80 | UInt8(code >> 6 & 63))
      text.append(0x80 | UInt8(code & 63))
    }
  }

  private static let windows: [UInt16] = [
    0x20AC, 0xFFFD, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039,
    0x0152, 0xFFFD, 0x017D, 0xFFFD, 0xFFFD, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
    0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0xFFFD, 0x017E, 0x0178,
  ]
}
