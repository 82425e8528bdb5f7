import FerryHTTP
import FerryHTTPClient
import FerryServer
import Synchronization

/// A network without sockets: it hands each request to the server in this process.
package final class LocalTransport: Transport {
  private let hosting: LocalHosting
  private let check: @Sendable (_ wasSent: Bool) throws(TransportError) -> Void

  /// `check` is asked before a request, and before each piece of its answer. It throws where a test
  /// wants the network to fail.
  package init(
    _ hosting: LocalHosting,
    check: @escaping @Sendable (_ wasSent: Bool) throws(TransportError) -> Void = { _ in }
  ) {
    self.hosting = hosting
    self.check = check
  }

  package func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
    try check(false)
    guard let host = hosting.running else {
      throw TransportError(
        code: .cannotConnect, message: "the server in this process does not run",
        hint: "Try again.", isTransient: true, requestWasSent: false)
    }
    let (path, query) = LocalTransport.parts(of: request.url)
    let response = await host.answer(
      HTTPRequest(
        method: request.method, path: path, query: query, headers: request.headers,
        body: request.body))
    try check(true)
    return TransportResponse(
      status: response.status, headers: response.headers, body: LocalBody(response.body, check))
  }

  /// The query is what is behind the question mark; nil where there is none.
  private static func parts(of url: String) -> (path: String, query: String?) {
    let query = url.prefix { $0 != "#" }
      .split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).dropFirst().first
    return (HTTPAddress(url)?.path ?? "/", query.map { String($0) })
  }
}

/// The body of an answer, as its source makes it.
private final class LocalBody: TransportBody {
  private let rest: Mutex<HTTPBody?>
  private let check: @Sendable (Bool) throws(TransportError) -> Void

  init(_ body: HTTPBody, _ check: @escaping @Sendable (Bool) throws(TransportError) -> Void) {
    rest = Mutex(body)
    self.check = check
  }

  func next() async throws(TransportError) -> [UInt8]? {
    while let body = rest.withLock({ $0 }) {
      try check(true)
      switch body {
      case .bytes(let bytes):
        cancel()
        return bytes.isEmpty ? nil : bytes
      case .stream(let source):
        guard case .bytes(let bytes) = await source.next() else {
          cancel()
          try check(true)
          return nil
        }
        if !bytes.isEmpty { return bytes }
      }
    }
    return nil
  }

  func cancel() { rest.withLock { $0 = nil } }
}
