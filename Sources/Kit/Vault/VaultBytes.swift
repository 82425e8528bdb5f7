/// Numbers, big endian, and pieces with their length before them.
struct VaultWriter {
  var bytes: [UInt8] = []

  mutating func number(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func piece(_ piece: [UInt8]) {
    number(UInt32(piece.count))
    bytes += piece
  }
}

/// What `VaultWriter` wrote; nil where the bytes end too early.
struct VaultReader {
  private let bytes: [UInt8]
  private(set) var place = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { place == bytes.count }

  mutating func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
    guard let part = take(MemoryLayout<Number>.size) else { return nil }
    return part.reduce(Number(0)) { $0 << 8 | Number(truncatingIfNeeded: $1) }
  }

  mutating func take(_ count: Int) -> [UInt8]? {
    guard count >= 0, bytes.count - place >= count else { return nil }
    defer { place += count }
    return Array(bytes[place..<(place + count)])
  }

  mutating func piece() -> [UInt8]? {
    guard let count = number(UInt32.self) else { return nil }
    return take(Int(count))
  }
}
