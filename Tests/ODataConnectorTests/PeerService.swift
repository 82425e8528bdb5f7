import FerryHTTPClient
import FerryWorld
import Foundation
import Glibc
import Testing

/// A service that is not ours, in a process of its own. It ends with this object.
final class PeerService: Sendable {
  let address: String
  private let process: Int32

  /// `script`: one of Scripts/lib.
  init(_ script: String, _ arguments: String...) throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
      ["python3", "-W", "ignore", root.appending(path: "Scripts/lib/\(script)").path, "0"]
      + arguments
    var environment = ProcessInfo.processInfo.environment
    environment["PYTHONPATH"] = root.appending(path: ".build/peers").path
    process.environment = environment
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    self.process = process.processIdentifier
    var said: [UInt8] = []
    while said.last != UInt8(ascii: "\n") {
      let piece = output.fileHandleForReading.availableData
      try #require(!piece.isEmpty, "the service ended")
      said += piece
    }
    let line = String(decoding: said, as: UTF8.self)
    let port = try #require(line.split(whereSeparator: \.isWhitespace).last)
    address = "http://127.0.0.1:\(port)/"
  }

  deinit { kill(process, SIGKILL) }

  func get(_ path: String, method: String = "GET") async throws -> String {
    var request = TransportRequest(url: address + path)
    if method == "POST" { request.method = .post }
    if method == "DELETE" { request.method = .delete }
    let response = try await SystemTransport.make().send(request)
    return String(decoding: try await response.body.collect(), as: UTF8.self)
  }

  static func on<Value: Sendable>(
    _ thread: ThreadExecutor, _ body: @escaping @Sendable () -> Value
  ) async -> Value {
    await withCheckedContinuation { continuation in
      thread.perform { continuation.resume(returning: body()) }
    }
  }
}
