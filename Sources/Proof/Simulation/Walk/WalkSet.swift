/// The states that were met, by a hash of 64 bits of their canonical bytes: of ten million states two
/// have the same with a chance of three in a million.
struct WalkSet {
  private var table: [UInt64]
  private(set) var count = 0

  init() { table = [UInt64](repeating: 0, count: 1 << 16) }

  /// False where it was here before.
  mutating func insert(_ hash: UInt64) -> Bool {
    if count * 2 >= table.count { grow() }
    guard WalkSet.insert(hash, into: &table) else { return false }
    count += 1
    return true
  }

  private mutating func grow() {
    var larger = [UInt64](repeating: 0, count: table.count * 2)
    for hash in table where hash != 0 { _ = WalkSet.insert(hash, into: &larger) }
    table = larger
  }

  private static func insert(_ hash: UInt64, into table: inout [UInt64]) -> Bool {
    let mask = table.count - 1
    var place = Int(truncatingIfNeeded: hash) & mask
    while table[place] != 0 {
      if table[place] == hash { return false }
      place = (place + 1) & mask
    }
    table[place] = hash
    return true
  }

  /// Never zero.
  static func hash(_ bytes: [UInt8]) -> UInt64 {
    var hash: UInt64 = 0x9E37_79B9_7F4A_7C15 ^ UInt64(bytes.count)
    var word: UInt64 = 0
    var filled = 0
    func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
      let product = (hash ^ word).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
      return product.high ^ product.low &+ 0xA076_1D64_78BD_642F
    }
    for byte in bytes {
      word = word << 8 | UInt64(byte)
      filled += 1
      if filled == 8 {
        hash = mix(hash, word)
        (word, filled) = (0, 0)
      }
    }
    hash = mix(mix(hash, word), UInt64(filled))
    return hash == 0 ? 1 : hash
  }
}
