import FerryArguments
import FerrySimulation
import Foundation
import Synchronization

/// Where control-C is to be heard; read by the signal handler, so nothing but an atomic.
private let heard = Atomic<CInt>(-1)

/// What the seeds of a run came to so far, and the end of the run: by itself or by control-C.
final class SimulationSoFar: Sendable {
  private struct State {
    var summary = SimulationSummary()
    var isEnded = false
  }

  private let state: Mutex<State>
  private let show: @Sendable (SimulationSummary) -> Void

  /// `show` prints the summary, once.
  init(showsReach: Bool, show: @escaping @Sendable (SimulationSummary) -> Void) {
    self.show = show
    var began = State()
    began.summary.showsReach = showsReach
    state = Mutex(began)
  }

  /// Adds a seed that has ended. `printing` is not interrupted by the summary.
  func add(_ result: SimulationResult, printing: () -> Void) -> SimulationSummary {
    state.withLock { state in
      state.summary.add(result)
      printing()
      // Whoever reads a pipe sees each seed at once.
      fflush(nil)
      return state.summary
    }
  }

  /// Prints the summary of a run that has ended by itself.
  func end(wall: Duration?) -> SimulationSummary {
    state.withLock { state in
      state.isEnded = true
      state.summary.wall = wall
      show(state.summary)
      return state.summary
    }
  }

  /// From now on SIGINT prints the summary of the seeds so far and ends the process with 130. A second
  /// one ends it at once, also while nobody reads what is printed.
  ///
  /// Runs go on meanwhile on other threads: nothing is taken from under them.
  func printOnInterrupt() {
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else { return }
    heard.store(ends[1], ordering: .sequentiallyConsistent)
    let end = ends[0]
    let thread = Thread { [self] in
      var byte: UInt8 = 0
      while read(end, &byte, 1) < 0, errno == EINTR {}
      state.withLock { state in
        if !state.isEnded {
          state.summary.isInterrupted = true
          show(state.summary)
        }
        fflush(nil)
        _exit(ExitCode.interrupted.rawValue)
      }
    }
    thread.name = "ferry-interrupt"
    thread.start()
    var action = sigaction()
    action.sa_flags = SA_RESTART | CInt(truncatingIfNeeded: SA_RESETHAND)
    action.__sigaction_handler.sa_handler = { _ in
      // Only what POSIX allows in a handler: one write, and errno as it was.
      let kept = errno
      var one: UInt8 = 1
      _ = write(heard.load(ordering: .relaxed), &one, 1)
      errno = kept
    }
    sigaction(SIGINT, &action, nil)
  }
}
