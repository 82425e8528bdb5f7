import Foundation

/// A program as a process of its own, spoken to by lines; every wait for it has an end.
package final class ChildProcess {
  /// On a machine however slow and busy: only a failure lasts so long.
  package static let patience: Duration = .seconds(600)

  package let name: String
  let log: String
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var buffer: [UInt8] = []
  private var scanned = 0
  private var isAtEnd = false

  /// `log` takes what the program writes on standard error.
  init(_ name: String, program: String, _ arguments: [String], log: String) throws {
    self.name = name
    self.log = log
    guard FileManager.default.createFile(atPath: log, contents: nil),
      let errors = FileHandle(forWritingAtPath: log)
    else { throw StageFailure("the file \(log) cannot be written") }
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.standardInput = input
    process.standardOutput = output
    process.standardError = errors
    do { try process.run() } catch {
      throw StageFailure("\(program) cannot be run: \(error)")
    }
    try errors.close()
    // Only the child may hold the other end: its end is then seen here.
    try? output.fileHandleForWriting.close()
    try? input.fileHandleForReading.close()
  }

  package var processID: Int32 { process.processIdentifier }
  var isRunning: Bool { process.isRunning }
  var exitCode: Int32 { process.terminationStatus }

  /// What it wrote on standard error until now.
  var complaints: String {
    String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self)
  }

  func send(_ line: String) throws {
    do { try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8)) } catch {
      throw StageFailure("\(name) takes no more commands\(lastWords)")
    }
  }

  /// The next line; `purpose` says what is waited for, nil past the deadline when there is none.
  func line(until deadline: ContinuousClock.Instant, _ purpose: String?) throws -> [UInt8]? {
    while true {
      if let end = buffer[scanned...].firstIndex(of: 0x0A) {
        let line = Array(buffer[..<end])
        buffer.removeSubrange(...end)
        scanned = 0
        return line
      }
      scanned = buffer.count
      if isAtEnd {
        throw StageFailure("\(name) ended\(purpose.map { " while \($0)" } ?? "")\(lastWords)")
      }
      let left = ContinuousClock.now.duration(to: deadline)
      let milliseconds = max(0, left.components.seconds * 1_000 + left.milliseconds)
      guard try readSome(waiting: Int32(clamping: milliseconds)) else {
        guard let purpose else { return nil }
        throw StageFailure("\(name) was too slow: \(purpose)\(lastWords)")
      }
    }
  }

  /// False when nothing came in this time.
  private func readSome(waiting milliseconds: Int32) throws -> Bool {
    let descriptor = output.fileHandleForReading.fileDescriptor
    var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&ready, 1, milliseconds) > 0 else { return false }
    var chunk = [UInt8](repeating: 0, count: 65_536)
    let count = read(descriptor, &chunk, chunk.count)
    if count > 0 { buffer += chunk[..<count] } else { isAtEnd = true }
    return true
  }

  /// All that it prints, when it has ended by itself.
  func outputAtEnd() throws -> String {
    try? input.fileHandleForWriting.close()
    let deadline = ContinuousClock.now + ChildProcess.patience
    while !isAtEnd {
      let left = ContinuousClock.now.duration(to: deadline)
      guard left > .zero else {
        throw StageFailure("\(name) did not end in \(ChildProcess.patience)\(lastWords)")
      }
      _ = try readSome(waiting: Int32(clamping: left.components.seconds * 1_000 + 1))
    }
    try waitForEnd(until: deadline)
    return String(decoding: buffer, as: UTF8.self)
  }

  /// Asks it by SIGTERM to end in good order and waits until it has.
  func terminate() throws {
    guard isRunning else { return }
    kill(processID, SIGTERM)
    try waitForEnd(until: .now + ChildProcess.patience)
  }

  /// Ends it in any case.
  func finish() {
    guard isRunning else { return }
    try? input.fileHandleForWriting.close()
    kill(processID, SIGTERM)
    do { try waitForEnd(until: .now + .seconds(30)) } catch { kill(processID, SIGKILL) }
  }

  private func waitForEnd(until deadline: ContinuousClock.Instant) throws {
    while isRunning {
      guard ContinuousClock.now < deadline else { throw StageFailure("\(name) did not end") }
      usleep(2_000)
    }
  }

  private var lastWords: String {
    let text = complaints.split(separator: "\n").suffix(3).joined(separator: "\n  ")
    return text.isEmpty ? "" : ". It wrote:\n  \(text)"
  }
}

extension Duration {
  fileprivate var milliseconds: Int64 { components.attoseconds / 1_000_000_000_000_000 }
}
