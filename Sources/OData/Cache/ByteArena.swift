/// Many small pieces of bytes in a few large blocks: no piece costs memory of its own.
struct ByteArena {
  /// Where a piece is.
  struct Place {
    var block: UInt32
    var start: UInt32
    var count: UInt32
  }

  private var blocks: [[UInt8]] = []
  private(set) var liveBytes = 0
  private(set) var freeBytes = 0
  static let blockBytes = 256 << 10

  mutating func add(_ bytes: some Collection<UInt8>) -> Place {
    if blocks.last.map({ $0.count + bytes.count > $0.capacity }) ?? true {
      blocks.append([])
      blocks[blocks.count - 1].reserveCapacity(max(ByteArena.blockBytes, bytes.count))
    }
    let block = blocks.count - 1
    let place = Place(
      block: UInt32(block), start: UInt32(blocks[block].count), count: UInt32(bytes.count))
    blocks[block].append(contentsOf: bytes)
    liveBytes += bytes.count
    return place
  }

  mutating func free(_ place: Place) {
    liveBytes -= Int(place.count)
    freeBytes += Int(place.count)
  }

  func with<Result>(_ place: Place, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    blocks[Int(place.block)].withUnsafeBufferPointer { block in
      let start = Int(place.start)
      return body(UnsafeBufferPointer(rebasing: block[start..<(start + Int(place.count))]))
    }
  }

  func bytes(_ place: Place) -> [UInt8] { with(place) { Array($0) } }

  /// What the blocks take.
  var capacityBytes: Int { blocks.reduce(0) { $0 + $1.capacity } }
}
