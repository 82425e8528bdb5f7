import FerryHTTP
import FerryHTTPClient
import Synchronization

/// The body of a caller's request on its way to the service.
final class ForwardedBody: TransportBodySource {
  private let source: any HTTPBodySource
  private let count = Atomic<Int>(0)
  /// What was read before it began to leave.
  private let first: Mutex<[UInt8]>

  init(_ source: any HTTPBodySource, behind first: [UInt8] = []) {
    self.source = source
    self.first = Mutex(first)
    count.store(first.count, ordering: .relaxed)
  }

  var bytes: Int { count.load(ordering: .relaxed) }

  func next() async throws -> [UInt8]? {
    let first = self.first.withLock { first in
      defer { first = [] }
      return first
    }
    guard first.isEmpty else { return first }
    while true {
      switch await source.next() {
      case .bytes(let bytes) where bytes.isEmpty: continue
      case .bytes(let bytes):
        count.add(bytes.count, ordering: .relaxed)
        return bytes
      case .end: return nil
      case .abort: throw Cut()
      }
    }
  }

  /// The caller has hung up, or was refused in the middle: the service must not take it for whole.
  struct Cut: Error, CustomStringConvertible {
    var description: String { "the caller did not send its body to the end" }
  }
}

/// The body of the service's answer on its way to the caller.
final class AnswerBody: HTTPBodySource {
  private struct State {
    var rewriter: (any TextRewriter)?
    var entry: AccessLog.Entry
  }

  private let body: any TransportBody
  private let state: Mutex<State>
  private let log: AccessLog?
  private let upload: ForwardedBody?
  private let turn: ServiceTurn

  init(
    _ body: any TransportBody, rewriter: (any TextRewriter)?, entry: AccessLog.Entry,
    upload: ForwardedBody?, log: AccessLog?, turn: ServiceTurn
  ) {
    self.turn = turn
    self.body = body
    self.log = log
    self.upload = upload
    state = Mutex(State(rewriter: rewriter, entry: entry))
  }

  deinit {
    body.cancel()
    var entry = state.withLock { $0.entry }
    if let upload { entry.receivedBytes = upload.bytes }
    log?.write(entry)
  }

  func next() async -> HTTPBodyPiece {
    do throws(TransportError) {
      guard let piece = try await body.next() else {
        let rest = state.withLock { state in
          defer { state.rewriter = nil }
          let rest = state.rewriter?.finish() ?? []
          state.entry.sentBytes += rest.count
          return rest
        }
        return rest.isEmpty ? .end : .bytes(rest)
      }
      return .bytes(
        state.withLock { state in
          let bytes = state.rewriter?.take(piece) ?? piece
          state.entry.sentBytes += bytes.count
          return bytes
        })
    } catch {
      // Cut off, so that the caller does not take a part for the whole.
      state.withLock { $0.entry.fault = error.message }
      return .abort
    }
  }
}

/// Changes a text while it passes, however it is cut into pieces.
protocol TextRewriter: Sendable {
  mutating func take(_ bytes: [UInt8]) -> [UInt8]
  mutating func finish() -> [UInt8]
}

extension LinkRewriter: TextRewriter {}
