import FerryHTTP
import FerryHTTPClient
import FerryHTTPServer
import Glibc
import Synchronization
import Testing

/// A real nginx with nothing but `proxy_pass`, on a port of its own, ended by its process id.
///
/// So it speaks HTTP/1.0 to the server and buffers answers, as a site's own proxy may.
final class Nginx {
  enum Trouble: Error { case missing, notStarted(String) }

  let port: Int
  private let folder: String
  private let process: pid_t

  /// Another port is tried where somebody else took it between the choice and the start.
  static func start(upstream: Int) throws -> Nginx {
    for _ in 0..<10 {
      let nginx = try Nginx(upstream: upstream)
      if try nginx.listens() { return nginx }
    }
    throw Trouble.notStarted("ten ports that were free were taken at once")
  }

  private init(upstream: Int) throws {
    let places: [String] = ["/usr/sbin/nginx", "/usr/bin/nginx"]
    guard let program = places.first(where: { access($0, X_OK) == 0 }) else {
      Issue.record("nginx is missing: apt-get install --no-install-recommends nginx-light")
      throw Trouble.missing
    }
    var template = Array("/tmp/ferry-nginx-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Trouble.notStarted("no temporary folder") }
    folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    port = try Self.freePort()
    // A worker of root's would otherwise be nobody, who cannot enter the folder.
    let conf = """
      \(geteuid() == 0 ? "user root;" : "")
      daemon off;
      worker_processes 1;
      pid \(folder)/pid;
      error_log \(folder)/error.log;
      events { worker_connections 64; }
      http {
        access_log off;
        client_body_temp_path \(folder)/body;
        proxy_temp_path \(folder)/proxy;
        fastcgi_temp_path \(folder)/fastcgi;
        uwsgi_temp_path \(folder)/uwsgi;
        scgi_temp_path \(folder)/scgi;
        server {
          listen 127.0.0.1:\(port);
          location / { proxy_pass http://127.0.0.1:\(upstream); }
        }
      }
      """
    let file = open("\(folder)/nginx.conf", O_WRONLY | O_CREAT, 0o600)
    _ = write(file, conf, conf.utf8.count)
    close(file)
    let words = [
      program, "-p", folder, "-e", "\(folder)/error.log", "-c", "\(folder)/nginx.conf",
    ]
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
    arguments.append(nil)
    defer { arguments.forEach { free($0) } }
    var process = pid_t()
    let status = posix_spawn(&process, program, nil, nil, arguments, environ)
    guard status == 0 else { throw Trouble.notStarted(String(cString: strerror(status))) }
    self.process = process
  }

  /// Waits until it does; false where the port is taken. Something that answers on the port may be
  /// another server: nginx writes its process id when it has the port.
  private func listens() throws -> Bool {
    var isTaken = false
    let hasDecided = eventually {
      isTaken = errors.contains("Address already in use")
      return isTaken || !text(of: "pid").isEmpty
    }
    guard hasDecided else { throw Trouble.notStarted("nginx does not listen: \(errors)") }
    return !isTaken
  }

  private var errors: String { text(of: "error.log") }

  private func text(of name: String) -> String { LiveServer.read("\(folder)/\(name)") }

  deinit {
    kill(process, SIGTERM)
    waitpid(process, nil, 0)
    for name in ["body", "proxy", "fastcgi", "uwsgi", "scgi"] { rmdir("\(folder)/\(name)") }
    for name in ["nginx.conf", "error.log", "pid"] { unlink("\(folder)/\(name)") }
    rmdir(folder)
  }

  /// A port that was free a moment ago: nginx cannot choose one itself and tell.
  private static func freePort() throws -> Int {
    let server = try HTTPServer { _ in .text(200, "") }
    try server.start()
    let port = server.boundPort
    server.stop(grace: .zero)
    server.run()
    return port
  }
}

@Suite("Behind a proxy that knows nothing (adr/PRX)", .apart)
struct NginxTests {
  @Test("A request and its answer pass")
  func roundTrip() async throws {
    let live = try LiveServer { request in
      HTTPResponse(status: 201, headers: ["X-Path": request.path], body: .bytes(request.body))
    }
    let nginx = try Nginx.start(upstream: live.port)
    let body = [UInt8](repeating: 9, count: 500_000)
    let response = try await CurlTransport().send(
      TransportRequest(url: "http://127.0.0.1:\(nginx.port)/x", method: .post, body: body))
    #expect(response.status == 201)
    #expect(response.headers["X-Path"] == "/x")
    #expect(try await response.body.collect() == body)
    #expect(live.stop())
  }

  @Test("Each piece of a stream passes at once, and the end is seen")
  func stream() async throws {
    let source = GateSource()
    let live = try LiveServer { _ in
      HTTPResponse(
        status: 200, headers: ["X-Accel-Buffering": "no", "Cache-Control": "no-store"],
        body: .stream(source))
    }
    let nginx = try Nginx.start(upstream: live.port)
    source.give("first")
    let response = try await CurlTransport().send(
      TransportRequest(url: "http://127.0.0.1:\(nginx.port)/"))
    #expect(try await response.body.next() == Array("first".utf8))
    for piece in ["second", "third"] {
      // The next is given only when this one has come: a proxy that kept it back would wait for ever.
      source.give(piece)
      #expect(try await response.body.next() == Array(piece.utf8))
    }
    source.give(.end)
    #expect(try await response.body.next() == nil)
    #expect(live.stop())
  }

  @Test("An aborted stream reaches the client as cut, not as complete")
  func abort() async throws {
    let source = GateSource()
    let live = try LiveServer { _ in
      HTTPResponse(
        status: 200, headers: ["X-Accel-Buffering": "no"], body: .stream(source))
    }
    let nginx = try Nginx.start(upstream: live.port)
    source.give("first")
    let response = try await CurlTransport().send(
      TransportRequest(url: "http://127.0.0.1:\(nginx.port)/"))
    #expect(try await response.body.next() == Array("first".utf8))
    source.give(.abort)
    let error = await #expect(throws: TransportError.self) { try await response.body.next() }
    #expect(error?.code == .cut)
    #expect(live.stop())
  }

  @Test("A client that leaves the proxy cancels the source")
  func goneClient() async throws {
    let source = GateSource()
    let live = try LiveServer { _ in
      HTTPResponse(
        status: 200, headers: ["X-Accel-Buffering": "no"], body: .stream(source))
    }
    let nginx = try Nginx.start(upstream: live.port)
    source.give("first")
    let response = try await CurlTransport().send(
      TransportRequest(url: "http://127.0.0.1:\(nginx.port)/"))
    #expect(try await response.body.next() == Array("first".utf8))
    response.body.cancel()
    #expect(eventually { source.cancellations == 1 })
    #expect(live.stop())
  }
}
