import FerryHTTPClient
import Foundation
import Glibc
import Testing

/// nginx before a server, configured as an operator would who knows nothing of Ferry.
final class Proxy: Sendable {
  let port: Int
  private let process: ChildProcess
  private let watcher: ChildProcess
  private let place: Place
  /// Has its certificate; nil without TLS.
  private let certificates: Place?

  private init(
    _ process: ChildProcess, _ port: Int, _ place: Place, _ certificates: Place?
  ) throws {
    self.process = process
    self.port = port
    self.place = place
    self.certificates = certificates
    watcher = try ChildProcess("/bin/sh", ["-c", "read line; kill -9 \(process.id)"])
  }

  deinit {
    watcher.kill()
    process.kill()
  }

  /// Who signed its certificate, a file in PEM form; nil without TLS.
  var authority: String? { certificates?.file("ca.pem") }
  var address: String { "\(authority == nil ? "http" : "https")://127.0.0.1:\(port)" }

  /// Before the command of a device's process, so that it trusts the proxy.
  var trusting: [String] {
    authority.map { ["/usr/bin/env", "FERRY_AUTHORITY=\($0)"] } ?? []
  }

  /// The SHA-256 of its certificate as OpenSSL prints it; only with TLS.
  func fingerprint() async throws -> String {
    let file = try #require(certificates?.file("server.pem"))
    let openssl = try ChildProcess(
      "/usr/bin/env", ["openssl", "x509", "-in", file, "-noout", "-fingerprint", "-sha256"])
    _ = try await openssl.ended()
    return String(try #require(openssl.lines.first?.split(separator: "=").last))
  }

  /// Sends requests to it.
  var transport: any Transport {
    authority.map { Wires.transport(authority: $0) } ?? Wires.transport
  }

  /// `more` is what the operator wrote besides `proxy_pass`.
  /// Where somebody else took the port between the choice and the start, it is started again, on
  /// another port if none was asked for.
  static func start(
    before daemon: Daemon, port: Int? = nil, more: String = ""
  ) async throws -> Proxy {
    try await poll("nginx has a port") {
      try await begin(before: daemon, port: port) { port in
        """
        server {
          listen 127.0.0.1:\(port);
          location / {
            proxy_pass http://127.0.0.1:\(daemon.port);
            \(more)
          }
        }
        """
      }
    }
  }

  /// With the configuration that `Samples/nginx` ships. Only the ports and the certificate's folder
  /// are others.
  static func startSample(before daemon: Daemon) async throws -> Proxy {
    let sample = try String(
      contentsOfFile: Programs.root + "/Samples/nginx/ferry.conf", encoding: .utf8)
    let certificates = try Place()
    try makeCertificates(certificates)
    return try await poll("nginx has a port") {
      try await begin(before: daemon, port: nil, certificates) { port in
        sample.replacing("listen 443 ssl", with: "listen 127.0.0.1:\(port) ssl")
          .replacing("/etc/ssl/ferry/fullchain.pem", with: certificates.file("server.pem"))
          .replacing("/etc/ssl/ferry/key.pem", with: certificates.file("server.key"))
          .replacing("127.0.0.1:8080", with: "127.0.0.1:\(daemon.port)")
      }
    }
  }

  private static func makeCertificates(_ place: Place) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = [
      Programs.root + "/Tests/Fixtures/certificates.sh", "server=/CN=ferry.example.com",
    ]
    process.currentDirectoryURL = URL(filePath: place.path)
    process.standardError = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw WayFailure("openssl cannot make a certificate: Scripts/install puts it there")
    }
  }

  /// Nil where the port is taken.
  private static func begin(
    before daemon: Daemon, port: Int?, _ certificates: Place? = nil,
    servers: (_ port: Int) -> String
  ) async throws -> Proxy? {
    let folders = [
      "/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin",
    ]
    guard
      let nginx = folders.map({ "\($0)/nginx" }).first(where: FileManager.default.isExecutableFile)
    else {
      throw WayFailure("nginx is not installed: Scripts/install puts it there (nginx-light)")
    }
    let place = try Place()
    let port = try port ?? freePort()
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
      .map { "\($0)_temp_path \(place.file($0));" }.joined(separator: "\n  ")
    let file = try place.write(
      """
      daemon off;
      master_process off;
      pid \(place.file("nginx.pid"));
      error_log stderr warn;
      events {}
      http {
        access_log off;
        \(temporary)
        \(servers(port))
      }

      """, to: "nginx.conf")
    let process = try ChildProcess(nginx, ["-p", place.path, "-e", "stderr", "-c", file])
    let proxy = try Proxy(process, port, place, certificates)
    let transport = proxy.transport
    return try await poll("nginx answers") { () -> Proxy?? in
      if !process.isRunning {
        _ = try await process.ended()
        guard process.errorText.contains("Address already in use") else {
          throw WayFailure("nginx: \(process.errorText)")
        }
        return .some(nil)
      }
      guard let answer = try? await Wires.get("\(proxy.address)/health", over: transport) else {
        return nil
      }
      return answer.status == 200 ? .some(proxy) : nil
    }
  }

  func stopNow() async throws {
    watcher.kill()
    try await process.killNow()
  }

  /// A port that was free a moment ago: nginx does not tell one that the system chose.
  static func freePort() throws -> Int {
    let listener = try Listener()
    return listener.port
  }
}

/// A socket that holds a port.
final class Listener: Sendable {
  let port: Int
  private let descriptor: Int32

  init() throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = self.descriptor
    let code = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(descriptor, pointer, length) == 0 && listen(descriptor, 1) == 0
          && getsockname(descriptor, pointer, &length) == 0
      }
    }
    guard code else { throw WayFailure("no port is free") }
    port = Int(UInt16(bigEndian: address.sin_port))
  }

  deinit { close(descriptor) }
}
