import Foundation
import Glibc
import Synchronization

/// A process of its own, killed by its id when the test lets go of it.
final class ChildProcess: Sendable {
  /// How a process ended.
  enum End: Equatable {
    case exit(Int32)
    case signal(Int32)
  }

  let id: pid_t
  private let input: Int32
  private let out = Lines()
  private let errors = Lines()
  private let end = Mutex<End?>(nil)

  init(_ program: String, _ arguments: [String]) throws {
    let spawned = try ChildProcess.spawn(program, arguments)
    id = spawned.id
    input = spawned.input
    let (outLines, errorLines, id) = (out, errors, spawned.id)
    Thread.detachNewThread { outLines.read(spawned.output) }
    Thread.detachNewThread { errorLines.read(spawned.errors) }
    Thread.detachNewThread { [weak self] in
      // Waited for without being reaped, so that the id stays its own until `end` is set.
      var info = siginfo_t()
      while waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
      var status: Int32 = 0
      guard let self else {
        waitpid(id, &status, 0)
        return
      }
      self.end.withLock { end in
        waitpid(id, &status, 0)
        let signal = status & 0x7F
        end = signal == 0 ? .exit((status >> 8) & 0xFF) : .signal(signal)
      }
    }
  }

  private struct Spawned: Sendable {
    let id: pid_t
    let input: Int32
    let output: Int32
    let errors: Int32
  }

  /// One at a time: a pipe is not close-on-exec in the moment of its making.
  private static let spawning = Mutex<Void>(())

  private static func spawn(_ program: String, _ arguments: [String]) throws -> Spawned {
    try spawning.withLock { _ in try spawnAlone(program, arguments) }
  }

  private static func spawnAlone(_ program: String, _ arguments: [String]) throws -> Spawned {
    let (input, output, errors) = (try pipe(), try pipe(), try pipe())
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input.read, 0)
    posix_spawn_file_actions_adddup2(&actions, output.write, 1)
    posix_spawn_file_actions_adddup2(&actions, errors.write, 2)
    // The test process may ignore SIGPIPE or block signals; the child must not inherit that.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    var all = sigset_t()
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    var words = ([program] + arguments).map { strdup($0) }
    words.append(nil)
    defer { for word in words { free(word) } }
    var id: pid_t = 0
    let code = posix_spawn(&id, program, &actions, &attributes, words, environ)
    close(input.read)
    close(output.write)
    close(errors.write)
    guard code == 0 else {
      for descriptor in [input.write, output.read, errors.read] { close(descriptor) }
      throw WayFailure("\(program) cannot be started: \(String(cString: strerror(code)))")
    }
    return Spawned(id: id, input: input.write, output: output.read, errors: errors.read)
  }

  deinit {
    kill()
    close(input)
  }

  private static func pipe() throws -> (read: Int32, write: Int32) {
    var pair: [Int32] = [-1, -1]
    guard Glibc.pipe(&pair) == 0 else { throw WayFailure("no pipe") }
    for descriptor in pair { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    return (pair[0], pair[1])
  }

  /// Never reaches another process: the id is asked for under the lock that its end is set in.
  func send(_ signal: Int32) {
    end.withLock { end in
      if end == nil { _ = Glibc.kill(id, signal) }
    }
  }

  func kill() { send(SIGKILL) }

  /// Ends it at once and returns when it is gone.
  func killNow() async throws {
    kill()
    _ = try await ended()
  }

  var isRunning: Bool { end.withLock { $0 } == nil }

  /// Waits for its end, and until all that it said is read.
  func ended(within limit: Duration = patience) async throws -> End {
    try await poll("process \(id) ends", within: limit) {
      out.isWhole && errors.isWhole ? end.withLock { $0 } : nil
    }
  }

  func type(_ line: String) throws {
    let bytes = Array((line + "\n").utf8)
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { buffer -> Int in
        guard let start = buffer.baseAddress else { return -1 }
        return write(input, start + done, buffer.count - done)
      }
      guard count > 0 else { throw WayFailure("process \(id) takes no input") }
      done += count
    }
  }

  /// The lines of standard output, and of standard error, so far.
  var lines: [String] { out.all }
  var errorLines: [String] { errors.all }
  var errorText: String { errors.all.joined(separator: "\n") }

  /// Threads of the process now.
  var threadCount: Int {
    ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/task")) ?? []).count
  }
}

/// Lines as a thread reads them from a pipe.
final class Lines: Sendable {
  private let lines = Mutex<[String]>([])
  private let hasEnded = Atomic<Bool>(false)

  var all: [String] { lines.withLock { $0 } }
  /// Whether nothing more will come.
  var isWhole: Bool { hasEnded.load(ordering: .acquiring) }

  func read(_ descriptor: Int32) {
    defer {
      close(descriptor)
      hasEnded.store(true, ordering: .releasing)
    }
    var rest: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = Glibc.read(descriptor, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      rest += piece.prefix(count)
      while let end = rest.firstIndex(of: 0x0A) {
        let line = String(decoding: rest[..<end], as: UTF8.self)
        lines.withLock { $0.append(line) }
        rest.removeSubrange(...end)
      }
    }
    if !rest.isEmpty { lines.withLock { $0.append(String(decoding: rest, as: UTF8.self)) } }
  }
}
