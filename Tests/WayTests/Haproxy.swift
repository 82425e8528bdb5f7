import FerryHTTPClient
import Foundation

/// haproxy before several servers: whoever answers /health gets requests, in turn.
final class Haproxy: Sendable {
  let port: Int
  private let process: ChildProcess
  private let watcher: ChildProcess
  private let place: Place

  private init(_ process: ChildProcess, _ port: Int, _ place: Place) throws {
    self.process = process
    self.port = port
    self.place = place
    watcher = try ChildProcess("/bin/sh", ["-c", "read line; kill -9 \(process.id)"])
  }

  deinit {
    watcher.kill()
    process.kill()
  }

  var address: String { "http://127.0.0.1:\(port)" }

  static func start(before ports: [Int]) async throws -> Haproxy {
    try await poll("haproxy has a port") { try await begin(before: ports) }
  }

  /// Nil where somebody else took the port.
  private static func begin(before ports: [Int]) async throws -> Haproxy? {
    let program = ["/usr/sbin/haproxy", "/usr/local/sbin/haproxy", "/opt/homebrew/bin/haproxy"]
    guard let haproxy = program.first(where: FileManager.default.isExecutableFile) else {
      throw WayFailure("haproxy is not installed: Scripts/install puts it there")
    }
    let place = try Place()
    let port = try Proxy.freePort()
    let servers = ports.enumerated().map { index, port in
      "  server node\(index) 127.0.0.1:\(port) check inter 200ms fall 1 rise 1"
    }.joined(separator: "\n")
    let file = try place.write(
      """
      global
        maxconn 1000
      defaults
        mode http
        timeout connect 1s
        timeout client 90s
        timeout server 90s
        timeout check 2s
        option redispatch 1
        retries 3
        retry-on conn-failure
      frontend devices
        bind 127.0.0.1:\(port)
        default_backend nodes
      backend nodes
        balance roundrobin
        option httpchk GET /health
      \(servers)

      """, to: "haproxy.cfg")
    let process = try ChildProcess(haproxy, ["-db", "-f", file])
    let made = try Haproxy(process, port, place)
    return try await poll("haproxy answers") { () -> Haproxy?? in
      guard process.isRunning else {
        _ = try await process.ended()
        guard process.errorText.contains("Address already in use") else {
          throw WayFailure("haproxy: \(process.errorText)")
        }
        return .some(nil)
      }
      guard let answer = try? await Wires.get("\(made.address)/health") else { return nil }
      return answer.status == 200 ? .some(made) : nil
    }
  }
}
