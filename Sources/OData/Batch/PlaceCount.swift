import FerryOData

/// Counts lines and columns on the way through bytes that come in pieces, each byte once.
struct PlaceCount {
  private var line = 1
  private var column = 1
  private var counted = 0

  /// Line and column of an offset in the present piece, which lies at or behind the last one asked
  /// for.
  mutating func place(_ offset: Int, in bytes: [UInt8]) -> (line: Int, column: Int) {
    let end = min(offset, bytes.count)
    while counted < end {
      let byte = bytes[counted]
      if byte == 0x0A {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
      counted += 1
    }
    return (line, column)
  }

  /// Says that the bytes before the offset are gone.
  mutating func drop(_ offset: Int, of bytes: [UInt8]) {
    _ = place(offset, in: bytes)
    counted -= offset
  }
}
