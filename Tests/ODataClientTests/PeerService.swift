import FerryTestSupport
import Foundation
import Glibc
import Testing

/// pyslet's OData service in a process of its own, behind a real nginx that speaks TLS under an
/// authority of this test alone and packs answers with gzip.
final class PeerService {
  struct Trouble: Error, CustomStringConvertible { let description: String }

  let root: String
  /// The authority's certificate, in PEM form.
  let authority: String
  private let folder: URL
  private let pyslet: Process
  private let nginx: Process

  /// Another port is tried where somebody else took it between the choice and the start.
  static func start() throws -> PeerService {
    var last: any Error = Trouble(description: "no port was tried")
    for _ in 0..<5 {
      do { return try PeerService() } catch { last = error }
    }
    throw last
  }

  private init() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "ferry-odata-\(UUID().uuidString)")
    self.folder = folder
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Self.makeCertificates(folder)
    authority = folder.appending(path: "ca.pem").path
    guard let port = Loopback.freePort() else {
      throw Trouble(description: "no port is free")
    }
    root = "https://127.0.0.1:\(port)/"
    let (pyslet, upstream) = try Self.startPyslet(root)
    self.pyslet = pyslet
    nginx = Process()
    do {
      try Self.configure(folder, port, upstream)
      let places: [String] = ["/usr/sbin/nginx", "/usr/bin/nginx"]
      let program = places.first(where: { access($0, X_OK) == 0 })
      guard let program else {
        throw Trouble(
          description: "nginx is missing: apt-get install --no-install-recommends nginx-light")
      }
      nginx.executableURL = URL(filePath: program)
      nginx.arguments = [
        "-p", folder.path, "-e", "\(folder.path)/error.log", "-c", "\(folder.path)/nginx.conf",
      ]
      nginx.standardError = FileHandle.nullDevice
      try nginx.run()
      try Self.awaitListener(port, nginx)
    } catch {
      Self.end(pyslet)
      try? FileManager.default.removeItem(at: folder)
      throw error
    }
  }

  deinit {
    for process in [nginx, pyslet] where process.isRunning {
      Self.end(process)
    }
    try? FileManager.default.removeItem(at: folder)
  }

  /// A child may inherit a mask that holds SIGTERM back, so only SIGKILL is certain.
  private static func end(_ process: Process) {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  private static let checkout = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private static func startPyslet(_ root: String) throws -> (Process, Int) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "python3", checkout.appending(path: "Scripts/lib/odata-server.py").path, root,
    ]
    // Scripts/test puts the packages beside the build.
    process.environment = ProcessInfo.processInfo.environment.merging([
      "PYTHONPATH": checkout.appending(path: ".build/peers").path
    ]) { _, ours in ours }
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    var line: [UInt8] = []
    while line.last != 10, let byte = try output.fileHandleForReading.read(upToCount: 1),
      let byte = byte.first
    {
      line.append(byte)
    }
    guard let port = Int(String(decoding: line.dropLast(), as: UTF8.self)) else {
      process.waitUntilExit()
      throw Trouble(
        description: "pyslet does not run: python3 -m pip install --target .build/peers "
          + "pyslet==0.7.20170805")
    }
    return (process, port)
  }

  private static func makeCertificates(_ folder: URL) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = [
      checkout.appending(path: "Tests/Fixtures/certificates.sh").path, "s=/CN=service",
    ]
    process.currentDirectoryURL = folder
    process.standardError = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Trouble(description: "openssl makes no certificate: apt-get install openssl")
    }
  }

  private static func configure(_ folder: URL, _ port: Int, _ upstream: Int) throws {
    let path = folder.path
    // A worker of root's would otherwise be nobody, who cannot enter the folder.
    let text = """
      \(geteuid() == 0 ? "user root;" : "")
      daemon off; master_process off;
      worker_processes 1;
      pid \(path)/pid;
      error_log \(path)/error.log;
      events { worker_connections 64; }
      http {
        access_log off;
        gzip on; gzip_min_length 1; gzip_proxied any; gzip_types *;
        client_body_temp_path \(path)/body; proxy_temp_path \(path)/proxy;
        fastcgi_temp_path \(path)/fastcgi; uwsgi_temp_path \(path)/uwsgi;
        scgi_temp_path \(path)/scgi;
        server {
          listen 127.0.0.1:\(port) ssl;
          ssl_certificate \(path)/s.pem; ssl_certificate_key \(path)/s.key;
          location / { proxy_pass http://127.0.0.1:\(upstream); }
        }
      }
      """
    try text.write(to: folder.appending(path: "nginx.conf"), atomically: true, encoding: .utf8)
  }

  /// Waits until nginx listens, or has ended.
  private static func awaitListener(_ port: Int, _ process: Process) throws {
    let patience = Patience()
    while patience.lasts() {
      guard process.isRunning else { throw Trouble(description: "nginx ended at its start") }
      let probe = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
      defer { close(probe) }
      if Loopback.call(connect, probe, Loopback.address(port)) { return }
    }
    throw Trouble(description: "nginx does not listen")
  }
}
