import Synchronization

/// Reads a content from any position, in constant memory: it holds one piece.
///
/// May be used from any thread, by one thread at a time. It reads the content that existed when it
/// was opened. If the value is replaced meanwhile it throws `notDownloaded`; then open another
/// reader.
public final class BigReader: Sendable {
  private struct State {
    var position: Int64 = 0
    var piece: (start: Int64, bytes: [UInt8]) = (0, [])
    var isOpen = true
  }

  /// The size in bytes.
  public let length: Int64
  private let contents: Contents
  private let number: Int64
  private let state = Mutex(State())

  init(_ contents: Contents, _ entry: Contents.Entry) {
    self.contents = contents
    number = entry.number
    length = entry.sizeBytes
  }

  /// The position of the next `read`, in bytes.
  public var position: Int64 { state.withLock { $0.position } }

  /// Moves to a place from 0 to `length`; elsewhere `invalidValue`.
  public func seek(to position: Int64) throws(FerryError) {
    guard (0...length).contains(position) else {
      throw FerryError(
        .invalidValue, "there is no byte \(position) in a value of \(length) bytes",
        hint: "Seek to a place from 0 to \(length).")
    }
    try state.withLock { state throws(FerryError) in
      guard state.isOpen else { throw BigReader.notOpen }
      state.position = position
    }
  }

  /// The next bytes, at most `count`, usually exactly as many; nil at the end.
  ///
  /// Errors: `streamNotOpen` after `close`; `notDownloaded` if the value was replaced meanwhile.
  public func read(upTo count: Int) throws(FerryError) -> [UInt8]? {
    precondition(count > 0, "read(upTo: \(count))")
    return try state.withLock { state throws(FerryError) in
      guard state.isOpen else { throw BigReader.notOpen }
      guard state.position < self.length else { return nil }
      var found: [UInt8] = []
      while found.count < count, state.position < self.length {
        let inside = state.position - state.piece.start
        if inside < 0 || inside >= Int64(state.piece.bytes.count) {
          guard let piece = try self.contents.piece(of: self.number, at: state.position) else {
            throw FerryError(
              .notDownloaded, "the value was replaced while it was read",
              hint: "Open it again to read the new content.")
          }
          state.piece = piece
          continue
        }
        let rest = state.piece.bytes[Int(inside)...].prefix(count - found.count)
        // A whole piece needs no second copy.
        if found.isEmpty, rest.count == state.piece.bytes.count {
          found = state.piece.bytes
        } else {
          found += rest
        }
        state.position += Int64(rest.count)
      }
      return found
    }
  }

  /// The next byte; nil at the end.
  public func readByte() throws(FerryError) -> UInt8? { try read(upTo: 1)?.first }

  /// Frees the piece in memory; afterwards nothing can be read.
  public func close() {
    state.withLock { state in
      state.isOpen = false
      state.piece = (0, [])
    }
  }

  private static let notOpen: FerryError = FerryError(
    .streamNotOpen, "the stream was closed", hint: "Open another with openForRead.")
}

/// The bytes of a big value, piece by piece, for `for try await`.
public struct BigPieces: AsyncSequence, Sendable {
  /// The error type of reading.
  public typealias Failure = FerryError
  let value: BigValue

  public func makeAsyncIterator() -> Iterator { Iterator(value: value) }

  /// Downloads the content at the first step if it is not on the device.
  public struct Iterator: AsyncIteratorProtocol {
    let value: BigValue
    private var reader: BigReader?

    init(value: BigValue) { self.value = value }

    public mutating func next() async throws(FerryError) -> [UInt8]? {
      try await next(isolation: nil)
    }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(FerryError) -> [UInt8]? {
      if reader == nil { reader = try await value.openForRead() }
      return try reader?.read(upTo: try value.contents.pieceBytes)
    }
  }
}
