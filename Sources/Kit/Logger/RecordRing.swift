/// Records in the order in which they came, in pieces, so that the oldest go at once.
struct RecordRing {
  private var pieces: [[LogEntry]] = []
  private(set) var count = 0
  let pieceSize: Int

  init(pieceSize: Int) { self.pieceSize = pieceSize }

  mutating func append(_ record: LogEntry) {
    if pieces.isEmpty || pieces[pieces.count - 1].count == pieceSize {
      var piece: [LogEntry] = []
      piece.reserveCapacity(pieceSize)
      pieces.append(piece)
    }
    pieces[pieces.count - 1].append(record)
    count += 1
  }

  /// The oldest piece, whole, for the caller to release where nobody waits for it.
  mutating func removeOldest() -> [LogEntry] {
    guard !pieces.isEmpty else { return [] }
    let piece = pieces.removeFirst()
    count -= piece.count
    return piece
  }

  func all(_ isMeant: (LogEntry) -> Bool) -> [LogEntry] {
    var found: [LogEntry] = []
    for piece in pieces { found.append(contentsOf: piece.filter(isMeant)) }
    return found
  }

  mutating func keep(_ isMeant: (LogEntry) -> Bool) {
    let kept = all(isMeant)
    self = RecordRing(pieceSize: pieceSize)
    for record in kept { append(record) }
  }
}
