/// Puts one address in the place of another where a link of a text begins with it, while the text
/// passes. However the text is cut into pieces, the result is the same.
///
/// It holds back no more than the address is long.
struct LinkRewriter: Sendable {
  private let address: LinkAddress
  private var places: LinkPlaces
  /// Bytes of what may be the address, as they came.
  private var held: [UInt8] = []
  /// How many bytes of the address they are; nil where no link begins.
  private var matched: Int?
  /// The spellings that they can still be.
  private var isAlive: [Bool]
  /// JSON may write a slash as `\/`.
  private var isEscaping = false
  private var hasEscapes = false
  /// By how many bytes the text has become longer.
  private(set) var growth = 0

  init(_ address: LinkAddress, _ format: LinkPlaces.Format) {
    self.address = address
    places = LinkPlaces(format)
    isAlive = Array(repeating: true, count: address.spellings.count)
  }

  mutating func take(_ bytes: [UInt8]) -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count + 64)
    for byte in bytes { take(byte, &out) }
    return out
  }

  /// What was held back at the end of the text.
  mutating func finish() -> [UInt8] {
    var out: [UInt8] = []
    if matched != nil { decide(isEnd: true, &out) }
    return out
  }

  private mutating func take(_ byte: UInt8, _ out: inout [UInt8]) {
    if matched != nil {
      if matches(byte) { return }
      decide(isEnd: !isEscaping && LinkAddress.ends(byte), &out)
    }
    pass(byte, &out)
  }

  /// Whether the byte goes on with an address; it is held then.
  private mutating func matches(_ byte: UInt8) -> Bool {
    guard let place = matched else { return false }
    if !isEscaping, byte == UInt8(ascii: "\\"), places.format == .json,
      wants(UInt8(ascii: "/"), at: place)
    {
      isEscaping = true
      held.append(byte)
      return true
    }
    guard !isEscaping || byte == UInt8(ascii: "/"), wants(byte, at: place) else { return false }
    for number in isAlive.indices { isAlive[number] = isAlive[number] && fits(byte, place, number) }
    if isEscaping { hasEscapes = true }
    isEscaping = false
    held.append(byte)
    matched = place + 1
    return true
  }

  private func wants(_ byte: UInt8, at place: Int) -> Bool {
    isAlive.indices.contains { isAlive[$0] && fits(byte, place, $0) }
  }

  private func fits(_ byte: UInt8, _ place: Int, _ number: Int) -> Bool {
    let spelling = address.spellings[number]
    return place < spelling.count
      && LinkAddress.isSame(
        byte, spelling[place], ignoringCase: place < address.authorityBytes[number])
  }

  /// What was held is an address, if it is whole and ends here, or it is not.
  private mutating func decide(isEnd: Bool, _ out: inout [UInt8]) {
    let isWhole = isAlive.indices.contains {
      isAlive[$0] && address.spellings[$0].count == matched
    }
    let bytes = held
    let isLink = isEnd && isWhole && !isEscaping
    let escapes = hasEscapes
    (held, matched, isEscaping, hasEscapes) = ([], nil, false, false)
    for number in isAlive.indices { isAlive[number] = true }
    guard isLink else {
      for byte in bytes { pass(byte, &out) }
      return
    }
    // No byte of an address ends a string, a value or an element.
    for byte in bytes { _ = places.take(byte) }
    let before = out.count
    for byte in address.replacement {
      if escapes, byte == UInt8(ascii: "/") { out.append(UInt8(ascii: "\\")) }
      out.append(byte)
    }
    growth += out.count - before - bytes.count
  }

  private mutating func pass(_ byte: UInt8, _ out: inout [UInt8]) {
    out.append(byte)
    if places.take(byte) { matched = 0 }
  }
}
