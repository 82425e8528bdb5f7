import FerryCompression

/// A picture of a short text that people read and programs should not: grey, as PNG.
enum CaptchaPicture {
  /// Letters and digits that nobody takes for one another.
  static let letters = Array("ABCDEFHJKLMNPRTUVWXY3479")
  static let width = 220
  static let height = 70

  /// `random`: bytes for places, slopes and lines; at least `randomBytes` of them.
  static func png(_ text: String, _ random: [UInt8]) throws(CompressionError) -> [UInt8] {
    var canvas = Canvas()
    var numbers = random.makeIterator()
    func number(_ range: ClosedRange<Int>) -> Int {
      range.lowerBound + Int(numbers.next() ?? 0) % range.count
    }
    for _ in 0..<6 {
      canvas.line(
        (number(0...width / 2), number(0...height)),
        (width / 2 + number(0...width / 2), number(0...height)), grey: UInt8(number(110...190)))
    }
    var x = 12
    for letter in text {
      guard let rows = glyphs[letter] else { continue }
      let slope = number(-3...3)
      let (top, scale) = (number(4...18), number(5...6))
      for (row, bits) in rows.enumerated() {
        for column in 0..<5 where bits >> (4 - column) & 1 == 1 {
          canvas.square(
            x + column * scale + (row - 3) * slope / 2, top + row * scale, scale,
            grey: UInt8(number(0...70)))
        }
      }
      x += 5 * scale + number(3...6)
    }
    for _ in 0..<3 {
      canvas.line(
        (number(0...40), number(0...height)), (width - 1 - number(0...40), number(0...height)),
        grey: UInt8(number(0...70)))
    }
    return try canvas.png()
  }

  /// What `png` takes at most: for each letter four numbers and one a square, and the lines.
  static let randomBytes = 512

  private struct Canvas {
    private var points = [UInt8](
      repeating: 0xFF, count: CaptchaPicture.width * CaptchaPicture.height)

    mutating func set(_ x: Int, _ y: Int, _ grey: UInt8) {
      guard (0..<CaptchaPicture.width).contains(x), (0..<CaptchaPicture.height).contains(y) else {
        return
      }
      points[y * CaptchaPicture.width + x] = grey
    }

    mutating func square(_ x: Int, _ y: Int, _ side: Int, grey: UInt8) {
      for row in 0..<side { for column in 0..<side { set(x + column, y + row, grey) } }
    }

    mutating func line(_ start: (Int, Int), _ end: (Int, Int), grey: UInt8) {
      let steps = max(abs(end.0 - start.0), abs(end.1 - start.1), 1)
      for step in 0...steps {
        let x = start.0 + (end.0 - start.0) * step / steps
        let y = start.1 + (end.1 - start.1) * step / steps
        set(x, y, grey)
        set(x, y + 1, grey)
      }
    }

    /// Grey of 8 bits, without interlace (PNG, second edition).
    func png() throws(CompressionError) -> [UInt8] {
      func big(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> (24 - 8 * $0) & 0xFF) } }
      func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let named = Array(name.utf8) + content
        return big(content.count) + named + big(Int(Checksum.crc32(named)))
      }
      var rows: [UInt8] = []
      for row in 0..<CaptchaPicture.height {
        rows.append(0)
        rows += points[row * CaptchaPicture.width..<(row + 1) * CaptchaPicture.width]
      }
      let head = big(CaptchaPicture.width) + big(CaptchaPicture.height) + [8, 0, 0, 0, 0]
      return try [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", head)
        + chunk("IDAT", Deflate.compress(rows)) + chunk("IEND", [])
    }
  }

  /// Seven rows of five points, the left one highest.
  private static let glyphs: [Character: [Int]] = [
    "A": [0b01110, 0b10001, 0b10001, 0b11111, 0b10001, 0b10001, 0b10001],
    "B": [0b11110, 0b10001, 0b10001, 0b11110, 0b10001, 0b10001, 0b11110],
    "C": [0b01111, 0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b01111],
    "D": [0b11110, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b11110],
    "E": [0b11111, 0b10000, 0b10000, 0b11110, 0b10000, 0b10000, 0b11111],
    "F": [0b11111, 0b10000, 0b10000, 0b11110, 0b10000, 0b10000, 0b10000],
    "H": [0b10001, 0b10001, 0b10001, 0b11111, 0b10001, 0b10001, 0b10001],
    "J": [0b00111, 0b00010, 0b00010, 0b00010, 0b00010, 0b10010, 0b01100],
    "K": [0b10001, 0b10010, 0b10100, 0b11000, 0b10100, 0b10010, 0b10001],
    "L": [0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b11111],
    "M": [0b10001, 0b11011, 0b10101, 0b10101, 0b10001, 0b10001, 0b10001],
    "N": [0b10001, 0b11001, 0b10101, 0b10011, 0b10001, 0b10001, 0b10001],
    "P": [0b11110, 0b10001, 0b10001, 0b11110, 0b10000, 0b10000, 0b10000],
    "R": [0b11110, 0b10001, 0b10001, 0b11110, 0b10100, 0b10010, 0b10001],
    "T": [0b11111, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100],
    "U": [0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b01110],
    "V": [0b10001, 0b10001, 0b10001, 0b10001, 0b01010, 0b01010, 0b00100],
    "W": [0b10001, 0b10001, 0b10001, 0b10101, 0b10101, 0b11011, 0b10001],
    "X": [0b10001, 0b01010, 0b00100, 0b00100, 0b00100, 0b01010, 0b10001],
    "Y": [0b10001, 0b01010, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100],
    "3": [0b11110, 0b00001, 0b00001, 0b01110, 0b00001, 0b00001, 0b11110],
    "4": [0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010],
    "7": [0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000],
    "9": [0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100],
  ]
}
