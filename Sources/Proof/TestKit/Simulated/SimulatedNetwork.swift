import FerryHTTPClient
import Synchronization

/// One device's way to the server: it fails where a step wants that, and is closed between steps.
final class SimulatedNetwork: Transport {
  /// What happens to a request.
  enum Fault: Sendable {
    case lost
    case answerLost
    /// After so many bytes of the answer.
    case cut(Int)
    case killed(arrived: Bool)
    case serverRestarts(arrived: Bool)
  }

  private struct State {
    var isOpen = true
    /// The device has no network.
    var isOffline = false
    var isDead = false
    /// How many requests come before the one that the fault meets.
    var plan: (before: Int, fault: Fault)?
    var requests = 0
    var happened: [String] = []
  }

  private let server: TestServer
  private let state = Mutex(State())
  private let onKill = Mutex<(@Sendable () -> Void)?>(nil)

  init(_ server: TestServer) { self.server = server }

  func whenKilled(_ act: @escaping @Sendable () -> Void) { onKill.withLock { $0 = act } }

  func set(isOpen: Bool) { state.withLock { $0.isOpen = isOpen } }
  func set(isOffline: Bool) { state.withLock { $0.isOffline = isOffline } }

  /// A step begins: the fault meets its request after `before` others. Nothing
  /// follows it: whether a retry comes within the step would depend on the machine.
  func begin(_ plan: (before: Int, fault: Fault)?) {
    state.withLock { state in
      state.isOpen = true
      state.plan = plan
      state.requests = 0
      state.happened = []
    }
  }

  /// The step has ended; returns what went wrong in it.
  func end() -> [String] {
    state.withLock { state in
      state.isOpen = false
      state.plan = nil
      defer { state.happened = [] }
      return state.happened
    }
  }

  /// Nothing is sent and nothing arrives from now on.
  func die() { state.withLock { $0.isDead = true } }

  private var isDead: Bool { state.withLock { $0.isDead } }

  /// The fault that this request meets.
  private func take() throws(TransportError) -> Fault? {
    try state.withLock { state throws(TransportError) in
      guard state.isOpen, !state.isOffline, !state.isDead else {
        throw SimulatedNetwork.error("the device has no network", wasSent: false)
      }
      state.requests += 1
      guard let plan = state.plan, state.requests > plan.before else { return nil }
      state.plan = nil
      state.isOpen = false
      state.happened.append("request \(state.requests) \(plan.fault.text)")
      return plan.fault
    }
  }

  func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
    let fault = try take()
    switch fault {
    case .lost: throw SimulatedNetwork.error("the request was lost", wasSent: true)
    case .killed(arrived: false): throw kill()
    case .serverRestarts(arrived: false):
      await server.restartInRun()
      throw SimulatedNetwork.error("the server ended", wasSent: true)
    default: break
    }
    let response = try await begin(request)
    switch fault {
    case .answerLost:
      response.body.cancel()
      throw SimulatedNetwork.error("the answer was lost", wasSent: true)
    case .killed:
      response.body.cancel()
      throw kill()
    case .serverRestarts:
      response.body.cancel()
      await server.restartInRun()
      throw SimulatedNetwork.error("the server ended", wasSent: true)
    default: break
    }
    guard !isDead else { throw SimulatedNetwork.error("the device was killed", wasSent: true) }
    guard case .cut(let bytes)? = fault else { return response }
    return TransportResponse(
      status: response.status, headers: response.headers,
      body: ShortBody(response.body, after: bytes))
  }

  /// What an answer has is the seed's doing, not that of a race with the server's work: it begins
  /// before anything of the request is performed, and goes on when all of it is.
  private func begin(
    _ request: TransportRequest
  ) async throws(TransportError) -> TransportResponse {
    let isHeldAnyway = server.gate.hold()
    let answer: Result<TransportResponse, TransportError>
    do throws(TransportError) { answer = .success(try await server.network.send(request)) } catch {
      answer = .failure(error)
    }
    if !isHeldAnyway {
      server.gate.set(room: nil)
      await server.becomeQuiet()
    }
    return try answer.get()
  }

  private func kill() -> TransportError {
    onKill.withLock { $0 }?()
    return SimulatedNetwork.error("the device was killed", wasSent: true)
  }

  static func error(_ message: String, wasSent: Bool) -> TransportError {
    TransportError(
      code: wasSent ? .cut : .cannotConnect, message: message,
      hint: "The simulated test wants that.", isTransient: true, requestWasSent: wasSent)
  }
}

extension SimulatedNetwork.Fault {
  var text: String {
    switch self {
    case .lost: "is lost"
    case .answerLost: "arrives, and its answer is lost"
    case .cut(let bytes): "is cut after \(bytes) bytes of its answer"
    case .killed(arrived: false): "is lost, and the device is killed"
    case .killed(arrived: true): "arrives, and the device is killed before the answer"
    case .serverRestarts(arrived: false): "is lost, and the server restarts"
    case .serverRestarts(arrived: true): "arrives, and the server restarts before the answer"
    }
  }
}

/// A body that breaks after some bytes, if it is longer.
private final class ShortBody: TransportBody {
  private let body: any TransportBody
  private let left: Mutex<Int>

  init(_ body: any TransportBody, after limit: Int) {
    self.body = body
    left = Mutex(limit)
  }

  func next() async throws(TransportError) -> [UInt8]? {
    guard let bytes = try await body.next() else { return nil }
    let allowed = left.withLock { left in
      defer { left -= bytes.count }
      return max(0, min(left, bytes.count))
    }
    guard allowed > 0 else {
      body.cancel()
      throw SimulatedNetwork.error("the connection was cut", wasSent: true)
    }
    return Array(bytes.prefix(allowed))
  }

  func cancel() { body.cancel() }
}
