/// Line and column, counted from 1, of an offset in a text.
public struct TextPlace: Sendable, Equatable, CustomStringConvertible {
  public let line: Int
  /// Counted in characters of UTF-8 that begin a code point.
  public let column: Int

  public init(line: Int = 1, column: Int = 1) {
    self.line = line
    self.column = column
  }

  public init(offset: Int, in text: [UInt8]) {
    self = text.withUnsafeBufferPointer {
      TextPlace().behind(UnsafeBufferPointer(rebasing: $0[..<min(max(offset, 0), text.count)]))
    }
  }

  /// The place behind bytes that begin here; eight of them are looked at at a time.
  public func behind(_ bytes: UnsafeBufferPointer<UInt8>) -> TextPlace {
    let raw = UnsafeRawBufferPointer(bytes)
    let ones: UInt64 = 0x0101_0101_0101_0101
    let low: UInt64 = ones &* 0x7F
    var breaks = 0
    var characters = 0
    var place = 0
    while place + 8 <= raw.count {
      // Each byte of a word counts for itself, at most 255 times; then they are added up.
      let end = min(raw.count - 7, place + 255 * 8)
      let start = place
      var found: UInt64 = 0
      var goingOn: UInt64 = 0
      while place < end {
        let word = raw.loadUnaligned(fromByteOffset: place, as: UInt64.self)
        let differs = word ^ (ones &* 0x0A)
        found &+= ~(((differs & low) &+ low) | differs | low) >> 7
        // What goes on a character has its first bit, and not its second.
        goingOn &+= (word >> 7) & ~(word >> 6) & ones
        place += 8
      }
      breaks += Self.total(found)
      characters += place - start - Self.total(goingOn)
    }
    while place < raw.count {
      if raw[place] == 0x0A { breaks += 1 }
      if raw[place] & 0xC0 != 0x80 { characters += 1 }
      place += 1
    }
    guard breaks > 0, let last = bytes.lastIndex(of: 0x0A) else {
      return TextPlace(line: line, column: column + characters)
    }
    let rest = UnsafeBufferPointer(rebasing: bytes[(last + 1)...])
    return TextPlace(line: line + breaks, column: TextPlace().behind(rest).column)
  }

  /// The sum of the eight bytes of a word.
  private static func total(_ word: UInt64) -> Int {
    let odd: UInt64 = 0x00FF_00FF_00FF_00FF
    let pairs = (word & odd) &+ ((word >> 8) & odd)
    return Int(truncatingIfNeeded: (pairs &* 0x0001_0001_0001_0001) >> 48)
  }

  public var description: String { "\(line):\(column)" }
}

/// The places of many offsets in one text: after the first, each costs no more than a short walk.
public final class TextPlaces {
  private let text: [UInt8]
  private let stride = 4_096
  /// The place of each first byte of a stretch.
  private lazy var starts: [TextPlace] = {
    var found = [TextPlace()]
    var from = 0
    while from + stride < text.count {
      found.append(place(behind: found[found.count - 1], from..<(from + stride)))
      from += stride
    }
    return found
  }()

  public init(_ text: [UInt8]) { self.text = text }

  /// Line and column of an offset; beyond the end, that of the end.
  public func place(_ offset: Int) -> TextPlace {
    let offset = min(max(offset, 0), text.count)
    let stretch = min(offset / stride, starts.count - 1)
    return place(behind: starts[stretch], stretch * stride..<offset)
  }

  private func place(behind start: TextPlace, _ range: Range<Int>) -> TextPlace {
    text.withUnsafeBufferPointer { start.behind(UnsafeBufferPointer(rebasing: $0[range])) }
  }
}
