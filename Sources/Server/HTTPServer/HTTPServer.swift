import FerryHTTP
import FerryWorld
import Glibc
import Synchronization

/// Answers HTTP/1.1 and 1.0 on one thread, the one that calls `run`.
///
///     let server = try HTTPServer(configuration: .init(port: 8080), log: log) { request in
///       .text(200, "hello")
///     }
///     try server.start()
///     server.run()
///
/// The handler and what it awaits without leaving for another actor's own thread run on that
/// thread too: the server adds no other, whatever the number of connections. So a handler must
/// not block; slow work goes to an actor with a thread of its own.
package final class HTTPServer: Sendable {
  /// Called once per whole request, on the server's thread. Its task is cancelled when the client
  /// goes away before the answer.
  package typealias Handler = @Sendable (HTTPRequest) async -> HTTPResponse

  /// Called once per request, when its head is there and its body is not (`body` is empty), on the
  /// server's thread. It must not block.
  package typealias Doorman = @Sendable (HTTPRequest) -> HTTPAdmission

  private let configuration: HTTPServerConfiguration
  let loop: Loop
  let engine: Engine
  private let port = Mutex<Int?>(nil)

  /// `doorman` judges each request by its head; unless one is given, every request is taken.
  /// Errors: `tooFewFiles`, `system`.
  package init(
    configuration: HTTPServerConfiguration = HTTPServerConfiguration(),
    log: any Log = SilentLog(),
    doorman: @escaping Doorman = { _ in .take(bodyBytes: .max) },
    handler: @escaping Handler
  ) throws(HTTPServerError) {
    configuration.limits.check()
    self.configuration = configuration
    loop = try Loop()
    engine = try Engine(
      configuration: configuration, log: log, loop: loop,
      doorman: doorman, handler: handler)
  }

  /// Opens the port: from here on the system takes connections, which wait for `run`.
  ///
  /// Also ignores SIGPIPE for the process, and raises its limit of open files as far as it may.
  /// Errors: `portInUse`, `notPermitted`, `badAddress`, `badPort`, `tooFewFiles`, `system`.
  package func start() throws(HTTPServerError) {
    let isStarted = port.withLock { $0 != nil }
    precondition(!isStarted, "a server is started once")
    signal(SIGPIPE, SIG_IGN)
    try Self.allowFiles(for: configuration.limits)
    let listener = try Listener.open(configuration.address, port: configuration.port)
    let bound = Listener.port(of: listener)
    try engine.listen(on: listener)
    port.withLock { $0 = bound }
  }

  /// Also listens on a Unix socket of this name in a folder, for processes of this user and of root;
  /// `HTTPRequest.peerUser` says which. It goes away with `stop`.
  ///
  /// On the server's thread, while it runs. The folder must belong to this user, with mode 700.
  /// Errors: `portInUse`, `notPermitted`, `system`.
  package func listenLocally(in folder: String, as name: String) throws(HTTPServerError) {
    listen(on: try LocalSocket(in: folder, named: name))
  }

  func listen(on local: LocalSocket) {
    precondition(loop.isOwnThread, "a socket is added on the server's own thread")
    engine.listen(on: local)
  }

  /// Where it listens. A programmer's error before `start`.
  package var boundPort: Int {
    guard let bound = port.withLock({ $0 }) else {
      preconditionFailure("the server was not started")
    }
    return bound
  }

  /// Serves until `stop`, on the calling thread. Call it once, after `start`.
  package func run() { engine.run() }

  /// Lets `run` return: no new connections, idle ones closed, waiting streams cancelled, requests
  /// in flight answered for as long as `grace`; then the rest is cut.
  ///
  /// From any thread, any number of times; returns at once.
  package func stop(grace: Duration = .seconds(10)) { engine.stop(grace: grace) }

  /// From now on handshakes show this identity; connections that are open stay. Whom clients are asked
  /// for does not change.
  ///
  /// Any thread. Throws `badIdentity`, and the one of before stays. A programmer's error on a server
  /// without TLS.
  package func change(to identity: TLSIdentity) throws(HTTPServerError) {
    guard let tls = engine.tls else { preconditionFailure("the server has no TLS") }
    tls.change(to: try TLSKeys(identity), handshake: configuration.limits.headTime)
  }

  /// The server's thread as an executor, for work that belongs beside the handlers.
  package var executor: any TaskExecutor { loop }

  private static func allowFiles(for limits: HTTPServerLimits) throws(HTTPServerError) {
    // Beside the sockets: databases, logs, the loop itself.
    let needed = rlim_t(limits.connections + limits.lingering + 128)
    var files = rlimit()
    let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard getrlimit(kind, &files) == 0, files.rlim_cur < needed else { return }
    guard files.rlim_max >= needed else {
      throw HTTPServerError(
        code: .tooFewFiles,
        message: "\(needed) open files are needed and \(files.rlim_max) allowed",
        hint: "Raise `ulimit -Hn` or lower the number of connections.")
    }
    files.rlim_cur = needed
    setrlimit(kind, &files)
  }
}
