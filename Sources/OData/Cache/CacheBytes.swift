/// Numbers in as few bytes as they need, and pieces with their length before them.
struct CacheWriter {
  var bytes: [UInt8] = []

  mutating func number(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  mutating func number(_ value: Int) { number(UInt64(value)) }

  /// A number that may be negative; small ones need few bytes.
  mutating func signed(_ value: Int64) {
    number(UInt64(bitPattern: value << 1 ^ value >> 63))
  }

  mutating func fixed(_ value: UInt64) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func text(_ text: String) {
    var text = text
    text.withUTF8 {
      number($0.count)
      bytes.append(contentsOf: $0)
    }
  }

  mutating func piece(_ piece: [UInt8]) {
    number(piece.count)
    bytes += piece
  }
}

/// What `CacheWriter` wrote, from memory that somebody else keeps.
struct CacheReader {
  /// The bytes end too early, or say what cannot be.
  struct Damage: Error {}

  private let bytes: UnsafeBufferPointer<UInt8>
  private var place: Int

  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = bytes
    place = 0
  }

  var isAtEnd: Bool { place == bytes.count }

  mutating func byte() throws(Damage) -> UInt8 {
    guard place < bytes.count else { throw Damage() }
    defer { place += 1 }
    return bytes[place]
  }

  mutating func number() throws(Damage) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let byte = try byte()
      guard shift < 63 || byte < 2 else { throw Damage() }
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
  }

  mutating func count() throws(Damage) -> Int {
    let number = try number()
    // Nothing that is counted takes less than a byte.
    guard number <= UInt64(bytes.count - place) else { throw Damage() }
    return Int(number)
  }

  mutating func signed() throws(Damage) -> Int64 {
    let number = try number()
    return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
  }

  mutating func narrow<Number: FixedWidthInteger>(_ type: Number.Type) throws(Damage) -> Number {
    guard let value = Number(exactly: try signed()) else { throw Damage() }
    return value
  }

  mutating func fixed() throws(Damage) -> UInt64 {
    guard bytes.count - place >= 8 else { throw Damage() }
    defer { place += 8 }
    return bytes[place..<(place + 8)].reduce(0) { $0 << 8 | UInt64($1) }
  }

  mutating func slice() throws(Damage) -> UnsafeBufferPointer<UInt8> {
    let count = try count()
    defer { place += count }
    return UnsafeBufferPointer(rebasing: bytes[place..<(place + count)])
  }

  mutating func text() throws(Damage) -> String { String(decoding: try slice(), as: UTF8.self) }
  mutating func piece() throws(Damage) -> [UInt8] { Array(try slice()) }
}

/// Names that come again in many entries, each kept once.
struct NameTable {
  private(set) var names: [String] = []
  private var numbers: [String: Int] = [:]

  init() {}

  /// Names are told apart by their bytes: two spellings of one letter are two names.
  init(_ names: [String]) {
    for name in names { add(name) }
  }

  mutating func number(_ name: String) -> Int {
    if let number = numbers[name], names[number].utf8.elementsEqual(name.utf8) { return number }
    return add(name)
  }

  @discardableResult
  private mutating func add(_ name: String) -> Int {
    names.append(name)
    numbers[name] = names.count - 1
    return names.count - 1
  }
}
