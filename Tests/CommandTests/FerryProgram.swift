import Foundation

/// The program `ferry` itself, beside the tests.
enum FerryProgram {
  static var url: URL {
    let beside = Bundle.main.executableURL?.deletingLastPathComponent().appending(path: "ferry")
    if let beside, FileManager.default.fileExists(atPath: beside.path) { return beside }
    return URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: ".build/debug/ferry")
  }

  /// Runs it to its end; what it said on either output.
  static func run(
    _ words: [String], _ environment: [String: String] = [:]
  ) throws -> (code: Int32, said: String) {
    let process = Process()
    process.executableURL = url
    process.arguments = words
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let said = Pipe()
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = said
    process.standardError = said
    try process.run()
    let text = String(decoding: said.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
  }
}
