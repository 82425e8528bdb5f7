import Foundation

/// How long a test waits for what must come, on a machine however slow and busy: only a failure
/// lasts so long.
let patience: Duration = .seconds(600)

/// Asks until the answer is not nil; a test never waits longer than `limit`.
func poll<Answer>(
  _ what: String, within limit: Duration = patience, _ question: () async throws -> Answer?
) async throws -> Answer {
  let watch = Stopwatch()
  while true {
    if let answer = try await question() { return answer }
    guard watch.time < limit else {
      throw WayFailure("not within \(limit): \(what)")
    }
    try await Task.sleep(for: .milliseconds(3))
  }
}

/// Asks until it is true; gives the seconds that it took, for who reads the test's output.
@discardableResult
func until(
  _ what: String, _ question: () async throws -> Bool
) async throws -> Double {
  let watch = Stopwatch()
  _ = try await poll(what) { try await question() ? true : nil }
  return watch.seconds
}

/// A moment between two steps, whose length does not matter.
func pauseOfThread() { usleep(10_000) }

/// Figures that a reader of the test's output may want. Nothing is expected of them.
struct Stopwatch {
  private let start: ContinuousClock.Instant = .now

  var time: Duration { start.duration(to: .now) }
  var seconds: Double { time / .seconds(1) }
}
