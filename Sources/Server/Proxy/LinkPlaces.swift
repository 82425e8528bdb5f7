/// Finds the places of a text at which a link can begin, byte by byte.
struct LinkPlaces: Sendable {
  enum Format: Sendable, Equatable {
    /// At the beginning of a string.
    case json
    /// At the beginning of a value of an attribute, and of the text of an element.
    case xml
  }

  private enum State {
    case jsonOutside, jsonString, jsonEscape
    /// Text of an element; `isBegin` until something other than a blank has come.
    case text(isBegin: Bool)
    /// Behind `<`, until it is known what it begins.
    case opened
    case tag
    case value(quote: UInt8)
    /// Behind `<!` or `<?`; what it begins shows with the next bytes.
    case declaration
    /// A comment, a CDATA section or an instruction, until `end` has come.
    case skipped(end: StaticString, matched: Int)
  }

  private var state: State
  let format: Format

  init(_ format: Format) {
    self.format = format
    state = format == .json ? .jsonOutside : .text(isBegin: false)
  }

  /// True where a link can begin with the next byte.
  mutating func take(_ byte: UInt8) -> Bool {
    switch state {
    case .jsonOutside:
      guard byte == Self.quote else { return false }
      state = .jsonString
      return true
    case .jsonString:
      if byte == UInt8(ascii: "\\") { state = .jsonEscape }
      if byte == Self.quote { state = .jsonOutside }
    case .jsonEscape: state = .jsonString
    case .text(let isBegin):
      if byte == UInt8(ascii: "<") {
        state = .opened
      } else if isBegin, !Self.isBlank(byte) {
        state = .text(isBegin: false)
      } else {
        return isBegin
      }
    case .opened:
      switch byte {
      case UInt8(ascii: "!"): state = .declaration
      case UInt8(ascii: "?"): state = .skipped(end: "?>", matched: 0)
      case UInt8(ascii: ">"):
        state = .text(isBegin: true)
        return true
      default: state = .tag
      }
    case .tag:
      switch byte {
      case Self.quote, UInt8(ascii: "'"):
        state = .value(quote: byte)
        return true
      case UInt8(ascii: ">"):
        state = .text(isBegin: true)
        return true
      default: break
      }
    case .value(let quote): if byte == quote { state = .tag }
    case .declaration:
      switch byte {
      case UInt8(ascii: "-"): state = .skipped(end: "-->", matched: 0)
      case UInt8(ascii: "["): state = .skipped(end: "]]>", matched: 0)
      default: state = .skipped(end: ">", matched: 0)
      }
    case .skipped(let end, let matched): skip(byte, end, matched)
    }
    return false
  }

  private mutating func skip(_ byte: UInt8, _ end: StaticString, _ matched: Int) {
    let bytes = UnsafeBufferPointer(start: end.utf8Start, count: end.utf8CodeUnitCount)
    if byte == bytes[matched] {
      if matched + 1 == bytes.count {
        state = .text(isBegin: false)
      } else {
        state = .skipped(end: end, matched: matched + 1)
      }
    } else if matched > 0, byte == bytes[0] {
      // `--->` and `]]]>` end too: as many of the repeated byte as before are still there.
      state = .skipped(end: end, matched: matched)
    } else {
      state = .skipped(end: end, matched: 0)
    }
  }

  private static let quote = UInt8(ascii: "\"")

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }
}
