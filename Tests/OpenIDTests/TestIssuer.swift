import FerryHTTPClient
import FerryOpenID
import FerryWorld
import Foundation
import Synchronization

/// `issuer.py` as a process of its own: a company's login over TLS, with real keys.
final class TestIssuer: Sendable {
  let address: String
  /// Trusts the issuer's certificate, and nobody else's.
  let transport: any Transport
  private let folder: URL
  private let lines: Mutex<Lines>

  private struct Lines {
    let process: Process
    let input: FileHandle
    let output: FileHandle
    var rest = Data()

    mutating func ask(_ command: String) throws -> String {
      try input.write(contentsOf: Data((command + "\n").utf8))
      while true {
        if let end = rest.firstIndex(of: 10) {
          let line = rest[..<end]
          rest = Data(rest[(end + 1)...])
          let node = try JSONSerialization.jsonObject(with: line) as? [String: Any]
          return node?["answer"] as? String ?? ""
        }
        let more = output.availableData
        guard !more.isEmpty else { throw Trouble("the issuer ended") }
        rest += more
      }
    }
  }

  struct Trouble: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(
      path: "ferry-issuer-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Fixtures/issuer.py").path
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    // It ends with its standard input, so also where this process is killed.
    process.arguments = ["python3", "-B", script, folder.path]
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    var lines = Lines(
      process: process, input: input.fileHandleForWriting, output: output.fileHandleForReading)
    address = try lines.ask(#"["address"]"#)
    self.lines = Mutex(lines)
    transport = SystemTransport.make(
      TransportOptions(trust: .file(folder.appending(path: "issuer-ca.pem").path)))
  }

  deinit {
    stop()
    try? FileManager.default.removeItem(at: folder)
  }

  @discardableResult
  func ask(_ command: String) throws -> String { try lines.withLock { try $0.ask(command) } }

  /// The grants that were asked for, in their order.
  func grants() throws -> [String] {
    try ask(#"["grants"]"#).split(separator: " ").map(String.init)
  }

  /// Nobody listens there any more. Nothing waits for the process: the system ends it.
  func stop() {
    lines.withLock { lines in
      try? lines.input.close()
      kill(lines.process.processIdentifier, SIGKILL)
    }
  }
}

/// Follows the page's redirect as a browser does whose user is logged in already.
final class TestBrowser: LoginBrowser {
  static let address = "com.example.sales:/login"
  private let transport: any Transport
  private let shown = Mutex<[String]>([])
  private let change: @Sendable (String) -> String

  /// `change` may forge the answer.
  init(
    _ transport: any Transport, _ change: @escaping @Sendable (String) -> String = { $0 }
  ) {
    self.transport = transport
    self.change = change
  }

  var addresses: [String] { shown.withLock { $0 } }

  func redirect() async throws -> String { TestBrowser.address }

  func show(_ address: String, until redirect: String) async throws -> String {
    shown.withLock { $0.append(address) }
    let answer = try await transport.send(TransportRequest(url: address))
    answer.body.cancel()
    return change(answer.headers["Location"] ?? "")
  }
}

/// A clock that the test moves.
final class MovedClock: WorldClock {
  private let moved = Mutex<Duration>(.zero)
  private let system = SystemClock()

  func move(by duration: Duration) { moved.withLock { $0 += duration } }

  var now: Timestamp { system.now.advanced(by: moved.withLock { $0 }) }
  var uptime: Duration { system.uptime + moved.withLock { $0 } }
}

/// Secrets in memory, which can fail.
final class TestSecrets: SecretStore {
  struct Locked: Error {}
  struct State {
    var values: [String: [UInt8]] = [:]
    var isReadable = true
    var isWritable = true
  }
  let state = Mutex(State())

  func secret(_ name: String) throws -> [UInt8]? {
    try state.withLock { state in
      guard state.isReadable else { throw Locked() }
      return state.values[name]
    }
  }
  func setSecret(_ name: String, _ value: [UInt8]) throws {
    try state.withLock { state in
      guard state.isWritable else { throw Locked() }
      state.values[name] = value
    }
  }
  func addSecret(_ name: String, _ value: [UInt8]) throws -> [UInt8] { value }
  func removeSecret(_ name: String) throws { state.withLock { $0.values[name] = nil } }
}
