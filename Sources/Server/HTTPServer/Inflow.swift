import FerryHTTP
import Synchronization

/// The body of a request on its way in: the loop puts it here, the handler takes it.
///
/// Leaf lock: continuations are resumed, and the exchange is notified, after it is let go.
final class Inflow: Sendable {
  /// Bytes that wait for the handler before the client is held: a water mark, and not each piece, as
  /// holding costs several system calls.
  static let fullBytes: Int = 64 * 1024

  private struct State {
    var buffer: [UInt8] = []
    var reader: CheckedContinuation<HTTPBodyPiece, Never>?
    var wasAsked = false
    /// The connection is held until the handler wants more.
    var isHeld = false
    /// Set once. What waits is still given before `end`, and not before `abort`.
    var end: HTTPBodyPiece?
  }

  private let state = Mutex(State())
  /// Called on any thread when a connection that is held may go on.
  private let goOn: @Sendable () -> Void

  init(goOn: @escaping @Sendable () -> Void) { self.goOn = goOn }

  // The side of the loop.

  /// Whether the connection is to be held before its body, as nobody has asked for it yet.
  func holdHead() -> Bool {
    state.withLock { state in
      guard !state.wasAsked, state.end == nil else { return false }
      state.isHeld = true
      return true
    }
  }

  /// Takes the bytes in any case; true where the connection is to be held now.
  func put(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let (reader, piece, isHeld) = state.withLock { state -> (Reader?, [UInt8], Bool) in
      // Nobody reads it any more: the client may send the rest, and it is thrown away.
      guard state.end == nil else { return (nil, [], false) }
      if let reader = state.reader {
        state.reader = nil
        return (reader, Array(bytes), false)
      }
      state.buffer.append(contentsOf: bytes)
      state.isHeld = state.buffer.count >= Inflow.fullBytes
      return (nil, [], state.isHeld)
    }
    reader?.resume(returning: .bytes(piece))
    return isHeld
  }

  /// All of it has come.
  func finish() { close(.end) }

  /// No more will come, or nobody wants it.
  func abort() { close(.abort) }

  private typealias Reader = CheckedContinuation<HTTPBodyPiece, Never>

  private func close(_ end: HTTPBodyPiece) {
    let (reader, wasHeld) = state.withLock { state -> (Reader?, Bool) in
      guard state.end == nil else { return (nil, false) }
      state.end = end
      if case .abort = end { state.buffer = [] }
      defer {
        state.reader = nil
        state.isHeld = false
      }
      return (state.reader, state.isHeld)
    }
    if wasHeld { goOn() }
    reader?.resume(returning: end)
  }

  // The side of the handler.

  fileprivate func next() async -> HTTPBodyPiece {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (piece, mayGoOn) = state.withLock { state -> (HTTPBodyPiece?, Bool) in
          state.wasAsked = true
          let mayGoOn = state.isHeld
          state.isHeld = false
          if !state.buffer.isEmpty {
            defer { state.buffer = [] }
            return (.bytes(state.buffer), mayGoOn)
          }
          if state.end == nil {
            precondition(state.reader == nil, "the body of a request has one reader at a time")
            state.reader = continuation
          }
          return (state.end, mayGoOn)
        }
        if mayGoOn { goOn() }
        if let piece { continuation.resume(returning: piece) }
      }
    } onCancel: {
      abort()
    }
  }
}

/// What the handler has of it. When the handler lets it go, what is left of the body is thrown away.
final class RequestBody: HTTPBodySource {
  private let inflow: Inflow

  init(_ inflow: Inflow) { self.inflow = inflow }

  deinit { inflow.abort() }

  func next() async -> HTTPBodyPiece { await inflow.next() }
}
