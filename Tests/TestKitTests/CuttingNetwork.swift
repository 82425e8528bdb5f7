import Ferry
import FerryHTTP
import FerryHTTPClient
import Synchronization

@testable import FerryTestKit

/// The network of a test server that counts contents and breaks where it is told to; once broken it
/// stays so, as for a process that was killed.
final class CuttingNetwork: Transport {
  enum Cut: Sendable, CaseIterable {
    /// The piece never arrives.
    case request
    /// The piece arrives and its answer does not.
    case response
  }

  private struct State {
    var puts = 0
    var sentBytes = 0
    var starts: [String] = []
    var cutAt: (put: Int, cut: Cut)?
    var downloadLimit: Int?
    var isDead = false
    var renewals = 0
    var lateAt: Int?
  }

  private let server: TestServer
  private let state = Mutex(State())

  init(_ server: TestServer) { self.server = server }

  /// Bytes of contents that left the device.
  var sentBytes: Int { state.withLock { $0.sentBytes } }
  var puts: Int { state.withLock { $0.puts } }
  /// Sessions that were renewed.
  var renewals: Int { state.withLock { $0.renewals } }
  /// Before this piece arrives, an hour passes at the server, and not at the device.
  func delay(put: Int) { state.withLock { $0.lateAt = put } }
  /// The `Range` of each download.
  var starts: [String] { state.withLock { $0.starts } }
  func cut(atPut put: Int, _ cut: Cut) { state.withLock { $0.cutAt = (put, cut) } }
  /// Each download breaks after so many bytes; nil for none.
  func limitDownloads(_ bytes: Int?) { state.withLock { $0.downloadLimit = bytes } }

  func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
    let (cut, isLate) = try state.withLock { state throws(TransportError) -> (Cut?, Bool) in
      guard !state.isDead else { throw CuttingNetwork.broken }
      if request.url.hasSuffix("/token") { state.renewals += 1 }
      if request.method == .get, let range = request.headers["Range"] { state.starts.append(range) }
      guard request.method == .put else { return (nil, false) }
      state.puts += 1
      state.sentBytes += request.body.count
      let isLate = state.lateAt == state.puts
      guard let planned = state.cutAt, planned.put == state.puts else { return (nil, isLate) }
      state.isDead = true
      return (planned.cut, isLate)
    }
    if isLate { await server.advance(by: .seconds(3_600)) }
    if cut == .request { throw CuttingNetwork.broken }
    let response = try await server.network.send(request)
    if cut == .response {
      _ = try await response.body.collect()
      throw CuttingNetwork.broken
    }
    guard request.method == .get, let limit = state.withLock({ $0.downloadLimit }) else {
      return response
    }
    return TransportResponse(
      status: response.status, headers: response.headers,
      body: CutBody(response.body, after: limit))
  }

  static let broken: TransportError = TransportError(
    code: .cut, message: "the test cut the line", hint: "none", isTransient: true,
    requestWasSent: true)
}

private final class CutBody: TransportBody {
  private let body: any TransportBody
  private let rest: Mutex<Int>

  init(_ body: any TransportBody, after limit: Int) {
    self.body = body
    rest = Mutex(limit)
  }

  func next() async throws(TransportError) -> [UInt8]? {
    guard let bytes = try await body.next() else { return nil }
    let allowed = rest.withLock { rest in
      defer { rest -= bytes.count }
      return max(0, min(rest, bytes.count))
    }
    guard allowed > 0 else { throw CuttingNetwork.broken }
    return Array(bytes.prefix(allowed))
  }

  func cancel() { body.cancel() }
}
