import FerryHTTP
import Synchronization

/// Where the thread or queue that receives an answer meets the task that reads it.
///
/// Leaf lock: continuations are resumed after it is let go.
final class Mailbox: Sendable {
  typealias Head = Result<(Int, HTTPHeaders), TransportError>
  typealias Piece = Result<[UInt8]?, TransportError>

  private struct State {
    var head: Head?
    var headWaiter: CheckedContinuation<Head, Never>?
    var buffer: [UInt8] = []
    /// What was read of the buffer already.
    var place = 0
    var reader: CheckedContinuation<Piece, Never>?
    var isPaused = false
    /// Set once; what is buffered is still read before it.
    var end: Piece?
    var wasSent = false
  }

  private let state = Mutex(State())
  /// The most that one `next` returns.
  private let pieceBytes: Int

  init(pieceBytes: Int = TransportLimits.pieceBytes) { self.pieceBytes = pieceBytes }

  // The receiving side.

  /// The request is about to be written.
  func markSent() { state.withLock { $0.wasSent = true } }

  var wasSent: Bool { state.withLock { $0.wasSent } }

  var hasHead: Bool { state.withLock { $0.head != nil } }

  var isOver: Bool { state.withLock { $0.end != nil } }

  var isPaused: Bool { state.withLock { $0.isPaused } }

  func putHead(_ status: Int, _ headers: HTTPHeaders) {
    let waiter = state.withLock { state in
      guard state.head == nil else { return CheckedContinuation<Head, Never>?.none }
      state.head = .success((status, headers))
      defer { state.headWaiter = nil }
      return state.headWaiter
    }
    waiter?.resume(returning: .success((status, headers)))
  }

  /// False if too much waits to be read: nothing was taken, and `take` will tell when to go on.
  func put(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard !bytes.isEmpty else { return true }
    let (isTaken, reader, piece) = state.withLock {
      state -> (Bool, CheckedContinuation<Piece, Never>?, [UInt8]) in
      if state.buffer.count - state.place >= TransportLimits.bufferedBytes {
        state.isPaused = true
        return (false, nil, [])
      }
      state.buffer.append(contentsOf: bytes)
      guard let reader = state.reader else { return (true, nil, []) }
      state.reader = nil
      return (true, reader, take(&state))
    }
    reader?.resume(returning: .success(piece))
    return isTaken
  }

  /// Takes the bytes in any case; false if the sender should wait until `next` tells it to go on.
  ///
  /// For a sender that cannot be asked to give them again.
  func putAnyway(_ bytes: [UInt8]) -> Bool {
    guard !bytes.isEmpty else { return true }
    let (mayGoOn, reader, piece) = state.withLock {
      state -> (Bool, CheckedContinuation<Piece, Never>?, [UInt8]) in
      state.buffer.append(contentsOf: bytes)
      if let reader = state.reader {
        state.reader = nil
        return (true, reader, take(&state))
      }
      if state.buffer.count - state.place >= TransportLimits.bufferedBytes { state.isPaused = true }
      return (!state.isPaused, nil, [])
    }
    reader?.resume(returning: .success(piece))
    return mayGoOn
  }

  /// The body is complete (nil) or ends here; the first end counts.
  func end(_ error: TransportError?) {
    let (waiter, reader, piece) = state.withLock {
      state -> (CheckedContinuation<Head, Never>?, CheckedContinuation<Piece, Never>?, Piece) in
      guard state.end == nil else { return (nil, nil, .success(nil)) }
      let piece: Piece = error.map { .failure($0) } ?? .success(nil)
      state.end = piece
      if error?.code == .cancelled {
        state.buffer = []
        state.place = 0
      }
      if state.head == nil, let error { state.head = .failure(error) }
      defer {
        state.headWaiter = nil
        state.reader = nil
      }
      return (state.headWaiter, state.reader, piece)
    }
    if let error { waiter?.resume(returning: .failure(error)) }
    reader?.resume(returning: piece)
  }

  // The reading side.

  func head() async -> Head {
    await withCheckedContinuation { continuation in
      let head = state.withLock { state in
        if state.head == nil { state.headWaiter = continuation }
        return state.head
      }
      if let head { continuation.resume(returning: head) }
    }
  }

  /// The next bytes. `resume` is called if the sender was made to wait and may go on, before this
  /// waits in turn: both waiting for each other would be for ever.
  func next(resume: () -> Void) async -> Piece {
    await withCheckedContinuation { continuation in
      let (piece, wasPaused) = state.withLock { state -> (Piece?, Bool) in
        if state.buffer.count > state.place {
          let piece = take(&state)
          // The sender goes on once half the room is free, not for each piece.
          let left = state.buffer.count - state.place
          guard state.isPaused, left <= TransportLimits.bufferedBytes / 2 else {
            return (.success(piece), false)
          }
          state.isPaused = false
          return (.success(piece), true)
        }
        defer { state.isPaused = false }
        if state.end == nil {
          precondition(state.reader == nil, "a body has one reader at a time")
          state.reader = continuation
        }
        return (state.end, state.isPaused)
      }
      if wasPaused { resume() }
      if let piece { continuation.resume(returning: piece) }
    }
  }

  private func take(_ state: inout State) -> [UInt8] {
    if state.place == 0 && state.buffer.count <= pieceBytes {
      defer { state.buffer = [] }
      return state.buffer
    }
    let end = min(state.buffer.count, state.place + pieceBytes)
    defer {
      if end == state.buffer.count {
        state.buffer = []
        state.place = 0
      } else {
        state.place = end
      }
    }
    return Array(state.buffer[state.place..<end])
  }
}
