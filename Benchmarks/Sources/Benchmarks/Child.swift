import Foundation
import Synchronization

/// A program that a measure starts. It ends with this process, however that ends.
final class Child: Sendable {
  let id: pid_t
  private let process: Process
  private let watcher: Process
  private let watched: Pipe
  private let input: FileHandle
  private let lines = Mutex<[String]>([])
  private let arrived = DispatchSemaphore(value: 0)

  /// `reads` the lines of standard error instead of those of standard output.
  init(_ program: String, _ arguments: [String], readsErrors: Bool = false) throws {
    guard FileManager.default.isExecutableFile(atPath: program) else {
      throw Trouble("\(program) is not there; Benchmarks/run builds it")
    }
    process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    let (pipe, words) = (Pipe(), Pipe())
    process.standardInput = words
    process.standardOutput = readsErrors ? FileHandle.nullDevice : pipe
    process.standardError = readsErrors ? pipe : FileHandle.nullDevice
    try process.start()
    id = process.processIdentifier
    input = words.fileHandleForWriting
    watcher = Process()
    watched = Pipe()
    watcher.executableURL = URL(filePath: "/bin/sh")
    watcher.arguments = ["-c", "read line; kill -9 \(id) 2> /dev/null"]
    watcher.standardInput = watched
    try watcher.run()
    let handle = pipe.fileHandleForReading
    Thread.detachNewThread { [weak self] in
      var rest: [UInt8] = []
      while case let piece = handle.availableData, !piece.isEmpty {
        rest += piece
        while let end = rest.firstIndex(of: 0x0A) {
          let line = String(decoding: rest[..<end], as: UTF8.self)
          rest.removeSubrange(...end)
          guard let self else { return }
          self.lines.withLock { $0.append(line) }
          self.arrived.signal()
        }
      }
    }
  }

  deinit { end() }

  /// Ends it at once, or in its own way.
  func end(orderly: Bool = false) {
    process.terminate()
    if orderly { process.waitUntilExit() } else { kill(id, SIGKILL) }
    watcher.terminate()
  }

  func type(_ line: String) throws { try input.write(contentsOf: Data((line + "\n").utf8)) }

  /// The next line that `isMeant`; what comes before it is dropped.
  func line(within limit: Double, _ isMeant: (String) -> Bool) throws -> String {
    let end = DispatchTime.now() + limit
    while true {
      let found = lines.withLock { lines -> String? in
        guard let place = lines.firstIndex(where: isMeant) else {
          lines = []
          return nil
        }
        let line = lines[place]
        lines.removeSubrange(...place)
        return line
      }
      if let found { return found }
      guard process.isRunning else { throw Trouble("the program \(id) ended") }
      guard arrived.wait(timeout: min(end, .now() + 1)) == .success || .now() < end else {
        throw Trouble("the program \(id) said nothing for \(limit) s")
      }
    }
  }

  /// What it said and nobody asked for, as far as it is kept.
  var lastLines: String { lines.withLock { $0.suffix(5).joined(separator: "\n") } }

  /// The most memory that it has had.
  var peakMegabytes: Double { status("VmHWM:") }
  var residentMegabytes: Double { status("VmRSS:") }

  /// Seconds of processor time so far.
  var processorSeconds: Double {
    guard let text = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
      let end = text.lastIndex(of: ")")
    else { return 0 }
    let words = text[end...].split(separator: " ")
    return ((Double(words[12]) ?? 0) + (Double(words[13]) ?? 0))
      / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  private func status(_ name: String) -> Double {
    let text = (try? String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
    let kilobytes = line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
    return (kilobytes.flatMap { Double($0) } ?? 0) / 1_024
  }
}

extension Process {
  /// Runs it with no signal blocked. A thread of Swift's pool blocks signals, and a child takes that
  /// over: pgbench would never end by SIGALRM, nor ferryd by SIGTERM.
  func start() throws {
    var (none, own) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &own)
    defer { pthread_sigmask(SIG_SETMASK, &own, nil) }
    try run()
  }
}
