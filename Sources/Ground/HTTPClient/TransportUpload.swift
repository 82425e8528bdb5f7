import Synchronization

/// The body of a request that is not in memory as a whole: a file, or what a source makes.
///
/// It is asked for its next piece when the last one has left.
public struct TransportUpload: Sendable {
  /// Nil where it is not known: then the body is sent in chunks.
  public let lengthBytes: Int?
  let path: String?
  let open: @Sendable () throws(TransportError) -> any TransportBodySource

  /// A file, which must not change on the way. One that cannot be read fails with
  /// `TransportError.Code.unreadableBody`, and nothing is sent.
  public static func file(_ path: String) throws(TransportError) -> TransportUpload {
    let length = try FileBodySource(path).lengthBytes
    return TransportUpload(lengthBytes: length, path: path) { () throws(TransportError) in
      try FileBodySource(path)
    }
  }

  /// What a source makes. `open` is called for each time that the body is sent: a server that asks
  /// for credentials first gets it twice. Nil says that it cannot begin again.
  ///
  /// A source must give exactly `lengthBytes`, if they are known; fewer fail with
  /// `unreadableBody`, and what is more is not sent.
  public static func source(
    lengthBytes: Int? = nil, _ open: @escaping @Sendable () -> (any TransportBodySource)?
  ) -> TransportUpload {
    TransportUpload(lengthBytes: lengthBytes, path: nil) { () throws(TransportError) in
      guard let source = open() else {
        throw .unreadableBody("the body cannot be sent again: its source can be read only once")
      }
      return source
    }
  }
}

/// Gives the body of a request piece by piece; one reader at a time.
public protocol TransportBodySource: AnyObject, Sendable {
  /// The next bytes, or nil at the end. It may wait; a throw ends the request with
  /// `TransportError.Code.unreadableBody`.
  func next() async throws -> [UInt8]?
}

/// Where the task that reads a source meets the thread that sends.
///
/// Leaf lock.
final class Outbox: Sendable {
  enum Piece: Equatable {
    case bytes(Int)
    /// Nothing yet: `resume` will be called.
    case wait
    case end
    case failed
  }

  private struct State {
    var source: (any TransportBodySource)?
    var piece: [UInt8] = []
    var place = 0
    var isEnded = false
    var failure: String?
    var task: Task<Void, Never>?
  }

  private let state = Mutex(State())
  private let upload: TransportUpload

  init(_ upload: TransportUpload) { self.upload = upload }

  /// Whether the source was asked and has not given yet.
  var isAsking: Bool { state.withLock { $0.task != nil } }

  var failure: String? { state.withLock { $0.failure } }

  /// Fills the buffer from what is there, or asks the source for more.
  func take(
    _ buffer: UnsafeMutableRawBufferPointer, resume: @escaping @Sendable () -> Void
  ) -> Piece {
    state.withLock { state in
      if state.place < state.piece.count {
        let count = min(buffer.count, state.piece.count - state.place)
        state.piece.withUnsafeBytes {
          let part = UnsafeRawBufferPointer(rebasing: $0[state.place..<state.place + count])
          buffer.copyMemory(from: part)
        }
        state.place += count
        return .bytes(count)
      }
      if state.failure != nil { return .failed }
      if state.isEnded { return .end }
      if state.task == nil {
        do throws(TransportError) {
          if state.source == nil { state.source = try upload.open() }
        } catch {
          state.failure = error.message
          return .failed
        }
        guard let source = state.source else { return .failed }
        state.task = Task { [self] in
          do { put(try await source.next()) } catch { fail("\(error)") }
          resume()
        }
      }
      return .wait
    }
  }

  /// No more is wanted.
  func close() {
    let task = state.withLock { state in
      state.isEnded = true
      state.source = nil
      return state.task
    }
    task?.cancel()
  }

  private func put(_ bytes: [UInt8]?) {
    state.withLock { state in
      state.task = nil
      state.piece = bytes ?? []
      state.place = 0
      if bytes == nil { state.isEnded = true }
    }
  }

  func fail(_ text: String) {
    state.withLock { state in
      state.task = nil
      state.failure = text
    }
  }
}
