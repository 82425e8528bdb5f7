import FerryModel

/// Tells whether a text that comes in stretches is UTF-8. A character may be cut by the end of a
/// stretch; nothing of the text is kept.
public struct TextCheck: Sendable {
  /// Where the first byte stands that belongs to no character; nil while all is well.
  public private(set) var wrongAt: Int64?
  private var position: Int64 = 0
  /// Where the character that is not whole yet began, how many of its bytes are to come, and
  /// between what the next one must be.
  private var start: Int64 = 0
  private var due: Int = 0
  private var lowest: UInt8 = 0x80
  private var highest: UInt8 = 0xBF

  public init() {}

  /// The next stretch; after something wrong all else is let pass.
  public mutating func take(_ bytes: UnsafeRawBufferPointer) {
    var index = 0
    while index < bytes.count, wrongAt == nil {
      if due == 0, bytes.count - index >= 8,
        bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
      {
        index += 8
        continue
      }
      take(bytes[index], at: position + Int64(index))
      index += 1
    }
    position += Int64(bytes.count)
  }

  /// The text is over. Gives the first byte that belongs to no character, nil where all is UTF-8.
  public mutating func finish() -> Int64? {
    if wrongAt == nil, due > 0 { wrongAt = start }
    return wrongAt
  }

  private mutating func take(_ byte: UInt8, at place: Int64) {
    if due > 0 {
      guard (lowest...highest).contains(byte) else {
        wrongAt = start
        return
      }
      due -= 1
      (lowest, highest) = (0x80, 0xBF)
      return
    }
    start = place
    switch byte {
    case 0x00...0x7F: return
    case 0xC2...0xDF: due = 1
    case 0xE0: (due, lowest) = (2, 0xA0)
    case 0xED: (due, highest) = (2, 0x9F)
    case 0xE1...0xEF: due = 2
    case 0xF0: (due, lowest) = (3, 0x90)
    case 0xF1...0xF3: due = 3
    case 0xF4: (due, highest) = (3, 0x8F)
    default: wrongAt = place
    }
  }
}

extension Refusal {
  /// A text whose bytes are none; `offset` counts them from 0.
  public static func wrongText(_ attribute: Attribute, at offset: Int64) -> Refusal {
    Refusal(
      code: 422,
      message: "The content of \(attribute.name) is not text: byte \(offset) is not valid UTF-8. "
        + "Write the value again.", attribute: attribute.name)
  }
}
