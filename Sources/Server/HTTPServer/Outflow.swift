import CMicroHTTPD
import FerryHTTP

/// The body of an answer on its way out: libmicrohttpd asks, it gives or lets it wait.
///
/// `@unchecked Sendable`: touched only on the loop's thread, like its exchange.
final class Outflow: @unchecked Sendable {
  /// A body up to this size is handed over as a whole; a larger one through `read`, in blocks of
  /// this size, which sees whether the client takes it.
  static let blockBytes = 16 * 1024
  /// libmicrohttpd keeps a block for as long as a stream lasts, and uses it only over HTTP/1.0
  /// (over 1.1 it asks for what its pool can take): an open channel should not cost 16 KB more.
  private static let streamBlockBytes = 4 * 1024

  private enum State { case flowing, waiting, ended, aborted }

  private let exchange: Exchange
  private let source: (any HTTPBodySource)?
  private var state = State.flowing
  private var piece: [UInt8] = []
  private var sentBytes = 0
  private var task: Task<Void, Never>?

  init(exchange: Exchange, source: any HTTPBodySource) {
    self.exchange = exchange
    self.source = source
  }

  init(exchange: Exchange, whole bytes: [UInt8]) {
    self.exchange = exchange
    source = nil
    piece = bytes
    state = .ended
  }

  /// The answer holds this body until libmicrohttpd lets it go.
  func makeAnswer(size: UInt64) -> OpaquePointer? {
    let held = Unmanaged.passRetained(self)
    let answer = MHD_create_response_from_callback(
      size, source == nil ? Self.blockBytes : Self.streamBlockBytes,
      { context, _, buffer, capacity in
        guard let context, let buffer else { return -2 }
        let flow = Unmanaged<Outflow>.fromOpaque(context).takeUnretainedValue()
        return flow.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: capacity))
      }, held.toOpaque(),
      { context in
        if let context { Unmanaged<Outflow>.fromOpaque(context).release() }
      })
    if answer == nil { held.release() }
    return answer
  }

  func cancel() { task?.cancel() }

  private func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    exchange.engine.wasBusy = true
    // It asks again, so the client took what it had.
    exchange.peer.enter(
      .writing, until: exchange.engine.now + exchange.engine.limits.writeTime)
    while true {
      if exchange.peer.isGone { return MHD_CONTENT_READER_END_WITH_ERROR }
      if sentBytes < piece.count {
        let count = min(buffer.count, piece.count - sentBytes)
        piece.withUnsafeBytes {
          buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[sentBytes...].prefix(count)))
        }
        sentBytes += count
        return count
      }
      switch state {
      case .ended: return MHD_CONTENT_READER_END_OF_STREAM
      case .aborted:
        exchange.abort()
        return MHD_CONTENT_READER_END_WITH_ERROR
      case .flowing:
        state = .waiting
        pull()
        if state == .waiting { return wait() }
      case .waiting: return wait()
      }
    }
  }

  /// Our turn: the client is not to blame for what the source takes.
  private func wait() -> Int {
    exchange.peer.enter(.working, until: nil)
    exchange.suspend()
    return 0
  }

  private func pull() {
    guard let source else { return }
    let engine = exchange.engine
    engine.tasksUnderWay.add(1, ordering: .relaxed)
    let work: @Sendable () async -> Void = {
      let next = await source.next()
      self.deliver(next)
      engine.tasksUnderWay.subtract(1, ordering: .relaxed)
    }
    if engine.isDraining {
      // Cancelled before its first step: a source that would wait sees at once that it must not.
      task = Task(executorPreference: engine.loop, operation: work)
      task?.cancel()
    } else {
      task = Task.immediate(executorPreference: engine.loop, operation: work)
    }
  }

  private func deliver(_ next: HTTPBodyPiece) {
    task = nil
    switch next {
    case .bytes(let bytes):
      piece = bytes
      sentBytes = 0
      state = .flowing
    case .end: state = .ended
    case .abort: state = .aborted
    }
    exchange.resume()
  }
}
