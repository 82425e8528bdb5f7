import FerryJSON
import Foundation
import Glibc
import Synchronization
import Testing

extension Way {
  /// What commands for a running server send, and to whom.
  @Suite struct OperatorDoorTests {
    /// Takes connections on a port of this machine and keeps what comes, as a program of another user
    /// would do while ferryd is away.
    private final class Recorder: Sendable {
      let port: Int
      private let listener: Int32
      private let bytes = Mutex<[UInt8]>([])

      init() throws {
        let listener = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
          pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(listener, $0, length) == 0 && listen(listener, 16) == 0
              && getsockname(listener, $0, &length) == 0
          }
        }
        guard isBound else { throw WayFailure("no port") }
        self.listener = listener
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [weak self] in
          while true {
            let peer = accept(listener, nil, nil)
            guard peer >= 0 else { return }
            var piece = [UInt8](repeating: 0, count: 65_536)
            let count = recv(peer, &piece, piece.count, 0)
            self?.bytes.withLock { $0 += [1] + piece.prefix(max(0, count)) }
            let answer = "HTTP/1.1 503 x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            _ = send(peer, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
            close(peer)
          }
        }
      }

      deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
      }

      /// All that came, with one byte more for each connection.
      var received: [UInt8] { bytes.withLock { $0 } }
    }

    private func ferry(_ words: [String]) async throws -> (end: ChildProcess.End, text: String) {
      let process = try ChildProcess(try Programs.path("ferry"), words)
      let end = try await process.ended()
      return (end, process.lines.joined(separator: "\n") + process.errorText)
    }

    private static let commands = [
      ["status"], ["status", "--json"], ["device", "list"], ["device", "lock", "--device", "a"],
      ["deploy", "--list"], ["key", "rotate"], ["device", "activate", "--user", "ada"],
    ]

    @Test("No command sends the operator's key to whoever answers on a port")
    func stranger() async throws {
      let business = try await Business.flights(bookings: 20)
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
      let key = try String(contentsOfFile: "\(daemon.data)/operator.key", encoding: .utf8)
      try await daemon.stopNow()
      let recorder = try Recorder()
      for command in Self.commands {
        let before = recorder.received
        // Without TLS nothing is sent, wherever the address leads.
        for host in ["127.0.0.1", "localhost"] {
          let (end, text) = try await ferry(
            command + ["--data", daemon.data, "--server", "http://\(host):\(recorder.port)/"])
          #expect(end == .exit(2) && text.contains("no address of https"), "\(command) \(text)")
        }
        #expect(recorder.received == before, "\(command)")
        // With TLS nothing is sent before the server has shown a certificate that is trusted.
        let (end, text) = try await ferry(
          command + ["--data", daemon.data, "--server", "https://127.0.0.1:\(recorder.port)"])
        #expect(end == .exit(1), "\(command) \(text)")
        // The socket of a server that was killed answers nobody.
        let (ended, said) = try await ferry(command + ["--data", daemon.data])
        #expect(
          ended == .exit(1) && said.contains("no ferryd runs on the folder \(daemon.data)"),
          "\(command) \(said)")
      }
      let all = recorder.received
      #expect(!all.isEmpty)
      let sought = Array(key.utf8)
      #expect(sought.count == 32)
      #expect(
        !all.indices.contains { all[$0...].starts(with: sought) }, "the key was sent in clear")
    }

    @Test("Commands reach the server through its folder whatever its port, and need no key there")
    func socket() async throws {
      let business = try await Business.flights(bookings: 20)
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
      // Nothing but the folder opens the door.
      try FileManager.default.removeItem(atPath: "\(daemon.data)/operator.key")
      let (end, text) = try await ferry(
        ["status", "--json", "--data", daemon.data, "--users", business.users])
      #expect(end == .exit(0), "\(text)")
      #expect(try JSONNode.parse(Array(text.utf8))["status"]?.string == "ready")
      let (made, code) = try await ferry(
        ["device", "activate", "--user", "ada", "--data", daemon.data])
      #expect(made == .exit(0) && code.contains("for ada"), "\(code)")
      let (rotated, said) = try await ferry(["key", "rotate", "--data", daemon.data])
      #expect(rotated == .exit(0), "\(said)")
      let audit = try String(contentsOfFile: "\(daemon.data)/audit.jsonl", encoding: .utf8)
      let line = audit.split(separator: "\n").first { $0.contains("keyRotated") }
      #expect(line?.contains(#""address":"uid \#(geteuid())""#) == true, "\(line ?? "no line")")
      #expect(try await daemon.stopInOrder() == .exit(0))
      #expect(!FileManager.default.fileExists(atPath: "\(daemon.data)/operator.socket"))
    }

    @Test("A data folder that others may enter is no way in")
    func openFolder() async throws {
      let place = try Place()
      let data = place.file("data")
      try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: false)
      for mode in [0o755, 0o777, 0o750] as [mode_t] {
        #expect(chmod(data, mode) == 0)
        let (end, text) = try await ferry(["device", "list", "--data", data])
        #expect(end == .exit(1) && text.contains("others on this machine may enter"), "\(text)")
      }
    }
  }
}
