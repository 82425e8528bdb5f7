/// Bytes that were pushed and not yet read, given out in pieces of bounded size.
package struct PieceQueue {
  private static let pieceBytes = 64 << 10
  private var waiting: [[UInt8]] = []
  private var offset = 0
  private var isFinishing = false
  private var isFinished = false

  package init() {}

  package mutating func push(_ bytes: [UInt8]) {
    if !bytes.isEmpty { waiting.append(bytes) }
  }

  /// Everything was pushed; once all of it was given out an empty last piece follows.
  package mutating func finish() { isFinishing = true }

  /// Nil when there is nothing to read now, or after the last piece.
  package mutating func next() -> (bytes: [UInt8], isLast: Bool)? {
    if isFinished { return nil }
    guard let first = waiting.first else {
      guard isFinishing else { return nil }
      isFinished = true
      return ([], true)
    }
    let end = offset + PieceQueue.pieceBytes
    guard end < first.count else {
      let piece = offset == 0 ? first : Array(first[offset...])
      waiting.removeFirst()
      offset = 0
      return (piece, false)
    }
    let piece = Array(first[offset..<end])
    offset = end
    return (piece, false)
  }
}
