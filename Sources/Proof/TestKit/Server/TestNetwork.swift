import FerryHTTP
import FerryHTTPClient
import FerryServer
import Foundation
import Synchronization

/// A network without sockets: hands each request to the server, and fails where a test wants that.
final class TestNetwork: Transport {
  private let hosting: TestHosting
  private let isDown = Mutex(false)

  init(_ hosting: TestHosting) { self.hosting = hosting }

  /// Of each request so far, for tests of where they go.
  private let sent = Mutex<[String]>([])
  var addresses: [String] { sent.withLock { $0 } }

  func setReachable(_ isReachable: Bool) { isDown.withLock { $0 = !isReachable } }

  func check(wasSent: Bool) throws(TransportError) {
    guard isDown.withLock({ $0 }) else { return }
    throw TransportError(
      code: wasSent ? .cut : .cannotConnect, message: "the test made the server unreachable",
      hint: "setReachable(true) ends that", isTransient: true, requestWasSent: wasSent)
  }

  func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
    try check(wasSent: false)
    sent.withLock { $0.append(request.url) }
    let address = URLComponents(string: request.url)
    guard let host = hosting.running else {
      throw TransportError(
        code: .cannotConnect, message: "the test server restarts", hint: "Try again.",
        isTransient: true, requestWasSent: false)
    }
    let response = await host.answer(
      HTTPRequest(
        method: request.method, path: address?.percentEncodedPath ?? "/",
        query: address?.percentEncodedQuery, headers: request.headers, body: request.body))
    try check(wasSent: true)
    return TransportResponse(
      status: response.status, headers: response.headers, body: TestBody(response.body, self))
  }
}

/// The body of an answer, as its source makes it.
private final class TestBody: TransportBody {
  private let rest: Mutex<HTTPBody?>
  private let network: TestNetwork

  init(_ body: HTTPBody, _ network: TestNetwork) {
    rest = Mutex(body)
    self.network = network
  }

  func next() async throws(TransportError) -> [UInt8]? {
    while let body = rest.withLock({ $0 }) {
      try network.check(wasSent: true)
      switch body {
      case .bytes(let bytes):
        cancel()
        return bytes.isEmpty ? nil : bytes
      case .stream(let source):
        guard case .bytes(let bytes) = await source.next() else {
          cancel()
          try network.check(wasSent: true)
          return nil
        }
        if !bytes.isEmpty { return bytes }
      }
    }
    return nil
  }

  func cancel() { rest.withLock { $0 = nil } }
}
