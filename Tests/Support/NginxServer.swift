import Foundation
import Glibc

/// A real nginx with a configuration of the test, and certificates of an authority of this test.
package final class NginxServer {
  package struct Trouble: Error, CustomStringConvertible { package let description: String }

  package let port: Int
  package let folder: URL
  private let process = Process()
  private let isOwner: Bool

  package var url: String { "https://127.0.0.1:\(port)/" }
  package var authority: String { folder.appending(path: "ca.pem").path }
  package var identity: URL { folder.appending(path: "client.p12") }
  /// The first lines of all requests, as the server has seen them.
  package var requests: [String] {
    let text =
      (try? String(contentsOf: folder.appending(path: "access.log"), encoding: .utf8)) ?? ""
    return text.split(separator: "\n").map(String.init)
  }

  /// `locations` goes into a server of TLS; `listen` follows the word `ssl`.
  package init(
    _ locations: String, listen: String = "", certificate: String = "s", port: Int? = nil,
    folder: URL? = nil
  ) throws {
    isOwner = folder == nil
    let place =
      folder
      ?? FileManager.default.temporaryDirectory.appending(
        path: "ferry-nginx-\(UUID().uuidString)")
    self.folder = place
    if folder == nil {
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      try Self.makeCertificates(place)
    }
    // Another port is taken where somebody else was faster.
    for attempt in 0..<5 {
      guard let chosen = port ?? Loopback.freePort() else {
        throw Trouble(description: "no port is free")
      }
      let text = """
        \(geteuid() == 0 ? "user root;" : "")
        daemon off; master_process off;
        pid pid; error_log error.log;
        events { worker_connections 64; }
        http {
          log_format first '$request';
          access_log access.log first;
          client_max_body_size 2g;
          client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
          uwsgi_temp_path uwsgi; scgi_temp_path scgi;
          server {
            listen 127.0.0.1:\(chosen) ssl \(listen);
            ssl_certificate \(certificate).pem; ssl_certificate_key \(certificate).key;
            ssl_client_certificate ca.pem;
            \(locations)
          }
        }
        """
      try text.write(to: place.appending(path: "nginx.conf"), atomically: true, encoding: .utf8)
      let places: [String] = ["/usr/sbin/nginx", "/usr/bin/nginx"]
      let program = places.first(where: { access($0, X_OK) == 0 })
      guard let program else {
        throw Trouble(description: "nginx is missing: apt-get install nginx-light")
      }
      let next = attempt == 0 ? process : Process()
      next.executableURL = URL(filePath: program)
      next.arguments = ["-p", place.path, "-e", "error.log", "-c", "nginx.conf"]
      next.standardError = FileHandle.nullDevice
      let mark = place.appending(path: "pid")
      try? FileManager.default.removeItem(at: mark)
      try next.run()
      if Self.listens(mark, next) {
        running = next
        self.port = chosen
        return
      }
      Self.end(next)
      if port != nil { break }
    }
    throw Trouble(description: "nginx does not listen")
  }

  private var running: Process?

  deinit {
    stop()
    if isOwner { try? FileManager.default.removeItem(at: folder) }
  }

  package func stop() {
    if let running { Self.end(running) }
    running = nil
  }

  private static func end(_ process: Process) {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
  }

  package static func shell(_ script: String, in folder: URL) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-ec", script]
    process.currentDirectoryURL = folder
    process.standardError = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Trouble(description: "failed: \(script)") }
  }

  private static func makeCertificates(_ folder: URL) throws {
    let script = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../Fixtures/certificates.sh").standardized.path
    try shell(
      """
      sh '\(script)' s=/O=Company/CN=service other=/CN=other client=/CN=alice
      openssl pkcs12 -export -in client.pem -inkey client.key -out client.p12 -passout pass:secret
      """, in: folder)
  }

  /// Whether it has the port: something that answers there may be another server, and nginx writes
  /// its process id when it listens.
  private static func listens(_ mark: URL, _ process: Process) -> Bool {
    let patience = Patience()
    while process.isRunning, patience.lasts() {
      if let written = try? Data(contentsOf: mark), !written.isEmpty { return true }
    }
    return false
  }
}
