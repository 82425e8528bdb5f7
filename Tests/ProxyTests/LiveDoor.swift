import FerryHTTP
import FerryHTTPClient
import FerryHTTPServer
import FerryProxy
import FerryTestSupport
import FerryWorld
import Foundation
import Synchronization
import Testing

extension BackEnd.Limits {
  /// For a service that answers: no limit of time ends a test on a machine however slow.
  static var patient: BackEnd.Limits {
    var limits = BackEnd.Limits()
    (limits.idle, limits.connect) = (.seconds(600), .seconds(600))
    return limits
  }
}

/// A server on a thread of its own and a free port.
final class Live: Sendable {
  let server: HTTPServer
  private let hasEnded = Mutex(false)

  init(
    limits: HTTPServerLimits = HTTPServerLimits(), tls: TLSIdentity? = nil,
    doorman: @escaping HTTPServer.Doorman,
    handler: @escaping HTTPServer.Handler
  ) throws {
    var configuration = HTTPServerConfiguration(limits: limits)
    configuration.tls = tls
    server = try HTTPServer(configuration: configuration, doorman: doorman, handler: handler)
    try server.start()
    let thread = Thread { [self] in
      server.run()
      hasEnded.withLock { $0 = true }
    }
    thread.start()
  }

  var port: Int { server.boundPort }

  func stop() {
    server.stop(grace: .milliseconds(100))
    let patience = Patience()
    while !hasEnded.withLock({ $0 }), patience.lasts() {}
  }
}

/// A value that several threads change.
final class Mutexed<Value: Sendable>: Sendable {
  let value: Mutex<Value>
  init(_ value: Value) { self.value = Mutex(value) }
}

/// A gateway before one or more services, with the users anna and berta.
final class LiveDoor: Sendable {
  let live: Live
  let gateway: Gateway
  var port: Int { live.port }
  var url: String { "http://127.0.0.1:\(port)" }

  private let noted: Mutexed<[String]>
  /// The addresses from which callers came who tried to log in.
  var addresses: [String] { noted.value.withLock { $0 } }

  init(
    _ services: [BackEnd], door: String? = "https://gate.example.com",
    proxies: TrustedProxies = TrustedProxies(), certificates: GatewayCertificates? = nil,
    world: World = World.system(log: SilentLog())
  ) throws {
    let file = GatewayFile(door: door, services: services)
    let note = Mutexed<[String]>([])
    noted = note
    let gateway = Gateway(
      file, world: world, log: nil, proxies: proxies, certificates: certificates
    ) { attempt in
      note.value.withLock { $0.append(attempt.address) }
      switch attempt.proof {
      case .token: return .refused
      case .certificate(let der):
        let name = String(decoding: der, as: UTF8.self)
        return name == "anna" ? .user(GatewayUser(name: name, roles: ["sales"])) : .refused
      case .password(let user, let password):
        if user == "slow" { return .later(seconds: 7) }
        if user == "away" { return .away(seconds: 9) }
        guard ["anna", "berta"].contains(user), password == "secret" else { return .refused }
        return .user(GatewayUser(name: user, roles: user == "anna" ? ["sales"] : []))
      }
    }
    self.gateway = gateway
    var limits = HTTPServerLimits()
    limits.headBytes = 32 * 1024
    limits.poolBytes = 80 * 1024
    live = try Live(limits: limits, doorman: { gateway.admit($0) }) { await gateway.answer($0) }
  }

  static let anna = "Basic YW5uYTpzZWNyZXQ="
  static let berta = "Basic YmVydGE6c2VjcmV0"

  func send(
    _ path: String, _ method: HTTPMethod = .get, body: [UInt8] = [], headers: HTTPHeaders = [:],
    as user: String? = LiveDoor.anna
  ) async throws -> (status: Int, headers: HTTPHeaders, body: [UInt8]) {
    var request = TransportRequest(url: url + path, method: method, headers: headers, body: body)
    if let user { request.headers["Authorization"] = user }
    request.deadlines = TransportDeadlines(connect: .seconds(600), idle: .seconds(600))
    let answer = try await CurlTransport().send(request)
    return (answer.status, answer.headers, try await answer.body.collect())
  }

  /// What comes back for these bytes, until the other end closes. `hangsUp`: says at once that nothing
  /// more will come.
  func raw(_ bytes: [UInt8], hangsUp: Bool) -> String {
    let socket = LiveDoor.connect(port)
    defer { close(socket) }
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(socket, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
      }
      if count <= 0 { break }
      sent += count
    }
    if hangsUp { shutdown(socket, CInt(SHUT_WR)) }
    return String(decoding: LiveDoor.readAll(socket), as: UTF8.self)
  }

  static func connect(_ port: Int) -> CInt {
    let socket = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
    _ = withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    return socket
  }

  static func readAll(_ socket: CInt) -> [UInt8] {
    var limit = timeval(tv_sec: 600, tv_usec: 0)
    setsockopt(
      socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var all: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while case let count = recv(socket, &piece, piece.count, 0), count > 0 {
      all += piece.prefix(count)
    }
    return all
  }
}

/// A service that does what a test tells it, byte by byte.
final class RawService: Sendable {
  let port: Int
  private let listener: CInt
  private let count = Atomic<Int>(0)
  private let heads = Mutex<[String]>([])

  /// Connections so far.
  var connections: Int { count.load(ordering: .relaxed) }
  /// The heads of requests so far.
  var requests: [String] { heads.withLock { $0 } }

  /// `serve` gets each connection, and a way to read the next head, nil at its end.
  init(_ serve: @escaping @Sendable (_ socket: CInt, _ next: () -> String?) -> Void) {
    listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = self.listener
    port = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = bind(listener, $0, length)
        _ = listen(listener, 64)
        _ = getsockname(listener, $0, &length)
      }
      return Int(UInt16(bigEndian: pointer.pointee.sin_port))
    }
    let thread = Thread { [self] in
      while case let socket = accept(listener, nil, nil), socket >= 0 {
        count.add(1, ordering: .relaxed)
        let worker = Thread { [self] in
          serve(socket) { self.nextHead(socket) }
          close(socket)
        }
        worker.start()
      }
    }
    thread.start()
  }

  func end() { shutdown(listener, CInt(SHUT_RDWR)) }

  private func nextHead(_ socket: CInt) -> String? {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while bytes.suffix(4) != [13, 10, 13, 10] {
      guard recv(socket, &byte, 1, 0) == 1 else { return nil }
      bytes.append(byte)
    }
    let text = String(decoding: bytes, as: UTF8.self)
    heads.withLock { $0.append(text) }
    return text
  }
}

@Sendable func write(_ socket: CInt, _ text: String) {
  let bytes = Array(text.utf8)
  var sent = 0
  while sent < bytes.count {
    let count = bytes[sent...].withUnsafeBytes {
      Glibc.send(socket, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
    }
    if count <= 0 { return }
    sent += count
  }
}
