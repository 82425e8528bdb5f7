import Foundation
import Synchronization

/// Kills processes by `SIGKILL` at times that were decided before, from a thread of its own.
final class Reaper: Sendable {
  struct Strike: Sendable {
    let victim: String
    let milliseconds: Int
  }

  private enum Victim {
    case process(Int32)
    /// A file: who reads `kill` from it kills the victim, and starts it again.
    case line(String)
  }

  private struct State {
    var processes: [String: Victim] = [:]
    var done: [Strike] = []
    var isFinished = true
  }

  /// A victim that is down when its time comes is waited for so long.
  private static let patienceMilliseconds = 400

  private let state = Mutex(State())

  /// A process that may be killed from now on, instead of the one before it.
  func watch(_ name: String, _ process: Int32) {
    state.withLock { $0.processes[name] = .process(process) }
  }

  /// What may be killed from now on, again and again, by a line in a file.
  func watch(_ name: String, line: String) {
    state.withLock { $0.processes[name] = .line(line) }
  }

  /// Nobody is killed any more.
  func forget() { state.withLock { $0.processes = [:] } }

  /// Begins to count; the strikes come in the order of their times.
  func arm(_ strikes: [Strike]) {
    state.withLock { state in
      state.done = []
      state.isFinished = strikes.isEmpty
    }
    let begin = ContinuousClock.now
    let ordered = strikes.sorted { $0.milliseconds < $1.milliseconds }
    Thread.detachNewThread { [self] in
      for strike in ordered {
        Reaper.wait(until: begin + .milliseconds(strike.milliseconds))
        perform(strike)
      }
      state.withLock { $0.isFinished = true }
    }
  }

  var isFinished: Bool { state.withLock { $0.isFinished } }

  /// The strikes that met somebody.
  var done: [Strike] { state.withLock { $0.done } }

  private func perform(_ strike: Strike) {
    let limit = ContinuousClock.now + .milliseconds(Reaper.patienceMilliseconds)
    while ContinuousClock.now < limit {
      let isDone = state.withLock { state in
        // Each process is killed once: afterwards its id may belong to somebody else.
        guard let process = state.processes.removeValue(forKey: strike.victim) else {
          return false
        }
        switch process {
        case .process(let process): kill(process, SIGKILL)
        case .line(let path):
          guard let file = FileHandle(forWritingAtPath: path) else { return false }
          file.write(Data("kill\n".utf8))
          state.processes[strike.victim] = .line(path)
        }
        state.done.append(strike)
        return true
      }
      if isDone { return }
      usleep(5_000)
    }
  }

  private static func wait(until time: ContinuousClock.Instant) {
    while ContinuousClock.now < time { usleep(1_000) }
  }
}
