import FerryHTTP
import FerryTestSupport
import Glibc
import Synchronization
import Testing

@testable import FerryHTTPServer

/// A server on a thread of its own and a free port, stopped and waited for at the end.
///
/// Everything the loop's thread starts inherits its name, so that threads can be counted while
/// other tests run beside.
final class LiveServer: Sendable {
  let server: HTTPServer
  let name: String
  private let hasEnded = Mutex(false)
  private static let count = Atomic<Int>(0)

  init(
    limits: HTTPServerLimits = HTTPServerLimits(), port: Int = 0, proxies: Set<String> = [],
    tls: TLSIdentity? = nil, greetings: Bool = false,
    doorman: @escaping HTTPServer.Doorman = { _ in .take(bodyBytes: .max) },
    handler: @escaping HTTPServer.Handler
  ) throws {
    let number = Self.count.add(1, ordering: .relaxed).newValue
    name = "fl\(getpid() % 10_000)-\(number)"
    var configuration = HTTPServerConfiguration(port: port, limits: limits, proxies: proxies)
    configuration.tls = tls
    configuration.proxiesSendGreetings = greetings
    server = try HTTPServer(
      configuration: configuration,
      doorman: doorman,
      handler: handler)
    try server.start()
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        Unmanaged<LiveServer>.fromOpaque(context).takeRetainedValue().serve()
        return nil
      }, Unmanaged.passRetained(self).toOpaque())
    pthread_detach(thread)
  }

  var port: Int { server.boundPort }
  var url: String { "http://127.0.0.1:\(port)" }
  var isStopped: Bool { hasEnded.withLock { $0 } }

  private func serve() {
    let file = open("/proc/thread-self/comm", O_WRONLY)
    _ = write(file, name, name.utf8.count)
    close(file)
    server.run()
    hasEnded.withLock { $0 = true }
  }

  /// Stops and waits; false if it does not come to an end.
  @discardableResult
  func stop(grace: Duration = .seconds(1)) -> Bool {
    server.stop(grace: grace)
    return eventually { self.isStopped }
  }

  /// How many threads of this process bear the server's name.
  var threads: Int { threadIDs.count }

  var rounds: Int { server.engine.rounds.load(ordering: .relaxed) }

  /// What the server's threads have computed so far.
  var cpuTime: Duration {
    threadIDs.reduce(.zero) { sum, id in
      let text = Self.read("/proc/self/task/\(id)/schedstat")
      return sum + .nanoseconds(Int64(text.split(separator: " ").first ?? "") ?? 0)
    }
  }

  private var threadIDs: [String] {
    guard let folder = opendir("/proc/self/task") else { return [] }
    defer { closedir(folder) }
    var found: [String] = []
    while let entry = readdir(folder) {
      let id = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if Self.read("/proc/self/task/\(id)/comm") == name + "\n" { found.append(id) }
    }
    return found
  }

  static func read(_ path: String) -> String {
    let file = open(path, O_RDONLY)
    guard file >= 0 else { return "" }
    defer { close(file) }
    var text: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 4096)
    while case let length = Glibc.read(file, &part, part.count), length > 0 {
      text += part.prefix(length)
    }
    return String(decoding: text, as: UTF8.self)
  }
}

/// Looks until something is so; false once the patience has ended.
func eventually(_ isSo: () -> Bool) -> Bool {
  let patience = Patience()
  while !isSo() { guard patience.lasts() else { return false } }
  return true
}

/// A plain socket, so that what is sent and received is exactly what the test says. Where nothing
/// comes for the length of the patience an issue is recorded: silence is not taken for an end.
final class RawClient: Sendable {
  let socket: CInt

  /// `own`: the address of this machine from which it connects; all of 127.0.0.0/8 are.
  init(_ port: Int, from own: String = "127.0.0.1") {
    socket = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    if !Loopback.call(bind, socket, Loopback.address(0, host: own)) {
      Issue.record("cannot bind: \(String(cString: strerror(errno)))")
    }
    Loopback.limitWaits(of: socket)
    if !Loopback.call(connect, socket, Loopback.address(port)) {
      Issue.record("cannot connect: \(String(cString: strerror(errno)))")
    }
  }

  deinit { close(socket) }

  /// False if the other end has closed.
  @discardableResult
  func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool { Loopback.send(bytes, to: socket) }

  /// Whether the other end, a server of this machine, has read all that was sent.
  func isRead() -> Bool {
    var unacknowledged: CInt = 0
    guard ioctl(socket, UInt(TIOCOUTQ), &unacknowledged) == 0, unacknowledged == 0 else {
      return false
    }
    // The row of the server's socket: its remote port is ours, and `tx_queue:rx_queue` comes later.
    let hexadecimal = String(Loopback.port(of: socket), radix: 16, uppercase: true)
    let port = String(repeating: "0", count: 4 - hexadecimal.count) + hexadecimal
    return LiveServer.read("/proc/net/tcp").split(separator: "\n").contains { line in
      let fields = line.split(separator: " ")
      return fields.count > 4 && fields[2].hasSuffix(":" + port) && fields[4].hasSuffix(":00000000")
    }
  }

  /// What is there, waiting for the first byte; nil at the end, however it came.
  func receive(_ capacity: Int = 65_536) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: capacity)
    let count = recv(socket, &buffer, capacity, 0)
    if count < 0, errno == EAGAIN {
      Issue.record("neither bytes nor an end came in \(Patience.limit)")
    }
    return count > 0 ? Array(buffer.prefix(count)) : nil
  }

  /// Reads until the text has been seen, or nothing more comes.
  func receive(until text: String) -> String {
    var all: [UInt8] = []
    while !String(decoding: all, as: UTF8.self).contains(text) {
      guard let more = receive(4096) else { break }
      all += more
    }
    return String(decoding: all, as: UTF8.self)
  }

  /// All until the other end closes.
  func receiveAll() -> String {
    var all: [UInt8] = []
    while let more = receive() { all += more }
    return String(decoding: all, as: UTF8.self)
  }
}
