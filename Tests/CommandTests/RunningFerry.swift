import Foundation

/// The program itself, in a process of its own.
enum RunningFerry {
  /// What it was given on standard input it reads; what it says on both outputs comes back, or on
  /// standard output alone.
  static func run(
    _ words: [String], input: String = "", withErrors: Bool = true
  ) throws -> (code: Int32, said: String) {
    let process = Process()
    process.executableURL = Bundle.main.executableURL?.deletingLastPathComponent()
      .appending(path: "ferry")
    if !FileManager.default.fileExists(atPath: process.executableURL?.path ?? "") {
      process.executableURL = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(
          path: ".build/debug/ferry")
    }
    process.arguments = words
    let (written, said) = (Pipe(), Pipe())
    process.standardInput = written
    process.standardOutput = said
    process.standardError = withErrors ? said : FileHandle.nullDevice
    try process.run()
    try written.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try written.fileHandleForWriting.close()
    let text = String(decoding: said.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
  }
}
