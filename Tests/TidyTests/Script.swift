import Foundation
import Testing

/// Runs a script of `Scripts/` that is Python. Returns the lines of its error output: what it found.
func script(_ name: String, _ arguments: String...) throws -> [String] {
  let process = Process()
  process.executableURL = URL(filePath: "/usr/bin/env")
  process.arguments =
    ["python3", "-B", House.root.appending(path: "Scripts/\(name)").path] + arguments
  let errors = Pipe()
  process.standardError = errors
  try process.run()
  let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  process.waitUntilExit()
  let lines = text.split(separator: "\n").map(String.init)
  #expect((process.terminationStatus == 0) == lines.isEmpty, "\(process.terminationStatus)")
  return lines
}

/// A folder with a few files of a checkout. It is removed with this object.
final class SmallCheckout {
  let root = FileManager.default.temporaryDirectory
    .appending(path: "ferry-checkout-\(UUID().uuidString)")

  deinit { try? FileManager.default.removeItem(at: root) }

  func write(_ text: String, to path: String) throws {
    let file = root.appending(path: path)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  func read(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }
}
