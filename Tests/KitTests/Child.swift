import Foundation
import Synchronization
import Testing

/// A program as a process of its own; its input, and the lines that it has written so far.
///
/// Killed when the test lets go of it, at the latest.
final class Child {
  private let process = Process()
  private let input = Pipe()
  private let lines = Lines()
  private var hasStarted = false

  /// The names of the program: that of its product, if any, and that of its target; or its path.
  init(_ names: [String], _ arguments: [String]) throws {
    let path = names.first { $0.hasPrefix("/") }
    process.executableURL = URL(filePath: try path ?? Child.path(names))
    process.arguments = arguments
    process.standardInput = input
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    hasStarted = true
    let lines = lines
    Thread.detachNewThread {
      while true {
        let data = output.fileHandleForReading.availableData
        if data.isEmpty { break }
        lines.add(data)
      }
      lines.end()
    }
  }

  deinit { kill() }

  /// Where the programs are: beside the test bundle, or in the build's folder.
  private static func path(_ names: [String]) throws -> String {
    let beside = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let places = [beside, root.appending(path: ".build/debug")].flatMap { folder in
      names.map { folder.appending(path: $0).path }
    }
    return try #require(
      places.first { FileManager.default.isExecutableFile(atPath: $0) },
      "\(names) is not built; run swift build --build-tests")
  }

  func send(_ line: String) {
    input.fileHandleForWriting.write(Data((line + "\n").utf8))
  }

  /// The lines up to one that `isLast`; nil when the process ends before.
  func lines(until isLast: (String) -> Bool) -> [String]? { lines.take(until: isLast) }

  /// Ends the process at once, without a word to it, and gives all that it has written.
  @discardableResult
  func kill() -> [String] {
    guard hasStarted else { return [] }
    if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
    return lines.rest()
  }
}

/// Lines that one thread adds and another takes.
private final class Lines: @unchecked Sendable {
  // Everything mutable is touched only while the condition is locked.
  private let condition = NSCondition()
  private var bytes: [UInt8] = []
  private var lines: [String] = []
  private var hasEnded = false

  func add(_ data: Data) {
    condition.withLock {
      bytes += data
      while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
        lines.append(String(decoding: bytes[..<end], as: UTF8.self))
        bytes.removeFirst(end + 1)
      }
      condition.broadcast()
    }
  }

  func end() {
    condition.withLock {
      hasEnded = true
      condition.broadcast()
    }
  }

  func take(until isLast: (String) -> Bool) -> [String]? {
    condition.withLock {
      let limit = Patience.end
      while true {
        if let index = lines.firstIndex(where: isLast) {
          defer { lines.removeFirst(index + 1) }
          return Array(lines[...index])
        }
        if hasEnded || !condition.wait(until: limit) { return nil }
      }
    }
  }

  func rest() -> [String] {
    condition.withLock {
      let limit = Patience.end
      while !hasEnded { if !condition.wait(until: limit) { break } }
      defer { lines = [] }
      return lines
    }
  }
}
