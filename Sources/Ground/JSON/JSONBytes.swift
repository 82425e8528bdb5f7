/// The bytes of a text, looked through eight at a time. Every place is checked against the end.
struct JSONBytes {
  private let start: UnsafeRawBufferPointer
  let count: Int

  /// What stands between two quotes.
  struct Text {
    var start: Int
    var end: Int
    var hasEscapes: Bool
  }

  @inline(__always)
  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    start = UnsafeRawBufferPointer(bytes)
    count = bytes.count
  }

  @inline(__always)
  subscript(_ place: Int) -> UInt8 {
    precondition(UInt(bitPattern: place) < UInt(bitPattern: count), "no byte \(place)")
    return start[place]
  }

  @inline(__always)
  func skipSpace(_ from: Int) -> Int {
    var place = from
    while place < count {
      switch self[place] {
      case 0x20, 0x0A, 0x0D, 0x09: place += 1
      default: return place
      }
    }
    return place
  }

  /// The first of `"`, `\` and control characters from a place on; the end where there is none.
  @inline(__always)
  func special(_ from: Int) -> Int {
    var place = from
    let ones: UInt64 = 0x0101_0101_0101_0101
    while place + 8 <= count {
      let word = UInt64(littleEndian: start.loadUnaligned(fromByteOffset: place, as: UInt64.self))
      let quote = word ^ (ones &* 0x22)
      let slash = word ^ (ones &* 0x5C)
      let found =
        ((quote &- ones) & ~quote | (slash &- ones) & ~slash | (word &- ones &* 0x20) & ~word)
        & (ones &* 0x80)
      // The lowest mark is always true; a borrow can only fake one above it.
      if found != 0 { return place + found.trailingZeroBitCount >> 3 }
      place += 8
    }
    while place < count {
      let byte = self[place]
      if byte < 0x20 || byte == 0x22 || byte == 0x5C { return place }
      place += 1
    }
    return place
  }

  /// The string whose opening quote stands before a place; nil when it does not end, or holds what
  /// no string may.
  @inline(__always)
  func string(_ from: Int) -> Text? {
    var place = special(from)
    var hasEscapes = false
    while place < count {
      switch self[place] {
      case UInt8(ascii: "\""): return Text(start: from, end: place, hasEscapes: hasEscapes)
      case UInt8(ascii: "\\"):
        hasEscapes = true
        guard place + 1 < count else { return nil }
        place = special(place + 2)
      default: return nil
      }
    }
    return nil
  }

  /// Takes a key and its colon; the place of the value.
  @inline(__always)
  func key(_ from: Int, _ key: inout Text) -> Int? {
    guard from < count, self[from] == UInt8(ascii: "\""), let found = string(from + 1) else {
      return nil
    }
    key = found
    let colon = skipSpace(found.end + 1)
    guard colon < count, self[colon] == UInt8(ascii: ":") else { return nil }
    return skipSpace(colon + 1)
  }

  /// The end of a number that is written as JSON writes it and does not touch the end.
  @inline(__always)
  func number(_ from: Int) -> Int? {
    var place = from
    if self[place] == UInt8(ascii: "-") { place += 1 }
    let whole = place
    place = digits(place)
    guard place > whole, place == whole + 1 || self[whole] != UInt8(ascii: "0"), place < count
    else { return nil }
    if self[place] == UInt8(ascii: ".") {
      let fraction = place + 1
      place = digits(fraction)
      guard place > fraction, place < count else { return nil }
    }
    if self[place] | 0x20 == UInt8(ascii: "e") {
      place += 1
      guard place < count else { return nil }
      if self[place] == UInt8(ascii: "+") || self[place] == UInt8(ascii: "-") { place += 1 }
      let exponent = place
      place = digits(exponent)
      guard place > exponent, place < count else { return nil }
    }
    return place
  }

  @inline(__always)
  private func digits(_ from: Int) -> Int {
    var place = from
    while place < count, self[place] &- 0x30 < 10 { place += 1 }
    return place
  }

  /// `true`, `false` or `null`.
  @inline(__always)
  func word(_ from: Int) -> (JSONScanner.Kind, Int)? {
    guard from + 4 <= count else { return nil }
    let four = UInt32(littleEndian: start.loadUnaligned(fromByteOffset: from, as: UInt32.self))
    if four == 0x6C6C_756E { return (.null, from + 4) }
    if four == 0x6575_7274 { return (.boolean, from + 4) }
    if four == 0x736C_6166, from + 5 <= count, self[from + 4] == UInt8(ascii: "e") {
      return (.boolean, from + 5)
    }
    return nil
  }
}
