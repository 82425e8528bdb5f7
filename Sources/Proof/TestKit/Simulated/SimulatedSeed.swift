import Foundation
import Synchronization

/// One run of a simulated test: its seed, and what has happened in it so far.
///
/// `.simulated(seeds:)` of FerryTesting and `SimulatedSeeds` make it; `simulate` finds it.
public final class SimulatedSeed: Sendable {
  /// The seed of the test that runs now; nil outside of a simulated test.
  @TaskLocal public static var current: SimulatedSeed?

  /// The number itself.
  public let number: Int
  /// Whether each step is printed as it happens: with `FERRY_SEED`, so that a test that hangs or ends
  /// the program shows its steps, too.
  private let isPrinted: Bool

  private struct State {
    var steps: [String] = []
    var failures: [String] = []
  }

  private let state = Mutex(State())

  init(_ number: Int, isPrinted: Bool) {
    self.number = number
    self.isPrinted = isPrinted
  }

  /// What has happened, in order.
  public var steps: [String] { state.withLock { $0.steps } }
  /// Why the seed has failed; empty while it has not.
  public var failures: [String] { state.withLock { $0.failures } }

  /// The seed has failed; its run ends after the step under way.
  public func fail(_ reason: String) { state.withLock { $0.failures.append(reason) } }

  func note(step: String) {
    let number = state.withLock { state in
      state.steps.append(step)
      return state.steps.count
    }
    // Step by step, for a run that hangs or ends the process.
    if isPrinted { FileHandle.standardError.write(Data("\(number). \(step)\n".utf8)) }
  }

  /// Lines for whoever reads the failure.
  fileprivate func report(test: String) -> String {
    let numbered = steps.enumerated().map { "  \($0.offset + 1). \($0.element)" }
    return """
      \(test) fails with seed \(number):
        \(failures.joined(separator: "\n  "))
      The steps:
      \(numbered.joined(separator: "\n"))
      This seed alone: FERRY_SEED=\(number) swift test --filter \(test)
      """
  }
}

/// The seeds of a simulated test, run one after the other until one fails.
///
/// With Swift Testing use `.simulated(seeds:)` of FerryTesting. This is for other test libraries:
/// ```swift
/// let report = await SimulatedSeeds(1...50, of: "testVisits").firstFailure { try await visits() }
/// XCTAssertNil(report)
/// ```
public struct SimulatedSeeds: Sendable {
  let seeds: [Int]
  /// The test's name, as `swift test --filter` takes it.
  public let test: String
  private let isAlone: Bool

  /// The environment variable `FERRY_SEED` runs one seed instead of these.
  public init(_ seeds: some Sequence<Int>, of test: String) {
    self.init(seeds, of: test, only: ProcessInfo.processInfo.environment["FERRY_SEED"])
  }

  init(_ seeds: some Sequence<Int>, of test: String, only seed: String?) {
    self.test = test
    let only = seed.flatMap { Int($0) }
    precondition(seed == nil || only != nil, "FERRY_SEED is \(seed ?? ""), and must be a number")
    isAlone = only != nil
    self.seeds = only.map { [$0] } ?? Array(seeds)
  }

  /// Runs `body` once with each seed. Returns the report on the first seed that fails, with its
  /// steps and the line that runs it alone; nil if none fails.
  public func firstFailure(
    _ body: @Sendable (SimulatedSeed) async throws -> Void
  ) async -> String? {
    for number in seeds {
      let seed = SimulatedSeed(number, isPrinted: isAlone)
      await SimulatedSeed.$current.withValue(seed) {
        do { try await body(seed) } catch {
          if seed.failures.isEmpty {
            seed.fail(error is SimulatedFailure ? "\(error)" : "it throws: \(error)")
          }
        }
      }
      if !seed.failures.isEmpty { return seed.report(test: test) }
    }
    return nil
  }
}

/// Why a simulated test has failed.
public struct SimulatedFailure: Error, Sendable, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}
