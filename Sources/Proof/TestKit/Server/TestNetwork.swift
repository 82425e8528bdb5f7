import FerryHTTPClient
import FerryLocalServer
import Synchronization

/// The network in this process, which fails where a test wants that.
final class TestNetwork: Transport {
  private let state: State
  private let transport: LocalTransport

  private final class State: Sendable {
    let isDown = Mutex(false)
    /// Of each request so far, for tests of where they go.
    let sent = Mutex<[String]>([])

    func check(wasSent: Bool) throws(TransportError) {
      guard isDown.withLock({ $0 }) else { return }
      throw TransportError(
        code: wasSent ? .cut : .cannotConnect, message: "the test made the server unreachable",
        hint: "setReachable(true) ends that", isTransient: true, requestWasSent: wasSent)
    }
  }

  init(_ hosting: LocalHosting) {
    let state = State()
    self.state = state
    transport = LocalTransport(hosting) { wasSent throws(TransportError) in
      try state.check(wasSent: wasSent)
    }
  }

  var addresses: [String] { state.sent.withLock { $0 } }

  func setReachable(_ isReachable: Bool) { state.isDown.withLock { $0 = !isReachable } }

  func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
    try state.check(wasSent: false)
    state.sent.withLock { $0.append(request.url) }
    return try await transport.send(request)
  }
}
